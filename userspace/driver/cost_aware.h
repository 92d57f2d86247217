// SPDX-License-Identifier: MIT
// Who has a place in VRAM is decided by what not having one costs: bytes read over the link for each byte of
// VRAM, measured over the last second or so.
//
// Heat of a BO: bytes that jobs read of it over the link, or would have read were it not in VRAM, halved
// every half_life_ns. A new BO starts with as much as it has bytes: it was made to be used. Density: heat /
// size. Every plan_period_ns a VM's submission
//   - takes in, densest first, what has more heat than bytes (its move pays within about 1.4 half-lives), as
//     far as there is free VRAM,
//   - makes room for the next plan by moving out its own BOs of less than half that density, thinnest first,
//   - and has TTM evict others' of less than half that density, where its own are denser;
// up to plan_bytes_max each way, or one BO. Evictions take the thinnest of anybody's first, and only what is
// less than half as dense, unless the evictor can be nowhere but in VRAM. dmem protection is TTM's and
// applies.
//
// Needs what no driver has today: bytes read of each BO. Mainline's amdgpu knows what is listed, not what is
// touched.
#pragma once

#include "driver/planner.h"

#include <memory>
#include <unordered_map>

namespace vramlab::driver {

struct vttm_device;

class cost_aware_planner final : public planner {
public:
    static constexpr u64 half_life_ns = ns_per_s;
    static constexpr u64 plan_period_ns = 50'000'000;
    static constexpr u64 plan_bytes_max = 128 * MiB;

    explicit cost_aware_planner(const vttm_device &dev) : dev_(dev) {}

    void order(std::vector<kmd::ttm_buffer_object *> &candidates,
               const kmd::ttm_buffer_object *evictor) override;
    void created(const vttm_bo &bo) override;
    void freed(const vttm_bo &bo) override;
    bool due(const vttm_vm &vm) const override;
    vttm_plan plan(const vttm_vm &vm, const std::vector<vttm_bo *> &bos) override;
    u32 domains(const vttm_bo &bo) const override;
    void touched(const vttm_touch &t) override;

    u64 heat_bytes(const vttm_bo &bo) const; // now

private:
    struct warmth {
        u64 bytes = 0;
        u64 at_ns = 0;
    };
    struct weight {
        u64 heat_bytes;
        u64 size_bytes;
    };
    struct weighed : weight {
        vttm_bo *bo;
    };
    static bool thinner(const weight &a, const weight &b);
    static bool much_thinner(const weight &a, const weight &b);
    std::vector<weighed> weigh(const std::vector<vttm_bo *> &bos, bool inside) const;
    void take_in(vttm_plan &p, std::vector<weighed> &wanting) const;
    void make_room(vttm_plan &p, const std::vector<weighed> &wanting,
                   const std::vector<weighed> &having) const;

    const vttm_device &dev_;
    std::unordered_map<const vttm_bo *, warmth> warmth_; // looked up, never iterated
    std::unordered_map<u32, u64> next_plan_ns_;          // by serial of the VM; likewise
};

} // namespace vramlab::driver
