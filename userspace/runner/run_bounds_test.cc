// SPDX-License-Identifier: MIT
// Is a run that cannot be true found out? A backend with a planted fault: it reads nothing of what it must.
#include "runner/experiment.h"
#include "runner/fake_backend.h"

#include <gtest/gtest.h>

namespace vramlab::runner {
namespace {

// Tells of each job that it read so many bytes over the link.
class telling_backend final : public fake_backend {
public:
    explicit telling_backend(u64 bytes) : bytes_(bytes) {}

    void set_event_sink(events::event_sink *sink) override { sink_ = sink; }
    result execute(const request &r) override
    {
        const result res = fake_backend::execute(r);
        if (r.kind == request_kind::submit)
            sink_->record({.b = res.seqno,
                           .c = bytes_,
                           .vm = r.vm,
                           .process = r.process,
                           .type = events::event_type::job_start});
        return res;
    }

private:
    u64 bytes_;
    events::event_sink *sink_ = nullptr;
};

workload::workload one_remote_read()
{
    workload::workload w;
    w.system.processes = {{1, "app", ""}};
    const auto add = [&](request r) {
        workload::operation op;
        op.kind = workload::op_kind::request;
        op.process = r.process = 1;
        r.vm = 1;
        op.req = std::move(r);
        w.operations.push_back(std::move(op));
    };
    add({.kind = request_kind::bo_create, .bo = 1, .size_bytes = 4096, .preferred = domain_gtt});
    add({.kind = request_kind::touch_define, .id = 1, .touches = {{1, 100, 1000}}});
    add({.kind = request_kind::submit, .touch_set = 1});
    return w;
}

experiment run_telling(u64 bytes)
{
    telling_backend b(bytes);
    return run_experiment(one_remote_read(), b, {.bounds = true});
}

TEST(run_bounds, a_run_that_read_what_it_must_is_good)
{
    const experiment x = run_telling(1000);
    ASSERT_TRUE(x.bounds);
    EXPECT_EQ(x.bounds->submissions, 1u);
    EXPECT_EQ(x.bounds->link_read_bytes, 1000u);
    EXPECT_EQ(x.bounds->link.lower_bytes, 1000u);
    EXPECT_TRUE(x.good());
}

TEST(run_bounds, a_run_that_read_less_than_it_must_is_found_out)
{
    const experiment x = run_telling(999);
    EXPECT_FALSE(x.good());
    ASSERT_EQ(x.run.failures.size(), 1u);
    EXPECT_EQ(x.run.failures[0].invariant, "bound");
    EXPECT_NE(x.run.failures[0].message.find("999 bytes"), std::string::npos);
    EXPECT_NE(x.run.failures[0].message.find("lower bound of 1000"), std::string::npos);
}

TEST(run_bounds, nobody_asked)
{
    telling_backend b(0);
    const experiment x = run_experiment(one_remote_read(), b);
    EXPECT_FALSE(x.bounds);
    EXPECT_TRUE(x.good());
}

TEST(run_bounds, what_tables_show)
{
    EXPECT_EQ(times_lower(150, 100, true), "1.50");
    EXPECT_EQ(times_lower(0, 0, true), "1.00");
    EXPECT_EQ(times_lower(5, 0, true), "-");
    EXPECT_EQ(times_lower(150, 100, false), "unknown");
}

} // namespace
} // namespace vramlab::runner
