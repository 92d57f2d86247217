// SPDX-License-Identifier: MIT
#include "driver/policy.h"

#include "driver/bo.h"
#include "driver/cost_aware.h"
#include "kmd/ttm_bo.h"

namespace vramlab::driver {

u32 policy::create_domains(const vttm_bo &bo) const
{
    return bo.preferred_domains;
}

// amdgpu_cs_bo_validate()
u32 policy::submit_domains(const vttm_bo &bo, bool within_budget) const
{
    return within_budget ? bo.preferred_domains : bo.allowed_domains;
}

std::unique_ptr<planner> policy::make_planner(const vttm_device &) const
{
    return nullptr;
}

kmd::ttm_mechanisms policy::tuned_mechanisms() const
{
    kmd::ttm_mechanisms m = mechanisms();
    m.throttle_strong_ns = times_.throttle_strong_ms * ns_per_ms;
    m.throttle_weak_ns = times_.throttle_weak_ms * ns_per_ms;
    return m;
}

namespace {

// A BO stays where it is as long as its domain is allowed: what was evicted is used from GTT for ever.
class no_migration final : public policy {
public:
    const char *name() const override { return "no-migration"; }
    u32 submit_domains(const vttm_bo &bo, bool within_budget) const override
    {
        const u32 here = vttm_domain_of(bo.resource);
        return here & bo.allowed_domains ? here : policy::submit_domains(bo, within_budget);
    }
};

// Whatever can be in GTT is: the cost of not having VRAM.
class all_gtt final : public policy {
public:
    const char *name() const override { return "all-gtt"; }
    u32 create_domains(const vttm_bo &bo) const override
    {
        return bo.allowed_domains & domain_gtt ? domain_gtt : policy::create_domains(bo);
    }
    u32 submit_domains(const vttm_bo &bo, bool within_budget) const override
    {
        return bo.allowed_domains & domain_gtt ? domain_gtt : policy::submit_domains(bo, within_budget);
    }
};

class amdgpu_on_ttm final : public policy {
public:
    std::optional<vramlab::mechanisms> kernel_mechanisms() const override { return vramlab::mechanisms{}; }
};

class random_victim final : public policy {
public:
    explicit random_victim(u64 seed) : seed_(seed) {}
    const char *name() const override { return "random-victim"; }
    std::unique_ptr<kmd::ttm_walk_policy> victims() const override
    {
        return std::make_unique<kmd::ttm_random_walk>(seed_);
    }

private:
    u64 seed_;
};

// Eviction as it would be without pipelining: a BO that a job, copy or fill still uses is no victim.
class idle_walk final : public kmd::ttm_walk_policy {
public:
    void order(std::vector<kmd::ttm_buffer_object *> &candidates, const kmd::ttm_buffer_object *) override
    {
        std::erase_if(candidates, [](kmd::ttm_buffer_object *bo) {
            if (kmd::dma_resv_test_signaled(*bo->resv, kmd::dma_resv_usage::bookkeep))
                return false;
            kmd::ttm_bo_put(bo); // the walk's reference
            return true;
        });
    }
};

class idle_victims final : public policy {
public:
    const char *name() const override { return "idle-victims"; }
    std::unique_ptr<kmd::ttm_walk_policy> victims() const override { return std::make_unique<idle_walk>(); }
};

// The patches' mechanisms on mainline's policy.
class patched final : public policy {
public:
    patched(std::string_view name, kmd::ttm_mechanisms mechanisms) : name_(name), mechanisms_(mechanisms) {}
    const char *name() const override { return name_.c_str(); }
    kmd::ttm_mechanisms mechanisms() const override { return mechanisms_; }
    std::optional<vramlab::mechanisms> kernel_mechanisms() const override
    {
        if (mechanisms_.throttle_protected)
            return std::nullopt;
        return vramlab::mechanisms{.retry = mechanisms_.retry,
                                   .throttle = mechanisms_.throttle,
                                   .priority = mechanisms_.priority,
                                   .contig_range = mechanisms_.contig_range};
    }

private:
    std::string name_;
    kmd::ttm_mechanisms mechanisms_;
};

class cost_aware final : public policy {
public:
    const char *name() const override { return "cost-aware"; }
    std::unique_ptr<planner> make_planner(const vttm_device &dev) const override
    {
        return std::make_unique<cost_aware_planner>(dev);
    }
};

class protection_off final : public policy {
public:
    const char *name() const override { return "protection-off"; }
    bool ignore_protection() const override { return true; }
};

// A display engine behind page tables: any VRAM will do for scanout.
class scattered_scanout final : public policy {
public:
    const char *name() const override { return "scattered-scanout"; }
    bool scanout_contiguous() const override { return false; }
};

// A display engine that reaches system memory too, as in an APU.
class scanout_anywhere final : public policy {
public:
    const char *name() const override { return "scanout-anywhere"; }
    bool scanout_contiguous() const override { return false; }
    u32 scanout_domains() const override { return domain_vram | domain_gtt; }
};

struct entry {
    std::string_view name;
    std::string_view description;
    std::unique_ptr<policy> (*make)(const entry &e, u64 seed);
};

template <typename P> std::unique_ptr<policy> make(const entry &, u64)
{
    return std::make_unique<P>();
}

const entry entries[] = {
    {"mainline-7.3.4", "TTM as amdgpu uses it; what the kernel does (also: mainline)", make<amdgpu_on_ttm>},
    {"no-migration", "submissions leave a BO where it is, if that is allowed", make<no_migration>},
    {"random-victim", "evicts in random order instead of the LRU's",
     [](const entry &, u64 seed) -> std::unique_ptr<policy> {
         return std::make_unique<random_victim>(seed);
     }},
    {"idle-victims", "evicts only what is idle: nothing is moved behind a job", make<idle_victims>},
    {"all-gtt", "keeps out of VRAM what may be elsewhere", make<all_gtt>},
    {"cost-aware", "keeps in VRAM what is read most a byte, measured; no driver counts that today",
     make<cost_aware>},
    {"protection-off", "dmem min and low do nothing", make<protection_off>},
    {"scattered-scanout", "scanout needs VRAM, but no single range", make<scattered_scanout>},
    {"scanout-anywhere", "scanout works from GTT too", make<scanout_anywhere>},
    {"retry", "evictions lock in the submission's transaction, which starts over where it contends",
     [](const entry &e, u64) -> std::unique_ptr<policy> {
         return std::make_unique<patched>(e.name, kmd::ttm_mechanisms{.retry = true});
     }},
    {"throttle", "who lost memory to others does not fight for it at once",
     [](const entry &e, u64) -> std::unique_ptr<policy> {
         return std::make_unique<patched>(e.name, kmd::ttm_mechanisms{.throttle = true});
     }},
    {"priority", "a VM loses BOs in the order of their priorities, and higher ones replace lower ones",
     [](const entry &e, u64) -> std::unique_ptr<policy> {
         return std::make_unique<patched>(e.name, kmd::ttm_mechanisms{.priority = true});
     }},
    {"contig-range", "what must be one range evicts what is in the way of the cheapest one",
     [](const entry &e, u64) -> std::unique_ptr<policy> {
         return std::make_unique<patched>(e.name, kmd::ttm_mechanisms{.contig_range = true});
     }},
    {"patched", "all mechanisms of kernel/patches",
     [](const entry &e, u64) -> std::unique_ptr<policy> {
         return std::make_unique<patched>(
             e.name,
             kmd::ttm_mechanisms{.retry = true, .throttle = true, .priority = true, .contig_range = true});
     }},
    {"throttle-protected", "throttle, but dmem protection evicts in the weak phase nevertheless",
     [](const entry &e, u64) -> std::unique_ptr<policy> {
         return std::make_unique<patched>(e.name,
                                          kmd::ttm_mechanisms{.throttle = true, .throttle_protected = true});
     }},
};

const entry *find(std::string_view name)
{
    for (const entry &e : entries)
        if (e.name == name)
            return &e;
    return nullptr;
}

} // namespace

const std::vector<std::string_view> &policy_names()
{
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> n;
        for (const entry &e : entries)
            n.push_back(e.name);
        return n;
    }();
    return names;
}

std::string_view policy_description(std::string_view name)
{
    const entry *e = find(name);
    return e ? e->description : "";
}

std::unique_ptr<policy> make_policy(std::string_view name, u64 seed)
{
    const entry *e = find(name);
    return e ? e->make(*e, seed) : nullptr;
}

} // namespace vramlab::driver
