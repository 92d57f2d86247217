// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_lab.h"

#include <gtest/gtest.h>

namespace vramlab::backend {
namespace {

using events::event_type;

drm_vttm_event job(u64 seqno, u64 start_ns, u64 end_ns)
{
    drm_vttm_event r{};
    r.type = DRM_VTTM_EVENT_JOB;
    r.tag = seqno;
    r.bytes = 100;
    r.start_ns = start_ns;
    r.end_ns = end_ns;
    r.vm = 3;
    r.task = 7;
    return r;
}

drm_vttm_event move_out(u64 bo, u64 time_ns, u32 task, bool evict)
{
    drm_vttm_event r{};
    r.type = DRM_VTTM_EVENT_MOVE;
    r.time_ns = time_ns;
    r.tag = bo;
    r.bytes = 4096;
    r.from = DRM_VTTM_DOMAIN_VRAM;
    r.to = DRM_VTTM_DOMAIN_GTT;
    r.vm = ~0u;
    r.task = task;
    r.evict = evict;
    return r;
}

// Task 7 is process 2 and pins BO 20, task 8 is process 3 and submits; there are no others.
event_cause cause_of(u32 task)
{
    if (task == 7)
        return {2, 20};
    return task == 8 ? event_cause{3, 0} : event_cause{};
}

std::vector<std::pair<event_type, u64>> types_and_times(const events::event_log &log)
{
    std::vector<std::pair<event_type, u64>> out;
    for (const events::event &e : log.events())
        out.emplace_back(e.type, e.time_ns);
    return out;
}

TEST(event_translator, what_lies_ahead_of_the_clock_has_not_happened)
{
    event_translator translator;
    events::event_log log;
    translator.translate({job(1, 0, 50), job(2, 50, 90)}, 40, cause_of, log);
    EXPECT_EQ(types_and_times(log), (std::vector<std::pair<event_type, u64>>{{event_type::job_start, 0}}));
    translator.translate({move_out(5, 60, 8, false)}, 60, cause_of, log);
    translator.translate({}, 90, cause_of, log);
    EXPECT_EQ(types_and_times(log), (std::vector<std::pair<event_type, u64>>{{event_type::job_start, 0},
                                                                             {event_type::job_end, 50},
                                                                             {event_type::job_start, 50},
                                                                             {event_type::move, 60},
                                                                             {event_type::job_end, 90}}));
    EXPECT_EQ(log.events()[0].process, 2u);
    EXPECT_EQ(log.events()[0].b, 1u);
    EXPECT_EQ(log.events()[0].c, 100u);
}

TEST(event_translator, an_eviction_names_who_needed_the_room)
{
    event_translator translator;
    events::event_log log;
    translator.translate(
        {move_out(5, 1, 7, true), move_out(6, 2, 8, true), move_out(9, 3, 1, true), move_out(4, 4, 7, false)},
        4, cause_of, log);
    ASSERT_EQ(log.events().size(), 7u);
    const u64 bos[] = {5, 6, 9};
    const u64 for_bos[] = {20, 0, 0};
    const u32 processes[] = {2, 3, 0};
    for (std::size_t i = 0; i < 3; i++) {
        const events::event &decision = log.events()[2 * i];
        EXPECT_EQ(decision.type, event_type::evict_begin);
        EXPECT_EQ(decision.bo, bos[i]);
        EXPECT_EQ(decision.bo2, for_bos[i]);
        EXPECT_EQ(decision.process, processes[i]);
        const events::event &move = log.events()[2 * i + 1];
        EXPECT_EQ(move.type, event_type::move);
        EXPECT_EQ(move.flag, 1u);
        EXPECT_EQ(move.bo2, 0u);
    }
    EXPECT_EQ(log.events()[6].type, event_type::move);
    EXPECT_EQ(log.events()[6].flag, 0u);
}

TEST(event_translator, reset_forgets_what_was_to_come)
{
    event_translator translator;
    events::event_log log;
    translator.translate({job(1, 10, 50)}, 5, cause_of, log);
    translator.reset();
    translator.translate({}, 100, cause_of, log);
    EXPECT_TRUE(log.events().empty());
}

} // namespace
} // namespace vramlab::backend
