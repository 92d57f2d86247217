// SPDX-License-Identifier: MIT
// Do jobs and moves of BOs share the link where Documentation/semantics.rst says so, and only there?
#include "backend/sim_fixture.h"
#include "gpu/timing.h"

namespace vramlab::backend {
namespace {

// VM 1's job reads 48 GiB over the link, 3 s if it has it to itself; VM 2's BO moves meanwhile.
class sim_link : public sim_test {
protected:
    static constexpr u64 mib = 12;

    explicit sim_link(const system_config &s = small_system()) : sim_test(s) { prepare(); }

    void prepare()
    {
        EXPECT_EQ(create(1, 1, 4, 0, domain_gtt), 0);
        EXPECT_EQ(create(2, 2, mib), 0);
        idle();
        start_ns = b.now_ns();
    }
    void read_remotely() { ASSERT_EQ(submit(1, {1}, 0, {{1, 0, 48 * GiB}}), 0); }
    u64 job_ns() const { return 3 * ns_per_s; }
    u64 copy_ns() const { return gpu::transfer_ns(mib * MiB, small_system().device.link_bandwidth); }
    std::string gfx_ends_after(u64 ns)
    {
        return "end " + std::to_string(start_ns + ns) + " running 1 queued";
    }
    bool gfx(const std::string &beginning) { return line("engine gfx").starts_with(beginning); }

    u64 start_ns = 0;
};

TEST_F(sim_link, a_job_has_it_to_itself)
{
    read_remotely();
    EXPECT_TRUE(gfx(gfx_ends_after(job_ns()))) << line("engine gfx");
}

TEST_F(sim_link, what_moves_into_vram_slows_remote_reads)
{
    ASSERT_EQ(b.evict_all(), 0);
    idle();
    start_ns = b.now_ns();
    read_remotely();
    ASSERT_EQ(submit(2, {2}), 0);
    ASSERT_EQ(bo(2, "mem"), "vram");
    EXPECT_TRUE(gfx(gfx_ends_after(job_ns() + copy_ns()))) << line("engine gfx");
    // And is slowed by them.
    EXPECT_TRUE(line("engine copy").starts_with("end " + std::to_string(start_ns + 5000 + 2 * copy_ns())))
        << line("engine copy");
}

TEST_F(sim_link, what_moves_out_of_vram_does_not)
{
    read_remotely();
    ASSERT_EQ(create(2, 3, mib), 0); // evicts BO 2
    ASSERT_EQ(bo(2, "mem"), "gtt");
    EXPECT_TRUE(gfx(gfx_ends_after(job_ns()))) << line("engine gfx");
    EXPECT_TRUE(line("engine copy").starts_with("end " + std::to_string(start_ns + 5000 + copy_ns())))
        << line("engine copy");
}

system_config overlapping()
{
    system_config s = small_system();
    s.device.overlap = true;
    return s;
}

class sim_overlap : public sim_link {
protected:
    sim_overlap() : sim_link(overlapping()) {}
};

TEST_F(sim_overlap, a_job_takes_as_long_as_the_longest_of_three)
{
    // 1 s of computing, 2 s of VRAM, 3 s of the link
    ASSERT_EQ(submit(2, {2}, ns_per_s, {{2, 512 * GiB, 0}}), 0);
    EXPECT_TRUE(gfx(gfx_ends_after(2 * ns_per_s))) << line("engine gfx");
    b.advance(start_ns + 2 * ns_per_s);
    start_ns = b.now_ns();
    ASSERT_EQ(submit(1, {1}, ns_per_s, {{1, 0, 48 * GiB}}), 0);
    EXPECT_TRUE(gfx(gfx_ends_after(3 * ns_per_s))) << line("engine gfx");
}

// Whatever takes longest hides the rest, a link that is shared included.
TEST_F(sim_overlap, computing_hides_a_shared_link)
{
    ASSERT_EQ(b.evict_all(), 0);
    idle();
    start_ns = b.now_ns();
    ASSERT_EQ(submit(1, {1}, 4 * ns_per_s, {{1, 0, 48 * GiB}}), 0);
    ASSERT_EQ(submit(2, {2}), 0);
    EXPECT_TRUE(gfx(gfx_ends_after(4 * ns_per_s))) << line("engine gfx");
}

} // namespace
} // namespace vramlab::backend
