// SPDX-License-Identifier: MIT
// Which job is handed over when: order of entities, dependencies, what "scheduled" is enough for.
#include "kmd/drm_sched.h"

#include <gtest/gtest.h>

#include <string>

using namespace vramlab;
using namespace vramlab::kmd;

namespace {

struct test_job final : drm_sched_job {
    char name;
    explicit test_job(char n) : name(n) {}
};

// Takes jobs and keeps them until told that they are over.
struct test_hw final : drm_sched_backend_ops {
    std::string log;
    std::vector<test_job *> running;
    void run_job(drm_sched_job &job) override
    {
        running.push_back(static_cast<test_job *>(&job));
        log += running.back()->name;
    }
    void free_job(drm_sched_job &job) override { delete &job; }
    void end_first()
    {
        test_job *job = running.front();
        running.erase(running.begin());
        drm_sched_job_done(*job);
    }
};

class drm_sched_test : public testing::Test {
protected:
    drm_sched_test()
    {
        gfx.ops = &gfx_hw;
        copy.ops = &copy_hw;
        for (drm_sched_entity *e : {&a, &b, &c})
            drm_sched_entity_init(*e, gfx);
        drm_sched_entity_init(k, copy);
    }
    fence_ref push(drm_sched_entity &e, char name, std::initializer_list<fence_ref> deps = {})
    {
        auto *job = new test_job(name);
        drm_sched_job_init(*job, e);
        for (const fence_ref &d : deps)
            drm_sched_job_add_dependency(*job, *d);
        drm_sched_job_arm(*job, nullptr);
        const fence_ref f = job->s_fence;
        drm_sched_entity_push_job(*job);
        return f;
    }
    void run()
    {
        while (drm_sched_run(gfx) || drm_sched_run(copy))
            ;
    }
    ~drm_sched_test() override
    {
        run();
        while (!gfx_hw.running.empty() || !copy_hw.running.empty()) {
            (copy_hw.running.empty() ? gfx_hw : copy_hw).end_first();
            run();
        }
        for (drm_sched_entity *e : {&a, &b, &c, &k})
            drm_sched_entity_fini(*e);
    }

    test_hw gfx_hw, copy_hw;
    drm_gpu_scheduler gfx, copy;
    drm_sched_entity a, b, c, k;
};

TEST_F(drm_sched_test, jobs_go_in_the_order_of_pushes_over_all_entities)
{
    push(b, '1');
    push(a, '2');
    push(b, '3');
    push(c, '4');
    push(a, '5');
    EXPECT_EQ(gfx.queued, 5u);
    run();
    EXPECT_EQ(gfx_hw.log, "12345");
    EXPECT_EQ(gfx.queued, 0u);
}

TEST_F(drm_sched_test, an_entity_that_waits_is_passed_and_comes_back_at_its_place)
{
    const fence_ref f = push(k, 'k');
    run();
    push(a, '1', {f});
    push(a, '2');
    push(b, '3');
    run();
    EXPECT_EQ(gfx_hw.log, "3"); // 2 is behind 1 in its entity
    push(b, '4', {f});
    push(c, '5');
    run();
    EXPECT_EQ(gfx_hw.log, "35");
    copy_hw.end_first();
    run();
    EXPECT_EQ(gfx_hw.log, "35124"); // by the age of the head jobs
}

TEST_F(drm_sched_test, a_dependency_on_the_same_scheduler_is_met_when_that_job_is_handed_over)
{
    const fence_ref copied = push(k, 'k');
    run();
    const fence_ref f = push(a, '1', {copied});
    push(b, '2', {f});
    run();
    EXPECT_EQ(gfx_hw.log, "");
    copy_hw.end_first();
    run();
    EXPECT_EQ(gfx_hw.log, "12");
    EXPECT_FALSE(f->signaled);
}

TEST_F(drm_sched_test, a_dependency_on_another_scheduler_has_to_finish)
{
    const fence_ref f = push(a, '1');
    push(k, 'k', {f});
    run();
    EXPECT_EQ(gfx_hw.log, "1");
    EXPECT_EQ(copy_hw.log, "");
    gfx_hw.end_first();
    EXPECT_TRUE(f->signaled);
    run();
    EXPECT_EQ(copy_hw.log, "k");
}

TEST_F(drm_sched_test, own_entity_is_no_dependency)
{
    const fence_ref f = push(k, '1');
    push(k, '2', {f});
    run();
    EXPECT_EQ(copy_hw.log, "12");
}

TEST_F(drm_sched_test, all_dependencies_count_one_after_another)
{
    const fence_ref f1 = push(a, '1');
    const fence_ref f2 = push(b, '2');
    push(k, 'k', {f2, f1});
    run();
    gfx_hw.end_first(); // 1
    run();
    EXPECT_EQ(copy_hw.log, "");
    gfx_hw.end_first(); // 2
    run();
    EXPECT_EQ(copy_hw.log, "k");
}

TEST_F(drm_sched_test, the_later_fence_of_a_context_is_kept)
{
    const fence_ref f1 = push(a, '1');
    const fence_ref f2 = push(a, '2');
    test_job j('x');
    drm_sched_job_init(j, k);
    drm_sched_job_add_dependency(j, *f2);
    drm_sched_job_add_dependency(j, *f1);
    ASSERT_EQ(j.dependencies.size(), 1u);
    EXPECT_EQ(j.dependencies[0].get(), f2.get());
    const fence_ref g = push(b, '3');
    drm_sched_job_add_dependency(j, *g);
    EXPECT_EQ(j.dependencies.size(), 2u);
}

TEST_F(drm_sched_test, sequence_numbers_count_armed_jobs_of_an_entity)
{
    EXPECT_EQ(push(a, '1')->seqno, 1u);
    EXPECT_EQ(push(b, '2')->seqno, 1u);
    EXPECT_EQ(push(a, '3')->seqno, 2u);
}

TEST_F(drm_sched_test, an_entity_with_jobs_cannot_go)
{
    push(a, '1');
    EXPECT_THROW(drm_sched_entity_fini(a), std::logic_error);
}

} // namespace
