// SPDX-License-Identifier: MIT
// Do clients that evict each other ever fail for lack of room that there is? Runs in the guest.
#include "tests/vttm_device.h"
#include "tests/vttm_switch.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 bo_size = 4 * MiB;
constexpr u32 bos_per_client = 9; // 90 % of video memory
constexpr u32 clients_max = 8;

// What a client tells, in memory that all processes share.
struct report {
    u64 submissions;
    u64 failures;
    u64 other_errors;
    u64 longest_ns;
};
struct shared {
    std::atomic<u32> created;
    std::atomic<bool> go;
    report clients[clients_max];
};

// How often each client submits: VRAMLAB_SUBMISSIONS, or as usual.
u64 submissions_per_client(u64 usual)
{
    const char *text = std::getenv("VRAMLAB_SUBMISSIONS");
    return text ? std::strtoull(text, nullptr, 10) : usual;
}

u64 now_ns()
{
    return static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// Wants nine tenths of video memory for each submission, and accepts nothing else.
void run_client(u32 number, u64 submissions, shared &s)
{
    vttm_file file;
    report &r = s.clients[number];
    std::vector<u32> handles;
    // One after the other: creation isn't what this is about.
    while (s.created.load() != number)
        usleep(100);
    for (u32 i = 0; i < bos_per_client; i++)
        handles.push_back(file.must_create(bo_size, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM));
    s.created++;
    while (!s.go.load())
        usleep(100);
    // In opposite orders.
    if (number % 2)
        handles = {handles.rbegin(), handles.rend()};

    for (r.submissions = 0; r.submissions < submissions; r.submissions++) {
        const u64 start = now_ns();
        u64 seqno = 0;
        const int ret = file.submit(handles, &seqno);
        r.longest_ns = std::max(r.longest_ns, now_ns() - start);
        r.failures += ret == -ENOMEM;
        r.other_errors += ret != 0 && ret != -ENOMEM;
        if (!ret && r.submissions % 8 == 7)
            file.wait(seqno);
    }
}

// Creates a BO that must be in VRAM, again and again, while the others lock all that could make room.
void run_creator(u32 number, u32 flags, u64 creations, shared &s)
{
    const vttm_file file;
    report &r = s.clients[number];
    while (s.created.load() != number)
        usleep(100);
    s.created++;
    while (!s.go.load())
        usleep(100);
    for (r.submissions = 0; r.submissions < creations; r.submissions++) {
        drm_vttm_gem_create args{};
        args.size = bo_size;
        args.preferred_domains = args.allowed_domains = DRM_VTTM_DOMAIN_VRAM;
        args.flags = flags;
        const u64 start = now_ns();
        const int ret = file.create(args);
        r.longest_ns = std::max(r.longest_ns, now_ns() - start);
        r.failures += ret == -ENOMEM;
        r.other_errors += ret != 0 && ret != -ENOMEM;
        if (!ret)
            file.close_handle(args.handle);
    }
}

class retry_test : public testing::Test {
protected:
    void SetUp() override
    {
        vttm_file file;
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        if (!has_switch("exec_retry"))
            GTEST_SKIP() << "a kernel whose TTM can't retry";
        const drm_vttm_lab_config config{
            40 * MiB, u64{4} * GiB, u64{1} << 50, u64{1} << 50, 0, 32, DRM_VTTM_LAB_CONFIG_NO_CONTENTS};
        drm_vttm_lab_config copy = config;
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &copy), 0);
        memory_ = static_cast<shared *>(
            mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        ASSERT_NE(static_cast<void *>(memory_), MAP_FAILED);
        new (memory_) shared{};
    }
    void TearDown() override
    {
        if (memory_)
            munmap(memory_, sizeof(shared));
        restore_switches();
    }
    // Processes, since threads of one don't run in parallel on um.
    template <typename function> void start(u32 number, function f)
    {
        if (fork() == 0) {
            f(number, *memory_);
            _exit(0);
        }
    }
    void finish(u32 clients)
    {
        while (memory_->created.load() != clients)
            usleep(1000);
        memory_->go.store(true);
        int status = 0;
        while (wait(&status) > 0)
            EXPECT_EQ(status, 0);
    }
    void print(const char *what, u32 clients, const report &sum)
    {
        std::printf("retry %s, %u clients: %llu submissions, %llu failed, longest %.1f ms\n", what, clients,
                    static_cast<unsigned long long>(sum.submissions),
                    static_cast<unsigned long long>(sum.failures), static_cast<double>(sum.longest_ns) / 1e6);
        std::fflush(stdout);
    }
    shared *memory_ = nullptr;
};

class vttm_retry : public retry_test, public testing::WithParamInterface<u32> {
protected:
    // Returns the sum.
    report run(u32 clients, u64 submissions)
    {
        for (u32 i = 0; i < clients; i++)
            start(i, [&](u32 number, shared &s) { run_client(number, submissions, s); });
        finish(clients);

        report sum{};
        for (u32 i = 0; i < clients; i++) {
            const report &r = memory_->clients[i];
            EXPECT_EQ(r.submissions, submissions) << "client " << i;
            EXPECT_EQ(r.other_errors, 0u) << "client " << i;
            sum.submissions += r.submissions;
            sum.failures += r.failures;
            sum.longest_ns = std::max(sum.longest_ns, r.longest_ns);
        }
        return sum;
    }
};

TEST_P(vttm_retry, nobody_fails_for_lack_of_room_that_there_is)
{
    ASSERT_TRUE(set_switch("exec_retry", true));
    const report sum = run(GetParam(), submissions_per_client(500));
    print("on", GetParam(), sum);
    EXPECT_EQ(sum.failures, 0u);
}

// What mainline makes of it; if it made nothing of it, the test above would show nothing.
TEST_P(vttm_retry, without_it_submissions_fail)
{
    ASSERT_TRUE(set_switch("exec_retry", false));
    report sum{};
    // Whether clients get into each other's way is up to the scheduler: one round may pass in lockstep.
    for (u32 round = 0; round < 20 && !sum.failures; round++) {
        new (memory_) shared{};
        sum = run(GetParam(), submissions_per_client(500));
        print("off", GetParam(), sum);
    }
    if (GetParam() >= 4) {
        EXPECT_GT(sum.failures, 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(clients, vttm_retry, testing::Values(2u, 3u, 4u, 6u, 8u),
                         [](const auto &p) { return std::to_string(p.param); });

// Three that submit, and one that creates: BOs of its own, or of its VM.
class vttm_retry_create : public retry_test, public testing::WithParamInterface<u32> {
protected:
    report run(u64 creations)
    {
        constexpr u32 submitters = 3;
        for (u32 i = 0; i < submitters; i++)
            start(i, [&](u32 number, shared &s) { run_client(number, submissions_per_client(300), s); });
        start(submitters, [&](u32 number, shared &s) { run_creator(number, GetParam(), creations, s); });
        finish(submitters + 1);
        const report &r = memory_->clients[submitters];
        EXPECT_EQ(r.submissions, creations);
        EXPECT_EQ(r.other_errors, 0u);
        for (u32 i = 0; i < submitters; i++)
            EXPECT_EQ(memory_->clients[i].other_errors, 0u);
        return r;
    }
};

TEST_P(vttm_retry_create, nobody_fails_for_lack_of_room_that_there_is)
{
    ASSERT_TRUE(set_switch("exec_retry", true));
    const report r = run(300);
    print("on, creation beside", 3, r);
    EXPECT_EQ(r.failures, 0u);
    for (u32 i = 0; i < 3; i++)
        EXPECT_EQ(memory_->clients[i].failures, 0u);
}

TEST_P(vttm_retry_create, without_it_creation_fails)
{
    ASSERT_TRUE(set_switch("exec_retry", false));
    report r{};
    for (u32 round = 0; round < 20 && !r.failures; round++) {
        new (memory_) shared{};
        r = run(300);
        print("off, creation beside", 3, r);
    }
    EXPECT_GT(r.failures, 0u);
}

INSTANTIATE_TEST_SUITE_P(bo, vttm_retry_create, testing::Values(0u, u32{DRM_VTTM_GEM_VM_PRIVATE}),
                         [](const auto &p) { return std::string(p.param ? "private" : "shared"); });

// Every allocation that a submission makes fails once. Needs a kernel with fault injection (--debug).
TEST(vttm_retry_faults, no_memory_anywhere)
{
    vttm_file file;
    if (file.fd() < 0)
        GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
    std::ofstream wait("/sys/kernel/debug/failslab/ignore-gfp-wait");
    if (access("/proc/self/fail-nth", W_OK) || !wait) {
        std::puts("this kernel has no fault injection: nothing was tested");
        return;
    }
    wait << 'N' << std::flush;
    // Without a stack trace for each.
    std::ofstream("/sys/kernel/debug/failslab/verbose") << 0 << std::flush;
    drm_vttm_lab_config config{
        40 * MiB, u64{1} * GiB, u64{1} << 50, u64{1} << 50, 0, 32, DRM_VTTM_LAB_CONFIG_NO_CONTENTS};
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    ASSERT_TRUE(set_switch("exec_retry", true));
    std::vector<u32> sets[2];
    for (auto &set : sets)
        for (u32 i = 0; i < bos_per_client; i++)
            set.push_back(file.must_create(bo_size, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM));

    u32 failed = 0;
    for (u32 nth = 1;; nth++) {
        ASSERT_LT(nth, 5000u);
        // Back to where this set has to evict the other one.
        ASSERT_EQ(file.submit(sets[1]), 0);
        std::ofstream("/proc/self/fail-nth") << nth << std::flush;
        const int ret = file.submit(sets[0]);
        u32 left = 0;
        std::ifstream("/proc/self/fail-nth") >> left;
        std::ofstream("/proc/self/fail-nth") << 0 << std::flush;
        EXPECT_TRUE(ret == 0 || ret == -ENOMEM) << "allocation " << nth << ": " << ret;
        failed += ret != 0;
        if (left)
            break; // it made fewer
    }
    std::printf("%u submissions failed\n", failed);
    EXPECT_GT(failed, 10u);
    EXPECT_EQ(file.submit(sets[0]), 0);
}

} // namespace
} // namespace vramlab::tests
