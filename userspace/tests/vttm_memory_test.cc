// SPDX-License-Identifier: MIT
// Do contents survive eviction, is fresh memory zero, and do all counters return to zero? Runs in the guest.
#include "tests/vttm_device.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 bo_size = 256 * KiB;

class vttm_memory : public testing::TestWithParam<u32> {
protected:
    void SetUp() override
    {
        vttm_file file;
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        config.flags = GetParam();
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    }
    void TearDown() override
    {
        vttm_file file;
        if (file.fd() < 0)
            return;
        // Under the virtual clock copies that nobody waits for end when the clock is advanced; else this is
        // refused.
        file.lab(DRM_VTTM_LAB_ADVANCE, file.info().clock_ns + 10 * ns_per_s);
        file.lab(DRM_VTTM_LAB_SETTLE);
        // The real clock signals fences when their time has come, so what waits for them needs a moment.
        for (int i = 0; i < 200 && (file.info().vram_usage || file.info().gtt_usage); i++)
            usleep(10'000);
        EXPECT_EQ(file.info().vram_usage, 0u);
        EXPECT_EQ(file.info().gtt_usage, 0u);
        EXPECT_EQ(file.info().vram_pinned, 0u);
    }
    drm_vttm_lab_config config{8 * MiB, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, 0};
};

void fill(const vttm_file &file, u32 handle, u32 seed)
{
    auto *words = static_cast<u32 *>(file.map(handle, bo_size));
    ASSERT_NE(words, MAP_FAILED);
    for (u64 i = 0; i < bo_size / 4; i++)
        words[i] = seed * 2654435761u + static_cast<u32>(i);
    munmap(words, bo_size);
}

void expect_filled(const vttm_file &file, u32 handle, u32 seed)
{
    auto *words = static_cast<u32 *>(file.map(handle, bo_size));
    ASSERT_NE(words, MAP_FAILED);
    u64 wrong = 0;
    for (u64 i = 0; i < bo_size / 4; i++)
        wrong += words[i] != seed * 2654435761u + static_cast<u32>(i);
    munmap(words, bo_size);
    EXPECT_EQ(wrong, 0u) << "words of BO " << seed;
}

TEST_P(vttm_memory, contents_survive_eviction_and_return)
{
    // Four times what fits: each submission brings its BOs in and throws others out.
    vttm_file file;
    std::vector<u32> handles;
    for (u32 i = 0; i < 4 * config.vram_size / bo_size; i++) {
        u32 handle = file.must_create(bo_size, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM);
        ASSERT_NE(handle, 0u);
        handles.push_back(handle);
        fill(file, handle, i);
    }
    for (u32 round = 0; round < 3; round++)
        for (u64 i = 0; i + 8 <= handles.size(); i += 8)
            ASSERT_EQ(file.submit({handles.begin() + static_cast<long>(i),
                                   handles.begin() + static_cast<long>(i) + 8}),
                      0);
    EXPECT_GT(file.info().evictions, handles.size());
    for (u32 i = 0; i < handles.size(); i++)
        expect_filled(file, handles[i], i);
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
    for (u32 i = 0; i < handles.size(); i++)
        expect_filled(file, handles[i], i);
}

TEST_P(vttm_memory, fresh_bos_read_zero)
{
    vttm_file file;
    for (u32 round = 0; round < 6; round++) {
        std::vector<u32> handles;
        for (u32 domain : {DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_DOMAIN_GTT, DRM_VTTM_DOMAIN_SYSTEM})
            for (int i = 0; i < 12; i++) {
                u32 handle = file.must_create(bo_size, domain);
                ASSERT_NE(handle, 0u);
                handles.push_back(handle);
                auto *words = static_cast<u32 *>(file.map(handle, bo_size));
                ASSERT_NE(words, MAP_FAILED);
                u64 wrong = 0;
                for (u64 w = 0; w < bo_size / 4; w++)
                    wrong += words[w] != 0;
                munmap(words, bo_size);
                ASSERT_EQ(wrong, 0u) << "domain " << domain << " round " << round;
                fill(file, handle, 77);
            }
        if (round % 2) {
            ASSERT_EQ(file.submit({handles[0], handles[1], handles[12]}), 0);
        }
        for (u32 handle : handles)
            ASSERT_EQ(file.close_handle(handle), 0);
    }
}

TEST_P(vttm_memory, a_shared_bo_is_the_same_memory)
{
    vttm_file a, b;
    u32 handle = a.must_create(bo_size, DRM_VTTM_DOMAIN_VRAM);
    fill(a, handle, 5);
    int prime = -1;
    ASSERT_EQ(drmPrimeHandleToFD(a.fd(), handle, DRM_CLOEXEC, &prime), 0);
    u32 imported = 0;
    ASSERT_EQ(drmPrimeFDToHandle(b.fd(), prime, &imported), 0);
    close(prime);
    expect_filled(b, imported, 5);
    ASSERT_EQ(b.submit({imported}), 0);
    a.reset();
    expect_filled(b, imported, 5);
}

TEST_P(vttm_memory, processes_killed_in_the_middle_leave_nothing)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            vttm_file file;
            std::vector<u32> handles;
            for (int bo = 0; bo < 40; bo++)
                handles.push_back(
                    file.must_create(bo_size, DRM_VTTM_DOMAIN_VRAM, bo % 2 ? DRM_VTTM_GEM_VM_PRIVATE : 0));
            file.pin(handles[0]);
            for (;;)
                file.submit({handles[2], handles[4], handles[8]});
        }
        usleep(1000u * static_cast<unsigned>(1 + i));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(clocks, vttm_memory, testing::Values(0u, DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK),
                         [](const auto &p) { return p.param ? "virtual_clock" : "real_clock"; });

} // namespace
} // namespace vramlab::tests
