// SPDX-License-Identifier: MIT
#include "driver/policy.h"

#include "driver/bo.h"
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
    void order(std::vector<kmd::ttm_buffer_object *> &candidates) override
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

} // namespace

const std::vector<std::string_view> &policy_names()
{
    static const std::vector<std::string_view> names = {
        "mainline-7.3.4", "no-migration",   "random-victim",     "idle-victims",
        "all-gtt",        "protection-off", "scattered-scanout", "scanout-anywhere"};
    return names;
}

std::unique_ptr<policy> make_policy(std::string_view name, u64 seed)
{
    if (name == "mainline-7.3.4")
        return std::make_unique<policy>();
    if (name == "no-migration")
        return std::make_unique<no_migration>();
    if (name == "random-victim")
        return std::make_unique<random_victim>(seed);
    if (name == "idle-victims")
        return std::make_unique<idle_victims>();
    if (name == "all-gtt")
        return std::make_unique<all_gtt>();
    if (name == "protection-off")
        return std::make_unique<protection_off>();
    if (name == "scattered-scanout")
        return std::make_unique<scattered_scanout>();
    if (name == "scanout-anywhere")
        return std::make_unique<scanout_anywhere>();
    return nullptr;
}

} // namespace vramlab::driver
