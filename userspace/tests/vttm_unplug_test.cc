// SPDX-License-Identifier: MIT
// What is left of a device that is unbound while it is used? Runs in the guest.
#include "tests/vttm_device.h"
#include "tests/vttm_lifecycle.h"

#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 page = 4096;
constexpr u64 size = 64 * page;
constexpr u64 hour = 3'600'000'000'000;

class vttm_unplug : public testing::Test {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
    }
    void TearDown() override
    {
        file.reset();
        if (!bound)
            bind();
        std::string busy;
        for (int i = 0; i < 500 && !(busy = busy_line(0)).empty(); i++)
            usleep(10'000);
        EXPECT_EQ(busy, "");
    }
    void unbind()
    {
        ASSERT_EQ(write_to(vttm_driver + "/unbind", "vttm"), 0);
        bound = false;
    }
    void bind()
    {
        ASSERT_EQ(write_to(vttm_driver + "/bind", "vttm"), 0);
        bound = true;
    }
    bool bound = true;
    vttm_file file;
};

TEST_F(vttm_unplug, every_ioctl_says_that_there_is_no_device)
{
    u32 handle = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    unbind();
    unsigned char nothing[256] = {};
    for (unsigned nr = 0; nr < 256; nr++)
        EXPECT_EQ(file.call(DRM_IOWR(nr, decltype(nothing)), nothing), -ENODEV) << nr;
    EXPECT_EQ(file.close_handle(handle), -ENODEV);
    EXPECT_EQ(file.map(handle, size), MAP_FAILED);
    EXPECT_TRUE(std::ifstream("/proc/self/fdinfo/" + std::to_string(file.fd())).is_open());
}

TEST_F(vttm_unplug, mappings_hold_zeros_and_can_be_written)
{
    // A file of the old device would keep its number from the new one.
    file.reset();
    for (u32 domain : {DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_DOMAIN_GTT}) {
        if (!bound)
            bind();
        vttm_file mine;
        u32 handle = mine.must_create(size, domain), fresh = mine.must_create(size, domain);
        auto *words = static_cast<volatile u32 *>(mine.map(handle, size));
        auto *untouched = static_cast<volatile u32 *>(mine.map(fresh, size));
        ASSERT_NE(words, MAP_FAILED);
        ASSERT_NE(untouched, MAP_FAILED);
        for (u64 i = 0; i < size / 4; i++)
            words[i] = 0xdead;
        unbind();
        u64 wrong = 0;
        for (u64 i = 0; i < size / 4; i++)
            wrong += words[i] != 0 || untouched[i] != 0;
        EXPECT_EQ(wrong, 0u) << "contents are gone with the device, domain " << domain;
        words[7] = 5;
        untouched[9] = 6;
        EXPECT_EQ(words[7], 5u);
        EXPECT_EQ(untouched[9], 6u);
        // A debugger gets an error, not other memory.
        int memory = open("/proc/self/mem", O_RDWR);
        u32 word = 0;
        EXPECT_LT(
            pread(memory, &word, sizeof(word), static_cast<off_t>(reinterpret_cast<std::uintptr_t>(words))),
            0);
        close(memory);
        munmap(const_cast<u32 *>(words), size);
        munmap(const_cast<u32 *>(untouched), size);
    }
}

TEST_F(vttm_unplug, whoever_waits_is_told)
{
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SET_JOB_TIMEOUT, 0), 0);
    u32 handle = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    vttm_file::job job{{handle}, {}, {}, hour};
    ASSERT_EQ(file.submit_job(job), 0);
    ASSERT_EQ(file.submit({handle}), 0);
    pid_t waits = fork();
    ASSERT_GE(waits, 0);
    if (!waits)
        _exit(file.wait(job.seqno + 1, -1) == -ENODEV ? 0 : 1);
    // This one waits for the job within an ioctl: there is no room without what it uses.
    pid_t pins = fork();
    ASSERT_GE(pins, 0);
    if (!pins) {
        int ret = file.lab(DRM_VTTM_LAB_EVICT_ALL);
        _exit(ret == 0 || ret == -ENODEV ? 0 : 1);
    }
    usleep(200'000);
    auto start = std::chrono::steady_clock::now();
    unbind();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    for (pid_t pid : {waits, pins}) {
        int status = -1;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(status, 0);
    }
}

TEST_F(vttm_unplug, parked_tasks_go_on)
{
    drm_vttm_lab_config config{
        8 * MiB, 64 * MiB, 64 * GiB, 16 * GiB, 1000, 10, DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK};
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    int ready[2], done[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(done), 0);
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (!pid) {
        vttm_file mine;
        char byte = 0;
        if (mine.lab(DRM_VTTM_LAB_TASK, 1) || write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
            _exit(1);
        // Parks before it locks its VM, within the ioctl.
        int ret = mine.submit({});
        _exit(ret == 0 || ret == -ENODEV ? 0 : 2);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_BEGIN, 1), 0);
    ASSERT_EQ(write(done[1], &byte, 1), 1);
    drm_vttm_lab args{};
    args.op = DRM_VTTM_LAB_STATE;
    args.value = 1;
    ASSERT_EQ(file.call(DRM_IOCTL_VTTM_LAB, &args), 0);
    EXPECT_EQ(args.state, u32{DRM_VTTM_TASK_PARKED});
    unbind();
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    for (int fd : {ready[0], ready[1], done[0], done[1]})
        close(fd);
}

// What was bound again has a higher minor than the second device as long as a file of its past is open.
TEST_F(vttm_unplug, devices_are_told_apart_after_it)
{
    const std::string first = vttm_node(0), second = vttm_node(1);
    ASSERT_NE(second, "") << "vttm.num_devices=2";
    unbind();
    EXPECT_EQ(vttm_node(0), "");
    EXPECT_EQ(vttm_node(1), second);
    bind();
    EXPECT_NE(vttm_node(0), "");
    EXPECT_NE(vttm_node(0), first) << "the open file has that";
    EXPECT_EQ(vttm_node(1), second);
    // The virtual clock, of which there is one, stays with the old device until that is gone.
    vttm_file again;
    drm_vttm_lab_config config{
        8 * MiB, 64 * MiB, 64 * GiB, 16 * GiB, 1000, 10, DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK};
    EXPECT_EQ(again.lab(DRM_VTTM_LAB_RESET, 0, &config), -EOPNOTSUPP);
    file.reset();
    EXPECT_EQ(again.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    // Whoever comes next gets a device as it is by default.
    again.reset();
    unbind();
}

TEST_F(vttm_unplug, who_imports_from_it_keeps_what_is_mapped)
{
    vttm_file other(1);
    ASSERT_GE(other.fd(), 0) << "vttm.num_devices=2";
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_GTT), late = file.must_create(size, DRM_VTTM_DOMAIN_GTT);
    u32 imported[2];
    for (auto [handle, in] : {std::pair{bo, &imported[0]}, {late, &imported[1]}}) {
        int buffer = -1;
        ASSERT_EQ(drmPrimeHandleToFD(file.fd(), handle, DRM_CLOEXEC | DRM_RDWR, &buffer), 0);
        ASSERT_EQ(drmPrimeFDToHandle(other.fd(), buffer, in), 0);
        close(buffer);
    }
    u32 sum = other.must_create(page, DRM_VTTM_DOMAIN_GTT);
    vttm_file::job fill{{imported[0]}, {vttm_file::fill_op(imported[0], 0, size, 7)}, {}};
    ASSERT_EQ(other.submit_job(fill), 0);
    ASSERT_EQ(other.wait(fill.seqno, -1), 0);
    unbind();
    vttm_file::job check{{imported[0], sum}, {vttm_file::checksum_op(sum, 0, imported[0], 0, size)}, {}};
    EXPECT_EQ(other.submit_job(check), 0) << "it is memory of the guest";
    EXPECT_EQ(other.wait(check.seqno, -1), 0);
    EXPECT_EQ(other.submit({imported[1]}), -ENODEV) << "nobody can map it now";
    EXPECT_EQ(other.submit({sum}), 0);
}

} // namespace
} // namespace vramlab::tests
