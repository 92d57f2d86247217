// SPDX-License-Identifier: MIT
// Does the debugfs file that stands in for suspend move everything out of video memory that is not pinned,
// with its contents, while clients go on? Runs in the guest.
#include "tests/vttm_device.h"
#include "tests/vttm_lifecycle.h"
#include "tests/vttm_pages.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 page = 4096;
constexpr u64 size = 64 * page;

int evict_all(const std::string &text = "1")
{
    struct stat st {};
    if (stat(vttm_node().c_str(), &st))
        return -ENODEV;
    return write_to("/sys/kernel/debug/dri/" + std::to_string(minor(st.st_rdev)) + "/vttm_evict_all", text);
}

class vttm_evict_all : public testing::Test {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, 64 * GiB, 16 * GiB, 1000, 10, 0};
        ASSERT_EQ(reset_when_idle(file, config), 0);
    }
    vttm_file file;
};

TEST_F(vttm_evict_all, everything_moves_but_what_is_pinned)
{
    std::vector<u32> bos;
    for (u32 i = 0; i < 12; i++) {
        bos.push_back(file.must_create(size, DRM_VTTM_DOMAIN_VRAM, i % 2 ? DRM_VTTM_GEM_VM_PRIVATE : 0));
        write_pages(file, bos[i], size, i * 1000);
    }
    ASSERT_EQ(file.pin(bos[3]), 0);
    // With a job under way that uses one of them.
    vttm_file::job job{{bos[0]}, {}, {}, 50'000'000};
    ASSERT_EQ(file.submit_job(job), 0);
    ASSERT_EQ(evict_all(), 0);
    EXPECT_EQ(file.wait(job.seqno, 0), 0) << "its BO can't move before that";
    for (u32 i = 0; i < 12; i++) {
        EXPECT_EQ(file.domain_of(bos[i]), i == 3 ? DRM_VTTM_DOMAIN_VRAM : DRM_VTTM_DOMAIN_GTT) << i;
        EXPECT_EQ(wrong_pages(file, bos[i], size, i * 1000), 0u) << i;
    }
    EXPECT_EQ(file.info().vram_usage, size);
    // A submission brings back what it wants there.
    ASSERT_EQ(file.submit({bos[0], bos[2]}), 0);
    EXPECT_EQ(file.domain_of(bos[0]), DRM_VTTM_DOMAIN_VRAM);
    EXPECT_EQ(file.domain_of(bos[1]), DRM_VTTM_DOMAIN_VRAM) << "private: all submissions want it";
    EXPECT_EQ(file.domain_of(bos[4]), DRM_VTTM_DOMAIN_GTT);
    for (u32 i = 0; i < 12; i++)
        EXPECT_EQ(wrong_pages(file, bos[i], size, i * 1000), 0u) << i;
}

// TTM waits for the lock of a BO and then evicts it, also if that was pinned meanwhile.
TEST_F(vttm_evict_all, what_is_pinned_meanwhile_stays)
{
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (!pid) {
        vttm_file mine;
        u32 bos[4];
        for (u32 &bo : bos)
            bo = mine.must_create(size, DRM_VTTM_DOMAIN_VRAM);
        for (int round = 0; round < 500; round++) {
            for (u32 bo : bos)
                if (mine.pin(bo))
                    _exit(1);
            for (u32 bo : bos)
                if (mine.domain_of(bo) != DRM_VTTM_DOMAIN_VRAM)
                    _exit(2);
            for (u32 bo : bos)
                if (mine.pin(bo, DRM_VTTM_PIN_UNPIN))
                    _exit(3);
        }
        _exit(0);
    }
    int status = -1;
    while (waitpid(pid, &status, WNOHANG) == 0)
        EXPECT_EQ(evict_all(), 0);
    EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
    EXPECT_EQ(file.info().vram_pinned, 0u);
}

TEST_F(vttm_evict_all, a_value_other_than_one_is_refused)
{
    EXPECT_EQ(evict_all("0"), -EINVAL);
    EXPECT_EQ(evict_all("2"), -EINVAL);
    EXPECT_EQ(evict_all("all"), -EINVAL);
}

TEST_F(vttm_evict_all, while_others_submit)
{
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (!pid) {
        vttm_file mine;
        std::vector<u32> bos;
        for (int i = 0; i < 16; i++)
            bos.push_back(mine.must_create(size, DRM_VTTM_DOMAIN_VRAM));
        vttm_file::job fill{bos, {}, {}};
        for (u32 bo : bos)
            fill.ops.push_back(vttm_file::fill_op(bo, 0, size, bo));
        u32 sums = mine.must_create(page, DRM_VTTM_DOMAIN_GTT);
        if (mine.submit_job(fill))
            _exit(1);
        vttm_file::job sum{bos, {}, {}};
        sum.handles.push_back(sums);
        for (u32 i = 0; i < bos.size(); i++)
            sum.ops.push_back(vttm_file::checksum_op(sums, i * 4, bos[i], 0, size));
        auto *words = static_cast<volatile u32 *>(mine.map(sums, page));
        std::vector<u32> first;
        for (int round = 0; round < 100; round++) {
            if (mine.submit_job(sum) || mine.wait(sum.seqno, -1))
                _exit(2);
            for (u32 i = 0; i < bos.size(); i++) {
                if (!round)
                    first.push_back(u32{words[i]});
                else if (first[i] != words[i])
                    _exit(3);
            }
        }
        _exit(0);
    }
    int status = -1, moved = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        EXPECT_EQ(evict_all(), 0);
        moved++;
    }
    EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
    EXPECT_GT(moved, 10);
    EXPECT_GT(file.info().evictions, 20u);
}

} // namespace
} // namespace vramlab::tests
