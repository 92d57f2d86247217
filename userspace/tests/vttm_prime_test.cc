// SPDX-License-Identifier: MIT
// Are buffers that vttm shares with other drivers the same memory on both sides, wherever they are? Runs in
// the guest.
#include "tests/vttm_device.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 size = 256 * KiB;

class vttm_prime : public testing::Test {
protected:
    void SetUp() override
    {
        if (vttm_node().empty())
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        vttm_file file;
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, 0};
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    }
    void TearDown() override
    {
        vttm_file file;
        if (file.fd() < 0)
            return;
        for (int i = 0; i < 200 && (file.info().vram_usage || file.info().gtt_usage); i++)
            usleep(10'000);
        EXPECT_EQ(file.info().vram_usage, 0u);
        EXPECT_EQ(file.info().gtt_usage, 0u);
        EXPECT_EQ(file.info().vram_pinned, 0u);
    }
};

int heap_buffer()
{
    int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
    dma_heap_allocation_data data{};
    data.len = size;
    data.fd_flags = O_RDWR | O_CLOEXEC;
    int ret = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data);
    close(heap);
    return ret ? -1 : static_cast<int>(data.fd);
}

u32 *map_fd(int fd, u64 offset = 0)
{
    void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    return p == MAP_FAILED ? nullptr : static_cast<u32 *>(p);
}

void fill(u32 *words, u32 seed)
{
    for (u64 i = 0; i < size / 4; i++)
        words[i] = seed * 2654435761u + static_cast<u32>(i);
}

u64 count_wrong(const u32 *words, u32 seed)
{
    u64 wrong = 0;
    for (u64 i = 0; i < size / 4; i++)
        wrong += words[i] != seed * 2654435761u + static_cast<u32>(i);
    return wrong;
}

TEST_F(vttm_prime, an_import_is_the_exporters_memory)
{
    vttm_file file;
    int fd = heap_buffer();
    ASSERT_GE(fd, 0);
    u32 *theirs = map_fd(fd);
    ASSERT_NE(theirs, nullptr);
    fill(theirs, 3);
    u32 handle = 0;
    ASSERT_EQ(drmPrimeFDToHandle(file.fd(), fd, &handle), 0);
    close(fd);
    EXPECT_EQ(file.domain_of(handle), DRM_VTTM_DOMAIN_SYSTEM) << "has no mapping yet";
    u64 seqno = 0;
    ASSERT_EQ(file.submit({handle}, &seqno), 0);
    ASSERT_EQ(file.wait(seqno), 0);
    EXPECT_EQ(file.domain_of(handle), DRM_VTTM_DOMAIN_GTT);
    auto *ours = static_cast<u32 *>(file.map(handle, size));
    ASSERT_NE(ours, MAP_FAILED);
    EXPECT_EQ(count_wrong(ours, 3), 0u);
    fill(ours, 4);
    EXPECT_EQ(count_wrong(theirs, 4), 0u);
    munmap(ours, size);
    munmap(theirs, size);
}

TEST_F(vttm_prime, an_import_has_no_place_in_video_memory)
{
    vttm_file file;
    int fd = heap_buffer();
    u32 handle = 0;
    ASSERT_EQ(drmPrimeFDToHandle(file.fd(), fd, &handle), 0);
    close(fd);
    EXPECT_EQ(file.pin(handle), -EINVAL);
    drm_vttm_gem_set_priority args{handle, 1};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), -EINVAL);
    ASSERT_EQ(file.submit({handle}), 0);
    EXPECT_EQ(file.info().vram_usage, 0u);
    // Imported again it is the same BO, exported again the same dma-buf.
    int again = -1;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), handle, DRM_CLOEXEC, &again), 0);
    u32 same = 0;
    ASSERT_EQ(drmPrimeFDToHandle(file.fd(), again, &same), 0);
    EXPECT_EQ(same, handle);
    close(again);
}

TEST_F(vttm_prime, a_bo_moves_to_gtt_for_another_device_and_home_again)
{
    vttm_file file, other(1);
    ASSERT_GE(other.fd(), 0) << "there is no second device";
    u32 handle = file.must_create(size, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM);
    auto *ours = static_cast<u32 *>(file.map(handle, size));
    ASSERT_NE(ours, MAP_FAILED);
    fill(ours, 7);
    ASSERT_EQ(file.domain_of(handle), DRM_VTTM_DOMAIN_VRAM);
    int fd = -1;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), handle, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
    u32 theirs = 0;
    ASSERT_EQ(drmPrimeFDToHandle(other.fd(), fd, &theirs), 0);
    close(fd);
    EXPECT_EQ(file.domain_of(handle), DRM_VTTM_DOMAIN_VRAM) << "neither export nor import move it";
    for (u32 round = 0; round < 5; round++) {
        ASSERT_EQ(other.submit({theirs}), 0);
        EXPECT_EQ(file.domain_of(handle), DRM_VTTM_DOMAIN_GTT);
        EXPECT_EQ(other.domain_of(theirs), DRM_VTTM_DOMAIN_GTT);
        auto *shared = static_cast<u32 *>(other.map(theirs, size));
        ASSERT_NE(shared, MAP_FAILED);
        EXPECT_EQ(count_wrong(shared, 7 + round), 0u) << "round " << round;
        fill(shared, 8 + round);
        munmap(shared, size);
        ASSERT_EQ(file.submit({handle}), 0);
        EXPECT_EQ(file.domain_of(handle), DRM_VTTM_DOMAIN_VRAM) << "allowed there only";
        EXPECT_EQ(other.domain_of(theirs), DRM_VTTM_DOMAIN_SYSTEM) << "the importer was told";
        EXPECT_EQ(count_wrong(ours, 8 + round), 0u);
    }
    munmap(ours, size);
}

TEST_F(vttm_prime, an_importer_is_told_also_when_the_exporter_has_no_handle)
{
    vttm_file file, other(1);
    ASSERT_GE(other.fd(), 0) << "there is no second device";
    u32 handle = file.must_create(size, DRM_VTTM_DOMAIN_GTT);
    auto *ours = static_cast<u32 *>(file.map(handle, size));
    fill(ours, 5);
    munmap(ours, size);
    int fd = -1;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), handle, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
    u32 theirs = 0;
    ASSERT_EQ(drmPrimeFDToHandle(other.fd(), fd, &theirs), 0);
    close(fd);
    ASSERT_EQ(other.submit({theirs}), 0);
    ASSERT_EQ(file.close_handle(handle), 0);
    // GTT holds less than this: what is idle there goes to SYSTEM.
    std::vector<u32> more;
    for (int i = 0; i < 63; i++)
        more.push_back(file.must_create(1 * MiB, DRM_VTTM_DOMAIN_GTT));
    more.push_back(file.must_create(1 * MiB - 4096, DRM_VTTM_DOMAIN_GTT));
    EXPECT_EQ(other.domain_of(theirs), DRM_VTTM_DOMAIN_SYSTEM);
    ASSERT_EQ(other.submit({theirs}), 0);
    auto *shared = static_cast<u32 *>(other.map(theirs, size));
    ASSERT_NE(shared, MAP_FAILED);
    EXPECT_EQ(count_wrong(shared, 5), 0u);
    munmap(shared, size);
}

TEST_F(vttm_prime, a_bo_pinned_for_scanout_is_busy)
{
    vttm_file file, other(1);
    u32 handle = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    ASSERT_EQ(file.pin(handle), 0);
    int fd = -1;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), handle, DRM_CLOEXEC, &fd), 0);
    u32 theirs = 0;
    ASSERT_EQ(drmPrimeFDToHandle(other.fd(), fd, &theirs), 0);
    close(fd);
    EXPECT_EQ(other.submit({theirs}), -EBUSY);
    ASSERT_EQ(file.pin(handle, DRM_VTTM_PIN_UNPIN), 0);
    EXPECT_EQ(other.submit({theirs}), 0);
}

TEST_F(vttm_prime, cpu_access_through_the_dma_buf_finds_the_contents)
{
    vttm_file file;
    u32 handle = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    auto *ours = static_cast<u32 *>(file.map(handle, size));
    ASSERT_NE(ours, MAP_FAILED);
    fill(ours, 9);
    int fd = -1;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), handle, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
    u32 *shared = map_fd(fd);
    ASSERT_NE(shared, nullptr);
    dma_buf_sync sync{DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};
    EXPECT_EQ(ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync), 0);
    EXPECT_EQ(file.domain_of(handle), DRM_VTTM_DOMAIN_GTT) << "who reads does it where that is fast";
    EXPECT_EQ(count_wrong(shared, 9), 0u);
    sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ;
    EXPECT_EQ(ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync), 0);
    // The dma-buf keeps the memory when the handle and the file are gone.
    file.reset();
    EXPECT_EQ(count_wrong(shared, 9), 0u);
    munmap(ours, size);
    munmap(shared, size);
    close(fd);
}

TEST_F(vttm_prime, what_cannot_be_shared)
{
    vttm_file file;
    u32 own = file.must_create(size, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_VM_PRIVATE);
    int fd = -1;
    EXPECT_EQ(drmPrimeHandleToFD(file.fd(), own, DRM_CLOEXEC, &fd) ? -errno : 0, -EPERM) << "private";
    EXPECT_EQ(drmPrimeHandleToFD(file.fd(), 0xdead, DRM_CLOEXEC, &fd) ? -errno : 0, -ENOENT);
    u32 handle = 0;
    EXPECT_EQ(drmPrimeFDToHandle(file.fd(), -1, &handle) ? -errno : 0, -EBADF);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    EXPECT_EQ(drmPrimeFDToHandle(file.fd(), null, &handle) ? -errno : 0, -EINVAL) << "no dma-buf";
    close(null);
}

TEST_F(vttm_prime, with_the_virtual_clock_only_with_itself)
{
    for (u32 flags : {DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK, DRM_VTTM_LAB_CONFIG_NO_CONTENTS}) {
        vttm_file a;
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, flags};
        ASSERT_EQ(a.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
        vttm_file b;
        int fd = heap_buffer();
        u32 handle = 0;
        EXPECT_EQ(drmPrimeFDToHandle(a.fd(), fd, &handle) ? -errno : 0, -EOPNOTSUPP);
        close(fd);
        handle = a.must_create(size, DRM_VTTM_DOMAIN_VRAM);
        ASSERT_EQ(drmPrimeHandleToFD(a.fd(), handle, DRM_CLOEXEC, &fd), 0);
        u32 theirs = 0;
        EXPECT_EQ(drmPrimeFDToHandle(b.fd(), fd, &theirs), 0);
        vttm_file other(1);
        EXPECT_EQ(drmPrimeFDToHandle(other.fd(), fd, &theirs) ? -errno : 0, -EOPNOTSUPP);
        close(fd);
        a.reset();
        b.reset();
        vttm_file file;
        file.lab(DRM_VTTM_LAB_ADVANCE, file.info().clock_ns + 10 * ns_per_s);
        config.flags = 0;
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    }
}

TEST_F(vttm_prime, only_one_device_has_the_virtual_clock)
{
    vttm_file other(1);
    drm_vttm_lab_config config{
        8 * MiB, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK};
    EXPECT_EQ(other.lab(DRM_VTTM_LAB_RESET, 0, &config), -EOPNOTSUPP);
}

TEST_F(vttm_prime, importers_use_the_bo_while_it_moves)
{
    vttm_file file;
    std::vector<u32> handles;
    std::vector<int> fds;
    for (u32 i = 0; i < 8; i++) {
        handles.push_back(file.must_create(size, DRM_VTTM_DOMAIN_VRAM));
        auto *words = static_cast<u32 *>(file.map(handles[i], size));
        ASSERT_NE(words, MAP_FAILED);
        fill(words, i);
        munmap(words, size);
        fds.push_back(-1);
        ASSERT_EQ(drmPrimeHandleToFD(file.fd(), handles[i], DRM_CLOEXEC | DRM_RDWR, &fds[i]), 0);
    }
    pid_t child = fork();
    if (child == 0) {
        for (;;) {
            vttm_file other(1);
            for (int fd : fds) {
                u32 theirs = 0;
                if (drmPrimeFDToHandle(other.fd(), fd, &theirs) || other.submit({theirs}))
                    _exit(1);
            }
        }
    }
    std::vector<u32> crowd;
    for (int i = 0; i < 40; i++)
        crowd.push_back(file.must_create(size, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM));
    for (int round = 0; round < 100; round++) {
        EXPECT_EQ(file.submit(round % 2 ? handles : std::vector<u32>(crowd.begin(), crowd.begin() + 24)), 0);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "the importer failed in round " << round;
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    for (u32 i = 0; i < 8; i++) {
        auto *words = static_cast<u32 *>(file.map(handles[i], size));
        ASSERT_NE(words, MAP_FAILED);
        EXPECT_EQ(count_wrong(words, i), 0u) << "BO " << i;
        munmap(words, size);
        close(fds[i]);
    }
}

} // namespace
} // namespace vramlab::tests
