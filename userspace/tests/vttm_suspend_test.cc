// SPDX-License-Identifier: MIT
// What is left of contents, pins and jobs when the machine was suspended? Runs in a guest that can be (qemu).
#include "tests/vttm_device.h"
#include "tests/vttm_lifecycle.h"
#include "tests/vttm_pages.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 size = 64 * page_bytes;
constexpr u64 second = 1'000'000'000;

class vttm_suspend : public testing::Test {
protected:
    void SetUp() override
    {
        if (file.fd() < 0 || access("/sys/power/pm_test", W_OK))
            GTEST_SKIP() << "no vttm device, or a machine that can't be suspended: scripts/run-vttm-tests";
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, 64 * GiB, 16 * GiB, 1000, 10, 0};
        ASSERT_EQ(reset_when_idle(file, config), 0);
        ASSERT_EQ(write_to("/sys/module/suspend/parameters/pm_test_delay", "1"), 0);
    }
    void TearDown() override { write_to("/sys/power/pm_test", "none"); }

    // All processes are frozen and all devices suspended for a second; 0 or a negative errno.
    static int suspend_devices()
    {
        int ret = write_to("/sys/power/pm_test", "devices");
        return ret ? ret : write_to("/sys/power/state", "freeze");
    }
    std::vector<u32> create_filled(u32 count)
    {
        std::vector<u32> bos;
        for (u32 i = 0; i < count; i++) {
            bos.push_back(file.must_create(size, DRM_VTTM_DOMAIN_VRAM, i % 2 ? DRM_VTTM_GEM_VM_PRIVATE : 0));
            write_pages(file, bos[i], size, i * 1000);
        }
        return bos;
    }
    void expect_contents(const std::vector<u32> &bos)
    {
        for (u32 i = 0; i < bos.size(); i++)
            EXPECT_EQ(wrong_pages(file, bos[i], size, i * 1000), 0u) << i;
    }
    vttm_file file;
};

TEST_F(vttm_suspend, contents_move_out_and_what_is_pinned_stays)
{
    const std::vector<u32> bos = create_filled(12);
    ASSERT_EQ(file.pin(bos[3]), 0);
    const u64 evictions = file.info().evictions;
    ASSERT_EQ(suspend_devices(), 0);
    EXPECT_GE(file.info().evictions, evictions + 11);
    for (u32 i = 0; i < bos.size(); i++)
        EXPECT_EQ(file.domain_of(bos[i]), i == 3 ? DRM_VTTM_DOMAIN_VRAM : DRM_VTTM_DOMAIN_GTT) << i;
    EXPECT_EQ(file.info().vram_usage, size);
    expect_contents(bos);
    ASSERT_EQ(file.submit({bos[0], bos[2]}), 0);
    EXPECT_EQ(file.domain_of(bos[0]), DRM_VTTM_DOMAIN_VRAM);
    EXPECT_EQ(file.domain_of(bos[1]), DRM_VTTM_DOMAIN_VRAM) << "private: all submissions want it";
    EXPECT_EQ(file.domain_of(bos[4]), DRM_VTTM_DOMAIN_GTT);
    expect_contents(bos);
}

TEST_F(vttm_suspend, video_memory_forgets)
{
    std::vector<u32> bos = create_filled(30);
    ASSERT_EQ(suspend_devices(), 0);
    EXPECT_EQ(file.info().vram_usage, 0u);
    expect_contents(bos);
    // The places in video memory that they had are others' now, and hold zeros.
    for (u32 i = 0; i < 30; i++) {
        const u32 fresh = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
        auto *words = static_cast<volatile u32 *>(file.map(fresh, size));
        ASSERT_NE(words, MAP_FAILED);
        u64 wrong = 0;
        for (u64 word = 0; word < size / 4; word++)
            wrong += words[word] != 0;
        EXPECT_EQ(wrong, 0u) << i;
        munmap(const_cast<u32 *>(words), size);
    }
}

TEST_F(vttm_suspend, jobs_go_on)
{
    // One that runs, some that wait for their turn, and moves among them: no BO keeps the suspend waiting.
    vttm_file::job runs{{}, {}, {}, 2 * second};
    ASSERT_EQ(file.submit_job(runs), 0);
    const u32 sum = file.must_create(page_bytes, DRM_VTTM_DOMAIN_GTT);
    const u32 source = file.must_create(size, DRM_VTTM_DOMAIN_GTT);
    vttm_file::job last{{sum, source}, {}, {}, 1000};
    last.ops = {vttm_file::fill_op(source, 0, size, 7), vttm_file::copy_op(sum, 0, source, 0, page_bytes)};
    ASSERT_EQ(file.submit_job(last), 0);
    ASSERT_EQ(file.wait(runs.seqno, 0), -ETIME);
    ASSERT_EQ(suspend_devices(), 0);
    EXPECT_EQ(file.wait(last.seqno, 10 * s64{second}), 0);
    EXPECT_EQ(file.state().flags, 0u);
    auto *words = static_cast<volatile u32 *>(file.map(sum, page_bytes));
    ASSERT_NE(words, MAP_FAILED);
    EXPECT_EQ(words[0], 7u);
    EXPECT_EQ(words[page_bytes / 4 - 1], 7u);
    munmap(const_cast<u32 *>(words), page_bytes);
    // And new ones are taken.
    u64 seqno = 0;
    ASSERT_EQ(file.submit({source}, &seqno), 0);
    EXPECT_EQ(file.wait(seqno), 0);
}

TEST_F(vttm_suspend, while_clients_work)
{
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (!pid) {
        vttm_file mine;
        std::vector<u32> bos;
        for (int i = 0; i < 16; i++)
            bos.push_back(mine.must_create(size, DRM_VTTM_DOMAIN_VRAM));
        const u32 sums = mine.must_create(page_bytes, DRM_VTTM_DOMAIN_GTT);
        vttm_file::job work{bos, {}, {}};
        work.handles.push_back(sums);
        for (u32 i = 0; i < bos.size(); i++) {
            work.ops.push_back(vttm_file::fill_op(bos[i], 0, size, bos[0]));
            work.ops.push_back(vttm_file::checksum_op(sums, i * 4, bos[i], 0, size));
        }
        auto *words = static_cast<volatile u32 *>(mine.map(sums, page_bytes));
        for (;;) {
            if (mine.submit_job(work) || mine.wait(work.seqno, -1))
                _exit(1);
            for (u32 i = 1; i < bos.size(); i++)
                if (words[i] != words[0])
                    _exit(2);
        }
    }
    const u64 evictions = file.info().evictions;
    for (int round = 0; round < 5; round++) {
        EXPECT_EQ(suspend_devices(), 0);
        usleep(100'000);
    }
    EXPECT_GE(file.info().evictions, evictions + 16);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0) << "it has failed: " << WEXITSTATUS(status);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

} // namespace
} // namespace vramlab::tests
