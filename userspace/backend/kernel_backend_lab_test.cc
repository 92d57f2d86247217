// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_lab.h"

#include <gtest/gtest.h>

namespace vramlab::backend {
namespace {

using events::event_type;

drm_vttm_event job(u32 type, u64 seqno, u64 time_ns)
{
    drm_vttm_event r{};
    r.type = type;
    r.time_ns = time_ns;
    r.tag = seqno;
    r.bytes = 100;
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

TEST(translate_events, in_the_order_of_the_records)
{
    events::event_log log;
    translate_events({job(DRM_VTTM_EVENT_JOB_START, 1, 0), job(DRM_VTTM_EVENT_JOB_END, 1, 50),
                      job(DRM_VTTM_EVENT_JOB_START, 2, 50), move_out(5, 60, 8, false),
                      job(DRM_VTTM_EVENT_JOB_END, 2, 90), job(DRM_VTTM_EVENT_JOB, 3, 95)},
                     false, cause_of, log);
    EXPECT_EQ(types_and_times(log), (std::vector<std::pair<event_type, u64>>{{event_type::job_start, 0},
                                                                             {event_type::job_end, 50},
                                                                             {event_type::job_start, 50},
                                                                             {event_type::move, 60},
                                                                             {event_type::job_end, 90}}));
    for (std::size_t i : {0, 1}) {
        EXPECT_EQ(log.events()[i].process, 2u);
        EXPECT_EQ(log.events()[i].vm, 3u);
        EXPECT_EQ(log.events()[i].b, 1u);
        EXPECT_EQ(log.events()[i].c, 100u);
    }
}

TEST(translate_events, what_the_system_moves_is_nobodys_but_jobs_are_somebodys)
{
    events::event_log log;
    translate_events({move_out(5, 1, 7, true), job(DRM_VTTM_EVENT_JOB_START, 1, 2)}, true, cause_of, log);
    ASSERT_EQ(log.events().size(), 3u);
    EXPECT_EQ(log.events()[0].process, 0u);
    EXPECT_EQ(log.events()[0].bo2, 0u);
    EXPECT_EQ(log.events()[1].process, 0u);
    EXPECT_EQ(log.events()[2].process, 2u);
}

TEST(translate_events, an_eviction_names_who_needed_the_room)
{
    events::event_log log;
    translate_events(
        {move_out(5, 1, 7, true), move_out(6, 2, 8, true), move_out(9, 3, 1, true), move_out(4, 4, 7, false)},
        false, cause_of, log);
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

} // namespace
} // namespace vramlab::backend
