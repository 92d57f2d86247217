// SPDX-License-Identifier: MIT
#include "report/explain_failed.h"

#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::report {

using events::event;
using events::event_type;

namespace {

// Conversions that may matter to the error of an operation: a chain is short, and the last ones made it.
constexpr std::size_t conversions_kept = 64;

std::string minus(int error)
{
    return "-" + error_name(error);
}

} // namespace

// Backwards from the error: who made it, and of what.
std::string failure_explainer::chain_of(const attempt &a, int error) const
{
    std::vector<std::string> links;
    int want = std::abs(error);
    for (auto it = a.conversions.rbegin(); it != a.conversions.rend(); ++it) {
        // What TTM's walks use between themselves has no event of its own: -EBUSY is "go on with the next",
        // and the end of all candidates makes it -ENOSPC.
        const bool busy = want == ENOSPC && it->to == EBUSY;
        if (it->to != want && !busy)
            continue;
        if (busy)
            links.push_back(minus(ENOSPC) + " in ttm_bo_alloc_resource");
        links.push_back(minus(it->to) + (it->where ? std::string(" in ") + it->where : ""));
        want = it->from;
    }
    std::string first = minus(want);
    if (want == EDEADLK && a.deadlk)
        first += " from the lock";
    else if (want == ENOSPC && a.wanted_bytes)
        first += " from the allocator: no space";
    else if (want == EAGAIN && a.charge)
        first += " from the cgroup's charge";
    links.push_back(first);
    std::reverse(links.begin(), links.end());
    std::string s;
    for (const std::string &l : links)
        s += (s.empty() ? "" : " → ") + l;
    return s;
}

std::string failure_explainer::example_of(const attempt &a)
{
    std::string s;
    if (a.wanted_bytes) {
        s = fmt::format("BO {} wanted {} of {}", a.wanted_bo,
                        format_bytes(static_cast<double>(a.wanted_bytes)), domain_names(a.wanted_domain));
        if (a.evicted)
            s += fmt::format("; {} evicted for it", a.evicted);
        const std::string reasons = skipped_words(a.skipped);
        if (!reasons.empty())
            s += "; victims skipped: " + reasons;
    }
    if (a.deadlk) {
        s += s.empty() ? "" : "; ";
        s += a.deadlk_bo ? fmt::format("BO {} was locked", a.deadlk_bo)
                         : fmt::format("VM {} was locked", a.deadlk_vm);
        if (a.deadlk_holder)
            s += fmt::format(" by {}, who is older", names_(a.deadlk_holder));
    }
    return s;
}

void failure_explainer::operation_ends(const event &e)
{
    const attempt a = std::move(attempts_[e.process]);
    attempts_.erase(e.process);
    if (!e.error)
        return;
    const std::string name(bos_.operation(e.process).name);
    const std::string chain = chain_of(a, e.error);
    const std::string key = fmt::format("{} {} {}", e.process, name, chain);
    const auto [it, is_new] = index_.emplace(key, failures_.size());
    if (is_new)
        failures_.push_back({e.time_ns, e.time_ns, 0, e.process, name, chain, example_of(a)});
    failure &f = failures_[it->second];
    f.last_ns = e.time_ns;
    f.count++;
}

void failure_explainer::record(const event &e)
{
    bos_.record(e);
    if (e.type == event_type::op_end) {
        operation_ends(e);
        bos_.forget_ended();
        return;
    }
    attempt *a = nullptr;
    switch (e.type) {
    case event_type::lock_deadlk:
    case event_type::error_converted:
    case event_type::alloc_failed:
    case event_type::charge_failed:
    case event_type::evict_begin:
    case event_type::evict_skipped:
        a = &attempts_[e.process];
        break;
    case event_type::op_begin:
        attempts_[e.process] = {};
        return;
    default:
        return;
    }
    if (e.type == event_type::lock_deadlk) {
        a->deadlk = true;
        a->deadlk_bo = e.bo;
        a->deadlk_vm = e.vm2;
        a->deadlk_holder = static_cast<u32>(e.a);
    } else if (e.type == event_type::error_converted) {
        if (a->conversions.size() == conversions_kept)
            a->conversions.erase(a->conversions.begin());
        a->conversions.push_back({static_cast<int>(e.a), std::abs(e.error), e.where, e.bo});
    } else if (e.type == event_type::evict_begin) {
        a->evicted += e.bo2 && e.bo2 == a->wanted_bo;
    } else if (e.type == event_type::evict_skipped) {
        if (e.bo2 && e.bo2 == a->wanted_bo)
            a->skipped[e.bo] = e.where ? e.where : "?";
    } else if (e.bo) {
        if (a->wanted_bo != e.bo) {
            a->skipped.clear();
            a->evicted = 0;
        }
        a->charge = e.type == event_type::charge_failed;
        a->wanted_bo = e.bo;
        a->wanted_bytes = a->charge ? e.c : e.b;
        a->wanted_domain = e.a;
    }
}

std::string failure_explainer::render(const painter &p) const
{
    if (failures_.empty())
        return "no operation failed\n";
    std::string out;
    for (const failure &f : failures_) {
        out += f.count == 1
                   ? fmt::format("{}: {} failed at {}\n", names_(f.process), f.operation,
                                 format_time(f.first_ns))
                   : fmt::format("{}: {} failed {} times from {} to {}\n", names_(f.process), f.operation,
                                 f.count, format_time(f.first_ns), format_time(f.last_ns));
        out += "  " + p.paint(f.chain, color::red) + "\n";
        if (!f.example.empty())
            out += fmt::format("  {}{}\n", f.count == 1 ? "" : "the first: ", f.example);
    }
    return out;
}

} // namespace vramlab::report
