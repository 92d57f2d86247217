// SPDX-License-Identifier: MIT
// For tests of the executor: a backend with locks that can deadlock and an engine that runs one job after
// another, but no memory. A submission takes the locks of its list one by one, parks before each, and drops
// them at its end.
#pragma once

#include "backend/memory_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace vramlab::runner {

class fake_backend : public backend::memory_backend {
public:
    using task_state = backend::task_state;

    std::vector<std::string> calls; // "submit 1", "pin 7", ... as they take effect
    int pin_error = 0;
    bool endless = false; // a task never ends

    void reset(const system_config &) override
    {
        calls.clear();
        tasks_.clear();
        locks_.clear();
        lists_.clear();
        jobs_.clear();
        now_ns_ = 0;
    }
    result execute(const request &r) override
    {
        if (!tasks_.empty())
            throw std::runtime_error("execute with a task under way");
        return apply(r);
    }
    task_state begin(const request &r) override
    {
        tasks_[r.process] = {r, 0, {}, {}, false};
        return state_of(r.process);
    }
    task_state step(u32 process) override
    {
        task &t = tasks_.at(process);
        if (endless)
            return task_state::parked;
        const auto &list = wanted(t.r);
        if (t.pos < list.size()) {
            locks_[list[t.pos++]] = process;
        } else {
            t.res = apply(t.r);
            t.ended = true;
            std::erase_if(locks_, [&](const auto &l) { return l.second == process; });
        }
        return state_of(process);
    }
    task_state state_of(u32 process) override
    {
        auto it = tasks_.find(process);
        if (it == tasks_.end() || it->second.ended)
            return task_state::idle;
        const auto &list = wanted(it->second.r);
        const bool blocked = it->second.pos < list.size() && locks_.contains(list[it->second.pos]);
        return blocked ? task_state::blocked : task_state::parked;
    }
    result take_result(u32 process) override
    {
        const result res = tasks_.at(process).res;
        tasks_.erase(process);
        return res;
    }
    u64 now_ns() override { return now_ns_; }
    u64 next_event_ns() override
    {
        for (const job &j : jobs_)
            if (j.end_ns > now_ns_)
                return j.end_ns;
        return never_ns;
    }
    void advance(u64 to_ns) override { now_ns_ = std::max(now_ns_, to_ns); }
    bool signaled(u32 vm, u64 seqno) override
    {
        return std::all_of(jobs_.begin(), jobs_.end(), [&](const job &j) {
            return j.vm != vm || j.seqno > seqno || j.end_ns <= now_ns_;
        });
    }
    int evict_all() override { return note("evict_all"), 0; }
    int swapout() override { return note("swapout"), 0; }
    int set_limits(const cgroup_config &c) override { return note("set_limits " + c.path), 0; }
    backend::usage query_usage() override { return {}; }
    std::string state() override { return fmt::format("clock {}\n", now_ns_); }
    void set_event_sink(events::event_sink *) override {}

private:
    struct task {
        request r;
        std::size_t pos = 0;
        std::vector<u64> held;
        result res;
        bool ended = false;
    };
    struct job {
        u32 vm;
        u64 seqno;
        u64 end_ns;
    };

    const std::vector<u64> &wanted(const request &r)
    {
        return lists_[{r.vm, r.kind == request_kind::submit ? r.list : 0}];
    }
    void note(std::string s) { calls.push_back(fmt::format("{}: {}", now_ns_, s)); }
    result apply(const request &r)
    {
        result res;
        switch (r.kind) {
        case request_kind::submit: {
            for (const job &j : jobs_)
                res.seqno += j.vm == r.vm;
            res.seqno++;
            const u64 start_ns = jobs_.empty() ? now_ns_ : std::max(now_ns_, jobs_.back().end_ns);
            jobs_.push_back({r.vm, res.seqno, start_ns + r.compute_ns});
            note(fmt::format("submit {} #{}", r.process, res.seqno));
            break;
        }
        case request_kind::wait:
            for (const job &j : jobs_)
                if (j.vm == r.vm && (!r.seqno || j.seqno <= r.seqno))
                    now_ns_ = std::max(now_ns_, j.end_ns);
            note(fmt::format("wait {}", r.process));
            break;
        case request_kind::list_define:
            lists_[{r.vm, r.id}] = r.bos;
            break;
        case request_kind::pin:
            res.error = pin_error;
            note(fmt::format("pin {}", r.bo));
            break;
        case request_kind::unpin:
            note(fmt::format("unpin {}", r.bo));
            break;
        default:
            break;
        }
        return res;
    }

    std::map<u32, task> tasks_;
    std::map<u64, u32> locks_; // bo -> process
    std::map<std::pair<u32, u32>, std::vector<u64>> lists_;
    std::vector<job> jobs_;
    u64 now_ns_ = 0;
};

} // namespace vramlab::runner
