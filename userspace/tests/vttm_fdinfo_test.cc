// SPDX-License-Identifier: MIT
// Is what fdinfo says about a client (drm-usage-stats) what the state in debugfs says about its BOs? Runs in
// the guest.
#include "tests/vttm_device.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 page = 4096;
constexpr u64 ms = 1'000'000;

// Values in bytes or nanoseconds; text as it is.
std::map<std::string, std::string> fdinfo(const std::string &process, int fd)
{
    std::map<std::string, std::string> found;
    std::ifstream in("/proc/" + process + "/fdinfo/" + std::to_string(fd));
    for (std::string line; std::getline(in, line);) {
        std::size_t colon = line.find(":\t");
        if (colon == std::string::npos || line.compare(0, 4, "drm-") != 0)
            continue;
        std::string key = line.substr(0, colon), text = line.substr(colon + 2);
        EXPECT_EQ(found.count(key), 0u) << key << " is there twice";
        std::istringstream words(text);
        u64 value = 0;
        std::string unit;
        if (words >> value) {
            words >> unit;
            u64 factor = unit == "KiB" ? KiB : unit == "MiB" ? MiB : 1;
            text = std::to_string(value * factor);
        }
        found[key] = text;
    }
    return found;
}

std::string debugfs_state(int fd)
{
    struct stat st {};
    fstat(fd, &st);
    std::ifstream in("/sys/kernel/debug/dri/" + std::to_string(minor(st.st_rdev)) + "/vttm_state");
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// What debugfs says of the BOs whose tags are at least `first`: bytes by region, and of those that are busy.
std::map<std::string, u64> from_debugfs(int fd, u64 first)
{
    std::map<std::string, u64> sum;
    std::istringstream in(debugfs_state(fd));
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string kind, key, vm, mem, word;
        u64 tag = 0, size = 0, busy = 0;
        words >> kind >> tag >> key >> vm >> key >> size >> key >> mem;
        if (kind != "bo" || tag < first)
            continue;
        while (words >> word)
            if (word == "busy")
                words >> busy;
        sum["drm-resident-" + mem] += size;
        sum["drm-active-" + mem] += busy ? size : 0;
    }
    return sum;
}

class vttm_fdinfo : public testing::TestWithParam<u32> {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, 64 * GiB, 16 * GiB, 1000, 10, GetParam()};
        ASSERT_EQ(reset_when_idle(file, config), 0);
    }
    static bool is_virtual() { return GetParam() & DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK; }
    u32 create(u64 size, u32 preferred, u32 flags = 0)
    {
        drm_vttm_gem_create args{};
        args.size = size;
        args.preferred_domains = preferred;
        args.flags = flags;
        args.priority = DRM_VTTM_PRIORITY_DEFAULT;
        args.tag = ++tag;
        EXPECT_EQ(file.create(args), 0);
        return args.handle;
    }
    u64 value(const std::string &key)
    {
        auto found = fdinfo("self", file.fd());
        EXPECT_EQ(found.count(key), 1u) << key;
        return found.count(key) ? std::stoull(found[key]) : ~u64{0};
    }
    // While nothing moves or ends.
    void expect_same(const char *when)
    {
        auto said = fdinfo("self", file.fd());
        auto is = from_debugfs(file.fd(), first_tag);
        for (const char *region : {"vram", "gtt", "system"})
            for (const char *kind : {"drm-resident-", "drm-active-"}) {
                std::string key = std::string(kind) + region;
                EXPECT_EQ(said[key], std::to_string(is[key])) << key << ' ' << when;
            }
    }
    u64 submit(u64 ns, std::vector<u32> bos, u32 engine = DRM_VTTM_ENGINE_GFX)
    {
        vttm_file::job job{std::move(bos), {}, {}, ns, engine};
        EXPECT_EQ(file.submit_job(job), 0);
        return job.seqno;
    }
    static constexpr u64 first_tag = 770'000;
    u64 tag = first_tag;
    vttm_file file;
};

TEST_P(vttm_fdinfo, names_driver_and_client)
{
    vttm_file other;
    auto mine = fdinfo("self", file.fd()), others = fdinfo("self", other.fd());
    EXPECT_EQ(mine["drm-driver"], "vttm");
    EXPECT_NE(mine["drm-client-id"], "");
    EXPECT_NE(mine["drm-client-id"], others["drm-client-id"]);
    // All keys that there are, none of them twice: those that the documentation knows.
    EXPECT_EQ(mine.size(), 2 + 2 + 3 * 5u);
    for (const char *region : {"vram", "gtt", "system"})
        for (const char *kind : {"total", "shared", "resident", "active", "purgeable"})
            EXPECT_EQ(mine[std::string("drm-") + kind + '-' + region], "0") << kind << ' ' << region;
}

TEST_P(vttm_fdinfo, memory_is_what_debugfs_says)
{
    u32 vram = create(2 * MiB, DRM_VTTM_DOMAIN_VRAM),
        own = create(MiB, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_VM_PRIVATE);
    u32 gtt = create(3 * page, DRM_VTTM_DOMAIN_GTT),
        both = create(page, DRM_VTTM_DOMAIN_VRAM | DRM_VTTM_DOMAIN_GTT);
    EXPECT_EQ(file.wait(submit(1000, {vram, gtt, both}), -1), 0);
    expect_same("while idle");
    EXPECT_EQ(value("drm-total-vram"), 3 * MiB + page);
    EXPECT_EQ(value("drm-total-gtt"), 3 * page);
    EXPECT_EQ(value("drm-resident-vram"), 3 * MiB + page);
    EXPECT_EQ(value("drm-active-vram"), 0u);

    // A job that lists some of them, and so is busy with all that are private.
    u64 seqno = submit(400 * ms, {vram, gtt});
    EXPECT_EQ(value("drm-active-vram"), 3 * MiB);
    EXPECT_EQ(value("drm-active-gtt"), 3 * page);
    expect_same("while a job runs");
    EXPECT_EQ(file.wait(seqno, 0), -ETIME) << "it still ran";
    EXPECT_EQ(file.wait(seqno, -1), 0);
    EXPECT_EQ(value("drm-active-vram"), 0u);

    ASSERT_EQ(file.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
    EXPECT_EQ(value("drm-resident-vram"), 0u);
    EXPECT_EQ(value("drm-resident-gtt"), 3 * MiB + 4 * page);
    EXPECT_EQ(value("drm-total-vram"), 3 * MiB + page) << "where it ought to be";
    if (!is_virtual()) // Its copies are over when somebody waits for them.
        expect_same("after an eviction");
    for (u32 handle : {vram, own, gtt, both})
        EXPECT_EQ(file.close_handle(handle), 0);
    EXPECT_EQ(value("drm-total-vram"), 0u);
    EXPECT_EQ(value("drm-resident-gtt"), 0u);
}

TEST_P(vttm_fdinfo, pages_that_are_not_there_are_not_resident)
{
    u32 bo = create(4 * page, DRM_VTTM_DOMAIN_SYSTEM);
    EXPECT_EQ(value("drm-total-system"), 4 * page);
    EXPECT_EQ(value("drm-resident-system"), 0u) << "nobody has touched it";
    auto *words = static_cast<volatile u32 *>(file.map(bo, 4 * page));
    ASSERT_NE(words, MAP_FAILED);
    words[0] = 5;
    EXPECT_EQ(value("drm-resident-system"), 4 * page);
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_SWAPOUT), 0);
    EXPECT_EQ(value("drm-resident-system"), 0u);
    EXPECT_EQ(words[0], 5u);
    EXPECT_EQ(value("drm-resident-system"), 4 * page);
    munmap(const_cast<u32 *>(words), 4 * page);
}

TEST_P(vttm_fdinfo, shared_with_another_client)
{
    u32 bo = create(MiB, DRM_VTTM_DOMAIN_VRAM);
    EXPECT_EQ(value("drm-shared-vram"), 0u);
    int buffer = -1;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), bo, DRM_CLOEXEC, &buffer), 0);
    vttm_file other;
    u32 imported = 0;
    ASSERT_EQ(drmPrimeFDToHandle(other.fd(), buffer, &imported), 0);
    close(buffer);
    EXPECT_EQ(value("drm-shared-vram"), MiB);
    EXPECT_EQ(value("drm-total-vram"), MiB);
    EXPECT_EQ(fdinfo("self", other.fd())["drm-total-vram"], std::to_string(MiB));
    EXPECT_EQ(fdinfo("self", other.fd())["drm-resident-vram"], std::to_string(MiB));
}

TEST_P(vttm_fdinfo, engines_are_busy_for_as_long_as_jobs_take)
{
    u64 seqno = submit(30 * ms, {});
    EXPECT_EQ(file.wait(seqno, -1), 0);
    EXPECT_EQ(value("drm-engine-gfx"), 30 * ms);
    EXPECT_EQ(value("drm-engine-compute"), 0u);
    EXPECT_EQ(file.wait(submit(7 * ms, {}, DRM_VTTM_ENGINE_COMPUTE), -1), 0);
    EXPECT_EQ(value("drm-engine-compute"), 7 * ms);
    EXPECT_EQ(value("drm-engine-gfx"), 30 * ms);
    vttm_file other;
    EXPECT_EQ(fdinfo("self", other.fd())["drm-engine-gfx"], "0");
    if (is_virtual()) {
        submit(100, {});
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_ADVANCE, file.info().clock_ns + 60), 0);
        EXPECT_EQ(value("drm-engine-gfx"), 30 * ms + 60);
        return;
    }
    // Two jobs one after another: it never goes back, and ends exactly where it must.
    submit(50 * ms, {});
    seqno = submit(50 * ms, {});
    u64 last = 30 * ms, between = 0;
    while (file.wait(seqno, 0) == -ETIME) {
        u64 now = value("drm-engine-gfx");
        ASSERT_GE(now, last);
        between += now > last;
        last = now;
    }
    EXPECT_GE(between, 5u) << "a job that runs counts, too";
    EXPECT_EQ(value("drm-engine-gfx"), 130 * ms);
}

TEST_P(vttm_fdinfo, others_can_read_it_at_any_moment)
{
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (!pid) {
        std::string parent = std::to_string(getppid());
        for (;;)
            fdinfo(parent, file.fd());
    }
    for (int i = 0; i < 200; i++) {
        u32 a = create(MiB, DRM_VTTM_DOMAIN_VRAM),
            b = create(page, DRM_VTTM_DOMAIN_GTT, DRM_VTTM_GEM_VM_PRIVATE);
        submit(1000, {a});
        if (i % 16 == 0) {
            EXPECT_EQ(file.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
        }
        file.close_handle(a);
        file.close_handle(b);
    }
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    EXPECT_EQ(value("drm-total-vram"), 0u);
    EXPECT_EQ(value("drm-total-gtt"), 0u);
}

INSTANTIATE_TEST_SUITE_P(clocks, vttm_fdinfo, testing::Values(0u, u32{DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK}),
                         [](const auto &param) { return param.param ? "virtual_clock" : "real_clock"; });

} // namespace
} // namespace vramlab::tests
