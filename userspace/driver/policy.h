// SPDX-License-Identifier: MIT
// The seam for policies: the few decisions in which experiments differ from mainline. All else is TTM and
// amdgpu.
#pragma once

#include "base/mechanism_times.h"
#include "base/mechanisms.h"
#include "base/request.h"
#include "kmd/ttm_device.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::driver {

class planner;
struct vttm_bo;
struct vttm_device;

// The base class is mainline: amdgpu on TTM, as Linux 7.3.4 has it.
class policy {
public:
    virtual ~policy() = default;
    virtual const char *name() const { return "mainline-7.3.4"; }

    // Domains in which a new BO is placed.
    virtual u32 create_domains(const vttm_bo &bo) const;
    // Domains in which a submission wants a BO that is not pinned; within_budget: fewer bytes than the
    // threshold have been moved so far.
    virtual u32 submit_domains(const vttm_bo &bo, bool within_budget) const;
    // Another order of victims, nullptr for the LRU. Asked once for each device.
    virtual std::unique_ptr<kmd::ttm_walk_policy> victims() const { return nullptr; }
    // Books of a policy's own, nullptr for none; then there are no victims(). Asked once for each device.
    virtual std::unique_ptr<planner> make_planner(const vttm_device &) const;
    // Whether what is scanned out must be one physical range (and not just in VRAM).
    virtual bool scanout_contiguous() const { return true; }
    // Where what is scanned out may be.
    virtual u32 scanout_domains() const { return domain_vram; }
    // Which of the patches' mechanisms are on.
    virtual kmd::ttm_mechanisms mechanisms() const { return {}; }
    // Likewise, with the times that were set.
    kmd::ttm_mechanisms tuned_mechanisms() const;
    void set_times(const mechanism_times &t) { times_ = t; }
    // The same for a kernel, if it can do what the policy says: mainline, and the mechanisms alone or
    // together.
    virtual std::optional<vramlab::mechanisms> kernel_mechanisms() const { return std::nullopt; }
    // Whether dmem min and low do nothing.
    virtual bool ignore_protection() const { return false; }

private:
    mechanism_times times_;
};

// nullptr if there is none of that name (policy_names()). seed: of what is drawn, if anything.
std::unique_ptr<policy> make_policy(std::string_view name, u64 seed = 1);
// A line for people; empty if there is none of that name.
std::string_view policy_description(std::string_view name);
const std::vector<std::string_view> &policy_names();

} // namespace vramlab::driver
