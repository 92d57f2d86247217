// SPDX-License-Identifier: MIT
// Do metrics count what Documentation/metrics.rst says?
#include "report/metrics.h"

#include "report/event_json.h"
#include "report/format.h"
#include "report/metrics_print.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace vramlab::report {
namespace {

using events::event;
using events::event_type;

// Two processes, each with a VM of its number and one BO (10 and 20) of 4 MiB in VRAM.
struct run {
    metrics m{{{1, "game", ""}, {2, "compositor", ""}}};
    u64 index = 0;

    run()
    {
        for (u32 p : {1u, 2u}) {
            op(0, p, "vm_open", 0);
            create(p, p * 10);
        }
    }
    void record(event e) { m.record(e); }
    void begin(u64 t, u32 p, const char *name, u64 bo, u64 b = 0, u64 c = 0)
    {
        record({.time_ns = t,
                .bo = bo,
                .a = index,
                .b = b,
                .c = c,
                .where = name,
                .vm = p,
                .process = p,
                .type = event_type::op_begin});
    }
    void end(u64 t, u32 p, const char *name, u64 bo, int error = 0)
    {
        record({.time_ns = t,
                .bo = bo,
                .a = index++,
                .where = name,
                .vm = p,
                .process = p,
                .error = error,
                .type = event_type::op_end});
    }
    void op(u64 t, u32 p, const char *name, u64 bo, int error = 0)
    {
        begin(t, p, name, bo);
        end(t, p, name, bo, error);
    }
    void create(u32 p, u64 bo)
    {
        begin(0, p, "bo_create", bo, domain_vram | u64{priority_default} << 24, 4 * MiB);
        move(0, p, bo, 0, domain_vram, false);
        end(0, p, "bo_create", bo);
    }
    void move(u64 t, u32 p, u64 bo, u64 from, u64 to, bool evict)
    {
        record({.time_ns = t,
                .bo = bo,
                .a = from,
                .b = to,
                .c = 4 * MiB,
                .vm = static_cast<u32>(bo / 10),
                .process = p,
                .type = event_type::move,
                .flag = evict});
    }
    void evict(u64 t, u32 p, u64 bo, u64 bo2)
    {
        record({.time_ns = t, .bo = bo, .bo2 = bo2, .process = p, .type = event_type::evict_begin});
        move(t, p, bo, domain_vram, domain_gtt, true);
    }
    double value(const char *metric, const char *process = "")
    {
        return m.value(metric, process).value_or(-1);
    }
};

TEST(Metrics, FirstPlacementIsNoMove)
{
    run r;
    r.m.finish(1);
    EXPECT_EQ(r.value("moved_in_bytes"), 0);
    EXPECT_EQ(r.value("vram_bytes_end"), 8 * MiB);
    EXPECT_EQ(r.value("preferred_share_end", "game"), 1);
}

TEST(Metrics, EvictionsCountForTheOwnerAndForWhoCausedThem)
{
    run r;
    r.begin(5, 2, "submit", 0);
    r.evict(5, 2, 10, 20);
    r.end(5, 2, "submit", 0);
    r.m.finish(10);
    EXPECT_EQ(r.value("evictions", "game"), 1);
    EXPECT_EQ(r.value("evictions", "compositor"), 0);
    EXPECT_EQ(r.value("evictions_caused", "compositor"), 1);
    EXPECT_EQ(r.value("evictions_for_scanout"), 0);
    EXPECT_EQ(r.value("outside_bytes_end", "game"), 4 * MiB);
    EXPECT_EQ(r.value("preferred_share_end"), 0.5);
}

TEST(Metrics, ReversalsByHowLongTheBoWasAway)
{
    run r;
    const u64 away[] = {ns_per_s / 10, ns_per_s / 2, 5 * ns_per_s, 20 * ns_per_s};
    u64 t = 0;
    for (u64 ns : away) {
        r.evict(t, 2, 10, 20);
        t += ns;
        r.move(t, 1, 10, domain_gtt, domain_vram, false);
    }
    r.m.finish(t);
    EXPECT_EQ(r.value("reversals_100ms"), 1);
    EXPECT_EQ(r.value("reversals_1s"), 2);
    EXPECT_EQ(r.value("reversals_10s", "game"), 3);
    EXPECT_EQ(r.value("ping_pong_bos"), 1);
    EXPECT_EQ(r.value("ping_pong_round_trips"), 2);
}

TEST(Metrics, PingPongNamesTheCause)
{
    run r;
    for (u64 i = 0; i < 3; i++) {
        r.begin(i * 100, 2, "flip", 20);
        r.evict(i * 100, 2, 10, 20);
        r.end(i * 100, 2, "flip", 20);
        r.move(i * 100 + 50, 1, 10, domain_gtt, domain_vram, false);
    }
    r.m.finish(1000);
    const auto pairs = r.m.ping_pong().pairs();
    ASSERT_EQ(pairs.size(), 1u);
    EXPECT_EQ(pairs[0].owner, 1u);
    EXPECT_EQ(pairs[0].evictor, 2u);
    EXPECT_TRUE(pairs[0].for_scanout);
    EXPECT_EQ(pairs[0].round_trips, 3u);
    EXPECT_EQ(pairs[0].moved_bytes, 24 * MiB);
}

TEST(Metrics, EvictingOneselfIsNoPingPong)
{
    run r;
    for (u64 i = 0; i < 3; i++) {
        r.evict(i * 100, 1, 10, 11);
        r.move(i * 100 + 50, 1, 10, domain_gtt, domain_vram, false);
    }
    r.m.finish(1000);
    EXPECT_EQ(r.value("ping_pong_bos"), 0);
    EXPECT_EQ(r.value("reversals_1s"), 3);
}

TEST(Metrics, LinkPerFrameCountsFramesOnly)
{
    run r;
    auto frame = [&](u64 t, u64 number, u64 ns) {
        r.record({.time_ns = t, .a = number, .b = ns, .process = 1, .type = event_type::frame});
    };
    auto remote = [&](u64 t, u64 bytes) {
        r.record({.time_ns = t, .c = bytes, .vm = 1, .type = event_type::job_start});
        r.record({.time_ns = t + 5, .c = bytes, .vm = 1, .type = event_type::job_end});
    };
    r.evict(0, 2, 10, 20);
    r.move(1, 1, 10, domain_gtt, domain_vram, false); // loading
    frame(10, 0, 0);
    remote(11, 100);
    frame(20, 1, 10);
    remote(21, 300);
    frame(40, 2, 20);
    remote(41, 1000); // of a frame that does not end
    r.m.finish(50);
    EXPECT_EQ(r.value("frames"), 2);
    EXPECT_EQ(r.value("link_read_bytes_per_frame", "game"), 200);
    EXPECT_EQ(r.value("remote_bytes_per_frame", "game"), 200);
    EXPECT_EQ(r.value("link_read_bytes_per_frame_max", "game"), 300);
    EXPECT_EQ(r.value("moved_in_bytes"), 4 * MiB);
    EXPECT_EQ(r.value("remote_bytes"), 1400);
    EXPECT_EQ(r.value("gfx_busy_share", "game"), 0.3);
}

TEST(Metrics, CopyBusyUntilTheEndOfTheRun)
{
    run r;
    r.record({.time_ns = 50, .a = 1, .c = 7, .type = event_type::job_start, .flag = 1});
    r.m.finish(100);
    EXPECT_EQ(r.value("copy_busy_share"), 0.5);
    EXPECT_EQ(r.value("remote_bytes"), 0);
    EXPECT_FALSE(r.m.value("copy_busy_share", "game"));
}

TEST(Metrics, FailuresByError)
{
    run r;
    r.op(1, 1, "submit", 0, -ENOMEM);
    r.op(2, 1, "submit", 0);
    r.op(3, 1, "flip", 0, -ENOSPC);
    r.m.finish(10);
    EXPECT_EQ(r.value("submissions", "game"), 2);
    EXPECT_EQ(r.value("failed_submissions", "game"), 1);
    EXPECT_EQ(r.value("failed_submissions_enomem"), 1);
    EXPECT_EQ(r.value("failed_submissions_eintr"), 0);
    EXPECT_FALSE(r.m.value("failed_submissions_nonsense"));
    EXPECT_EQ(r.value("failed_flips", "game"), 1);
    EXPECT_EQ(r.value("failed_operations_enospc"), 1);
}

TEST(Metrics, DestroyedBosAreNotThereAtTheEnd)
{
    run r;
    r.record({.bo = 10, .where = "bo_share", .vm = 1, .vm2 = 2, .process = 1, .type = event_type::op_begin});
    r.end(1, 1, "bo_share", 10);
    r.op(2, 1, "bo_destroy", 10);
    r.op(3, 2, "vm_close", 0);
    r.m.finish(10);
    EXPECT_EQ(r.value("vram_bytes_end"), 0);
}

TEST(Metrics, NearestRank)
{
    std::vector<u64> v;
    for (u64 i = 1; i <= 200; i++)
        v.push_back(i);
    EXPECT_EQ(percentile(v, 50), 100u);
    EXPECT_EQ(percentile(v, 99), 198u);
    EXPECT_EQ(percentile(v, 100), 200u);
    EXPECT_EQ(percentile({7}, 50), 7u);
    EXPECT_EQ(percentile({}, 50), 0u);
}

TEST(Metrics, UnknownNamesHaveNoValue)
{
    run r;
    r.m.finish(1);
    EXPECT_FALSE(r.m.value("fps"));
    EXPECT_FALSE(r.m.value("frames", "nobody"));
}

TEST(Metrics, EveryMetricIsDocumented)
{
    std::ifstream f(VRAMLAB_DOCUMENTATION_DIR "/metrics.rst");
    std::stringstream text;
    text << f.rdbuf();
    for (const metric_descriptor &d : metric_table())
        EXPECT_NE(text.str().find("``" + std::string(d.name) + "``"), std::string::npos) << d.name;
}

TEST(Metrics, JsonHasEveryMetricAndTheTableEndsWithProvenance)
{
    run r;
    r.op(1, 1, "submit", 0, -ENOMEM);
    r.m.finish(10);
    const auto j = metrics_json(r.m);
    for (const metric_descriptor &d : metric_table())
        EXPECT_TRUE(j["total"].contains(d.name)) << d.name;
    EXPECT_EQ(j["processes"]["game"]["failed_submissions_enomem"], 1);
    const std::string text = print_metrics(r.m, painter(false));
    EXPECT_TRUE(text.ends_with(std::string(provenance_line) + "\n"));
    EXPECT_EQ(text.find('\033'), std::string::npos);
    EXPECT_NE(text.find("1 ENOMEM"), std::string::npos);
}

TEST(Format, ThreeSignificantDigits)
{
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(7.9 * MiB), "7.9 MiB");
    EXPECT_EQ(format_bytes(512 * MiB), "512 MiB");
    EXPECT_EQ(format_bytes(1075.5 * MiB), "1.05 GiB");
    EXPECT_EQ(format_duration(16'666'667), "16.7 ms");
    EXPECT_EQ(format_duration(850), "850 ns");
    EXPECT_EQ(format_time(12 * ns_per_s + 345'678'000), "12.345678 s");
    EXPECT_EQ(format_time(1), "0.000000001 s");
    EXPECT_EQ(error_name(-ENOMEM), "ENOMEM");
    EXPECT_EQ(error_name(-ERESTARTSYS_), "ERESTARTSYS");
    EXPECT_EQ(domain_names(domain_vram | domain_gtt), "VRAM|GTT");
}

TEST(Table, AlignsByWhatTheTerminalShows)
{
    table t({"name", "time"});
    t.add_row({"a", "5 µs"});
    t.add_row({"long name", {"16 ms", color::red}});
    EXPECT_EQ(t.render(painter(false)), "name        time\n"
                                        "a           5 µs\n"
                                        "long name  16 ms\n");
    EXPECT_NE(t.render(painter(true)).find("\033[31m16 ms\033[0m"), std::string::npos);
}

TEST(EventJson, ZerosAreLeftOut)
{
    std::string s;
    append_event_json(s, {.time_ns = 5,
                          .bo = 7,
                          .where = "ttm_bo_validate",
                          .error = -ENOMEM,
                          .type = event_type::error_converted});
    EXPECT_EQ(
        s, "{\"t\":5,\"type\":\"error_converted\",\"bo\":7,\"error\":-12,\"where\":\"ttm_bo_validate\"}\n");
    EXPECT_TRUE(nlohmann::json::accept(s));
}

} // namespace
} // namespace vramlab::report
