// SPDX-License-Identifier: MIT
// Can the device be unbound, its module be unloaded and its clients be killed at any moment, many times over,
// with nothing left behind? Runs in the guest (scripts/run-vttm-stress), on its own, as it takes the module
// away.
#include "tests/vttm_device.h"
#include "tests/vttm_lifecycle.h"

#include "base/rng.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 page = 4096;
const std::string group = "/sys/fs/cgroup/vttm-stress";

int rounds()
{
    const char *text = std::getenv("VRAMLAB_ROUNDS");
    return text ? std::atoi(text) : 10;
}

// Does all that a client can do, for as long as the device is there; an errno that nobody is prepared for, or
// 0.
class client {
public:
    explicit client(u64 seed) : rng_(seed) {}
    int run()
    {
        for (;;) {
            vttm_file file;
            if (file.fd() < 0) {
                usleep(500);
                continue;
            }
            handles_.clear();
            int ret = 0;
            for (int i = 0; i < 200 && !ret; i++)
                ret = step(file);
            if (ret && ret != -ENODEV)
                return -ret;
        }
    }

private:
    u32 any() { return handles_.empty() ? 0 : handles_[rng_.below(handles_.size())]; }
    int create(const vttm_file &file)
    {
        static constexpr u32 domains[] = {DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_DOMAIN_GTT,
                                          DRM_VTTM_DOMAIN_VRAM | DRM_VTTM_DOMAIN_GTT};
        drm_vttm_gem_create args{};
        args.size = (1 + rng_.below(256)) * page;
        args.preferred_domains = domains[rng_.below(3)];
        int ret = file.create(args);
        if (!ret)
            handles_.push_back(args.handle);
        return ret == -ENOMEM ? 0 : ret;
    }
    int submit(const vttm_file &file)
    {
        vttm_file::job job{{any(), any()}, {}, {}, rng_.below(3'000'000), static_cast<u32>(rng_.below(2))};
        if (rng_.below(2))
            job.ops = {vttm_file::fill_op(job.handles[0], 0, page, 7)};
        int ret = file.submit_job(job);
        if (!ret && !rng_.below(4))
            ret = file.wait(job.seqno, 2'000'000);
        // A BO that doesn't fit into VRAM or GTT may be in SYSTEM, where no engine reaches it.
        return ret == -ENOMEM || ret == -ETIME || ret == -EINVAL ? 0 : ret;
    }
    int touch(const vttm_file &file)
    {
        auto *words = static_cast<volatile u32 *>(file.map(any(), page));
        if (words == MAP_FAILED)
            return errno == ENODEV ? -ENODEV : 0;
        words[0] = words[0] + 1;
        munmap(const_cast<u32 *>(words), page);
        return 0;
    }
    int pin(const vttm_file &file)
    {
        u32 handle = any();
        int ret = file.pin(handle);
        if (!ret && rng_.below(2))
            ret = file.pin(handle, DRM_VTTM_PIN_UNPIN);
        return ret == -ENOMEM || ret == -EINVAL ? 0 : ret;
    }
    int share(const vttm_file &file)
    {
        vttm_file other;
        int buffer = -1;
        u32 imported;
        if (drmPrimeHandleToFD(file.fd(), any(), DRM_CLOEXEC, &buffer))
            return errno == ENODEV ? -ENODEV : 0;
        if (other.fd() >= 0 && !drmPrimeFDToHandle(other.fd(), buffer, &imported))
            other.submit({imported});
        close(buffer);
        return 0;
    }
    int step(const vttm_file &file)
    {
        if (handles_.size() < 4)
            return create(file);
        switch (rng_.below(12)) {
        case 0:
        case 1:
            return create(file);
        case 2: {
            u64 i = rng_.below(handles_.size());
            u32 handle = handles_[i];
            handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(i));
            return file.close_handle(handle);
        }
        case 3:
            return touch(file);
        case 4:
            return pin(file);
        case 5:
            return share(file);
        case 6: {
            int ret = file.lab(DRM_VTTM_LAB_EVICT_ALL);
            return ret == -ENOMEM || ret == -EBUSY ? 0 : ret;
        }
        case 7: {
            int ret = file.lab(DRM_VTTM_LAB_SWAPOUT);
            return ret == -ENOMEM || ret == -EBUSY ? 0 : ret;
        }
        default:
            return submit(file);
        }
    }
    rng rng_;
    std::vector<u32> handles_;
};

class vttm_stress : public testing::Test {
protected:
    void SetUp() override
    {
        if (vttm_node().empty())
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-stress)";
        ASSERT_TRUE(mkdir(group.c_str(), 0755) == 0 || errno == EEXIST);
    }
    void TearDown() override
    {
        for (pid_t &pid : pids)
            stop(pid);
    }
    void start(pid_t &pid)
    {
        u64 seed = ++seed_;
        pid = fork();
        ASSERT_GE(pid, 0);
        if (!pid) {
            if (write_to(group + "/cgroup.procs", "0"))
                _exit(255);
            _exit(client(seed).run());
        }
    }
    void stop(pid_t &pid)
    {
        if (pid <= 0)
            return;
        kill(pid, SIGKILL);
        int status = 0;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            << "a client ended by itself: " << strerror(WEXITSTATUS(status)) << ", signal "
            << WTERMSIG(status);
        pid = 0;
    }
    // Nothing of the clients, who are gone, is left in the device or charged to their cgroup.
    void expect_nothing_left()
    {
        std::string left;
        for (int i = 0; i < 1000; i++) {
            left = busy_line(0);
            if (left.empty())
                left = charged();
            if (left.empty())
                return;
            usleep(10'000);
        }
        ADD_FAILURE() << "left behind: " << left;
    }
    static std::string charged()
    {
        std::ifstream in(group + "/dmem.current");
        if (!in)
            return "there is no dmem.current";
        for (std::string line; std::getline(in, line);)
            if (line.size() < 2 || line.compare(line.size() - 2, 2, " 0") != 0)
                return "dmem: " + line;
        return {};
    }
    static bool is_loaded() { return access("/sys/module/vttm", F_OK) == 0; }
    static void modprobe(bool load) { ASSERT_EQ(std::system(load ? "modprobe vttm" : "rmmod vttm"), 0); }

    std::array<pid_t, 3> pids{};
    u64 seed_ = 0;
};

TEST_F(vttm_stress, unbind_in_the_middle_of_everything)
{
    for (pid_t &pid : pids)
        start(pid);
    for (int round = 0; round < rounds() && !HasFailure(); round++) {
        usleep(1000 * (round * 7 % 41));
        ASSERT_EQ(write_to(vttm_driver + "/unbind", "vttm"), 0);
        EXPECT_EQ(vttm_node(), "");
        ASSERT_EQ(write_to(vttm_driver + "/bind", "vttm"), 0);
        EXPECT_NE(vttm_node(), "");
        // One of them is killed each time, half the time before it has seen that the device is gone.
        stop(pids[round % 3]);
        start(pids[round % 3]);
    }
    for (pid_t &pid : pids)
        stop(pid);
    expect_nothing_left();
}

TEST_F(vttm_stress, kill_in_the_middle_of_everything)
{
    for (int round = 0; round < rounds() && !HasFailure(); round++) {
        for (pid_t &pid : pids)
            start(pid);
        usleep(1000 * (round * 7 % 41));
        for (pid_t &pid : pids)
            stop(pid);
        if (round % 10 == 9)
            expect_nothing_left();
    }
    expect_nothing_left();
}

TEST_F(vttm_stress, unload_with_work_in_flight)
{
    for (int round = 0; round < rounds() && !HasFailure(); round++) {
        for (pid_t &pid : pids)
            start(pid);
        usleep(1000 * (10 + round * 7 % 41));
        for (pid_t &pid : pids)
            stop(pid);
        if (round % 2) {
            // Gives up all that it has just submitted, too.
            vttm_file file;
            u32 bo = file.must_create(MiB, DRM_VTTM_DOMAIN_VRAM);
            EXPECT_EQ(file.submit({bo}), 0);
            file.close_handle(bo);
        }
        modprobe(false);
        EXPECT_FALSE(is_loaded());
        EXPECT_EQ(charged(), "");
        modprobe(true);
        ASSERT_TRUE(is_loaded());
        ASSERT_NE(vttm_node(), "");
    }
    expect_nothing_left();
}

} // namespace
} // namespace vramlab::tests
