// SPDX-License-Identifier: MIT
// Does a trace of every shipped scenario give back the very events of the run, and does what gpuvis draws
// agree with them?
#include "backend/sim_backend.h"
#include "gputrace/job_tracker.h"
#include "report/gpuvis_events.h"
#include "runner/experiment.h"
#include "trace/reader.h"
#include "workload/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

using namespace vramlab;
using events::event;
using events::event_type;

namespace {

// A sum over all fields of all events, in order: a run has millions.
class digest final : public events::event_sink {
public:
    void record(const event &e) override
    {
        for (const u64 v : {e.time_ns, e.bo, e.bo2, e.a, e.b, e.c, u64{e.vm}, u64{e.vm2}, u64{e.process},
                            static_cast<u64>(e.error), static_cast<u64>(e.type), u64{e.flag}})
            add(v);
        for (const char *c = e.where ? e.where : ""; *c; c++)
            add(static_cast<u8>(*c));
        jobs += e.type == event_type::job_end;
        count++;
    }

    u64 value = 0xcbf29ce484222325;
    u64 count = 0;
    u64 jobs = 0;

private:
    void add(u64 v) { value = (value ^ v) * 0x100000001b3 + (value >> 47); }
};

std::vector<std::string> scenarios()
{
    std::vector<std::string> out;
    for (const auto &entry : std::filesystem::directory_iterator(VRAMLAB_SCENARIO_DIR))
        if (entry.path().extension() == ".toml")
            out.push_back(entry.path().string());
    std::sort(out.begin(), out.end());
    return out;
}

// The games' runs hold tens of millions of skipped BOs: a sixteenth of the memory, until the game has begun
// to draw and to evict.
std::vector<workload::setting> shorter(const std::string &path)
{
    if (!std::filesystem::path(path).stem().string().starts_with("game"))
        return {};
    return {{"scale", "16"}, {"duration", "1100ms"}};
}

class round_trip : public testing::TestWithParam<std::string> {};

TEST_P(round_trip, events_come_back)
{
    const workload::workload w = workload::load(GetParam(), shorter(GetParam()));
    backend::sim_backend backend(driver::make_policy(std::string(driver::policy_names().front()), 1));
    std::FILE *f = std::tmpfile();
    ASSERT_TRUE(f);
    report::gpuvis_events trace(f, {w.system.processes, {}, "test"});
    digest run, back;
    runner::experiment_options o;
    o.sinks = {&run, &trace};
    run_experiment(w, backend, o);
    trace.finish();

    const auto reader = trace::open_trace(trace::source_of(f));
    report::event_record_decoder records;
    gputrace::gpu_decoder decoder;
    gputrace::job_tracker jobs;
    event e;
    for (trace::record r; reader->next(r);) {
        if (records.decode(r, e))
            back.record(e);
        jobs.take(decoder.decode(r), r.time_ns, r.pid);
    }
    EXPECT_EQ(reader->damages().count(), 0u);
    EXPECT_GT(run.count, 20u);
    EXPECT_EQ(back.count, run.count);
    EXPECT_EQ(back.value, run.value);
    EXPECT_EQ(jobs.counts().done, run.jobs);
    EXPECT_EQ(jobs.counts().out_of_order + jobs.counts().without_queue + jobs.counts().without_run, 0u);
}

INSTANTIATE_TEST_SUITE_P(shipped, round_trip, testing::ValuesIn(scenarios()), [](const auto &p) {
    std::string name = std::filesystem::path(p.param).stem().string();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace
