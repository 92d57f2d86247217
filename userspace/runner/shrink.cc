// SPDX-License-Identifier: MIT
#include "runner/shrink.h"

#include <algorithm>
#include <map>
#include <set>

namespace vramlab::runner {

namespace {

using workload::op_kind;
using workload::operation;

class shrinker {
public:
    shrinker(workload::workload w, const std::function<bool(const workload::workload &)> &fails,
             const shrink_options &o)
        : best_(std::move(w)), fails_(fails), o_(o)
    {
    }
    workload::workload run();

private:
    bool accept(const workload::workload &candidate);
    bool drop_operations();
    bool drop_elements();
    bool simplify_orders();
    void drop_unused();
    bool out_of_runs() const { return runs_ >= o_.runs_max; }

    workload::workload best_;
    const std::function<bool(const workload::workload &)> &fails_;
    const shrink_options &o_;
    u32 runs_ = 0;
};

bool shrinker::accept(const workload::workload &candidate)
{
    if (out_of_runs())
        return false;
    runs_++;
    if (!fails_(candidate))
        return false;
    best_ = candidate;
    if (o_.progress)
        o_.progress(runs_, best_.operations.size());
    return true;
}

// From halves to single operations, from the back: what is needed was made first.
bool shrinker::drop_operations()
{
    bool any = false;
    for (std::size_t chunk = std::max<std::size_t>(1, best_.operations.size() / 2); chunk > 0; chunk /= 2) {
        std::size_t end = best_.operations.size();
        while (end > 0 && !out_of_runs()) {
            const std::size_t begin = end > chunk ? end - chunk : 0;
            workload::workload candidate = best_;
            candidate.operations.erase(candidate.operations.begin() + static_cast<std::ptrdiff_t>(begin),
                                       candidate.operations.begin() + static_cast<std::ptrdiff_t>(end));
            candidate = make_well_formed(candidate);
            if (candidate.operations.size() < best_.operations.size() && accept(candidate)) {
                any = true;
                end = std::min(begin, best_.operations.size());
            } else {
                end = begin;
            }
        }
    }
    return any;
}

bool shrinker::drop_elements()
{
    bool any = false;
    for (std::size_t i = 0; i < best_.operations.size(); i++) {
        const auto drop_from = [&](auto member) {
            for (std::size_t n = (best_.operations[i].req.*member).size(); n-- > 0 && !out_of_runs();) {
                workload::workload candidate = best_;
                auto &elements = candidate.operations[i].req.*member;
                elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(n));
                any |= accept(make_well_formed(candidate)) && i < best_.operations.size();
                if (i >= best_.operations.size() || n > (best_.operations[i].req.*member).size())
                    return;
            }
        };
        drop_from(&request::bos);
        if (i < best_.operations.size())
            drop_from(&request::touches);
    }
    return any;
}

// Plain requests instead of begun ones, plain BOs instead of special ones.
bool shrinker::simplify_orders()
{
    bool any = false;
    const auto try_edit = [&](std::size_t i, auto edit) {
        workload::workload candidate = best_;
        edit(candidate.operations[i]);
        if (candidate.operations[i].kind == best_.operations[i].kind &&
            candidate.operations[i].req == best_.operations[i].req)
            return;
        candidate = make_well_formed(candidate);
        if (candidate.operations.size() <= best_.operations.size())
            any |= accept(candidate);
    };
    for (std::size_t i = 0; i < best_.operations.size() && !out_of_runs(); i++) {
        try_edit(i, [](operation &op) { op.kind = op.kind == op_kind::begin ? op_kind::request : op.kind; });
        if (i < best_.operations.size() && best_.operations[i].req.kind == request_kind::bo_create) {
            try_edit(i, [](operation &op) { op.req.flags = 0; });
            try_edit(i, [](operation &op) { op.req.priority = priority_default; });
            try_edit(i, [](operation &op) { op.req.allowed = 0; });
        }
        if (i < best_.operations.size() && best_.operations[i].req.kind == request_kind::submit)
            try_edit(i, [](operation &op) { op.req.compute_ns = 0; });
    }
    return any;
}

// Processes keep their order, so that ties go the same way.
void shrinker::drop_unused()
{
    workload::workload candidate = best_;
    std::set<u32> used;
    for (const operation &op : candidate.operations) {
        used.insert(op.process);
        used.insert(op.req.process);
    }
    std::map<u32, u32> numbers;
    std::vector<process_config> kept;
    for (process_config p : candidate.system.processes)
        if (used.contains(p.process)) {
            numbers[p.process] = static_cast<u32>(kept.size()) + 1;
            p.process = numbers[p.process];
            kept.push_back(std::move(p));
        }
    if (!kept.empty() && kept.size() < candidate.system.processes.size()) {
        candidate.system.processes = kept;
        for (operation &op : candidate.operations) {
            op.process = numbers[op.process];
            op.req.process = numbers[op.req.process];
        }
        accept(candidate);
    }
    for (std::size_t i = best_.system.cgroups.size(); i-- > 0;) {
        candidate = best_;
        const std::string path = candidate.system.cgroups[i].path;
        candidate.system.cgroups.erase(candidate.system.cgroups.begin() + static_cast<std::ptrdiff_t>(i));
        const bool parent =
            std::any_of(candidate.system.cgroups.begin(), candidate.system.cgroups.end(),
                        [&](const cgroup_config &c) { return c.path.starts_with(path + "/"); });
        if (parent)
            continue;
        for (process_config &p : candidate.system.processes)
            if (p.cgroup == path)
                p.cgroup.clear();
        accept(make_well_formed(candidate));
    }
}

workload::workload shrinker::run()
{
    if (best_.order != workload::order_kind::file)
        return best_;
    while (drop_operations() && !out_of_runs())
        ;
    drop_unused();
    if (drop_elements())
        drop_operations();
    if (simplify_orders())
        drop_operations();
    drop_unused();
    for (u32 i = 0; i < best_.operations.size(); i++)
        best_.operations[i].line = i + 2; // of the file it will be written to
    return best_;
}

} // namespace

workload::workload shrink(workload::workload w, const std::function<bool(const workload::workload &)> &fails,
                          const shrink_options &options)
{
    return shrinker(std::move(w), fails, options).run();
}

} // namespace vramlab::runner
