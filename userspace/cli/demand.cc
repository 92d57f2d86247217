// SPDX-License-Identifier: MIT
#include "cli/demand.h"

#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace vramlab::cli {

namespace {

// What one process holds, operation by operation.
class holdings {
public:
    void apply(const request &r)
    {
        switch (r.kind) {
        case request_kind::bo_create:
            if (r.preferred & domain_vram)
                add(r.vm, r.bo, r.size_bytes);
            break;
        case request_kind::bo_destroy:
            remove(r.vm, r.bo);
            break;
        case request_kind::vm_close:
            for (const auto &[bo, bytes] : vms_[r.vm])
                now_ -= bytes;
            vms_.erase(r.vm);
            break;
        default:
            break;
        }
    }
    u64 most() const { return most_; }

private:
    void add(u32 vm, u64 bo, u64 bytes)
    {
        vms_[vm][bo] = bytes;
        now_ += bytes;
        most_ = std::max(most_, now_);
    }
    void remove(u32 vm, u64 bo)
    {
        auto &bos = vms_[vm];
        if (auto it = bos.find(bo); it != bos.end()) {
            now_ -= it->second;
            bos.erase(it);
        }
    }

    std::unordered_map<u32, std::unordered_map<u64, u64>>
        vms_; // bytes by BO, by VM; a shared BO is its creator's
    u64 now_ = 0;
    u64 most_ = 0;
};

} // namespace

std::vector<u64> vram_demands(const workload::workload &w)
{
    std::vector<holdings> processes;
    for (const workload::operation &op : w.operations) {
        if (op.kind != workload::op_kind::request && op.kind != workload::op_kind::begin)
            continue;
        if (processes.size() <= op.process)
            processes.resize(op.process + 1);
        processes[op.process].apply(op.req);
    }
    std::vector<u64> most;
    for (const holdings &h : processes)
        most.push_back(h.most());
    return most;
}

u64 vram_demand(const workload::workload &w)
{
    const std::vector<u64> most = vram_demands(w);
    return std::accumulate(most.begin(), most.end(), u64{0});
}

demand_solver::demand_solver(std::string file, const input &in, std::string parameter)
    : file_(std::move(file)), in_(in), parameter_(std::move(parameter))
{
    const workload::workload small = load_with(64 * MiB);
    vram_bytes_ = small.system.device.vram_size_bytes;
    first_ = 64 * MiB;
    first_demand_ = vram_demand(small);
    step_ = 64 * MiB;
    const u64 more = demand_with(first_ + step_);
    if (more <= first_demand_)
        throw std::runtime_error(
            fmt::format("{}: {} does not change how much video memory is wanted, expected a "
                        "parameter that is the size of something in VRAM",
                        file_, parameter_));
    step_demand_ = more - first_demand_;
}

workload::workload demand_solver::load_with(u64 value) const
{
    input in = in_;
    in.settings.push_back(fmt::format("{}={}", parameter_, value));
    return load(file_, in);
}

u64 demand_solver::value_for(u64 demand_bytes) const
{
    const u128 missing = demand_bytes > first_demand_ ? demand_bytes - first_demand_ : 0;
    const u64 value = (first_ + static_cast<u64>(missing * step_ / step_demand_)) & ~u64{4095};
    const u64 demand = demand_with(value);
    const u64 off = demand > demand_bytes ? demand - demand_bytes : demand_bytes - demand;
    if (off > vram_bytes_ / 100)
        throw std::runtime_error(
            fmt::format("{}: {} cannot make the demand {}: it is {} with {}, expected at least {}", file_,
                        parameter_, report::format_bytes(demand_bytes), report::format_bytes(demand),
                        report::format_bytes(value), report::format_bytes(first_demand_)));
    return value;
}

} // namespace vramlab::cli
