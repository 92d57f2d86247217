// SPDX-License-Identifier: MIT
#include "driver/vm.h"

#include <gtest/gtest.h>

using namespace vramlab;
using namespace vramlab::driver;

namespace {

TEST(handle_table, gives_the_lowest_free_number_from_one)
{
    std::vector<vttm_bo> bos(6);
    handle_table t;
    for (u64 i = 0; i < 5; i++) {
        bos[i].tag = 100 + i;
        EXPECT_EQ(t.create(bos[i]), i + 1);
    }
    EXPECT_EQ(t.find(103), 4u);
    EXPECT_EQ(t.find(99), 0u);
    const u64 generation = t.generation();
    EXPECT_EQ(t.remove(4), &bos[3]);
    t.remove(2);
    EXPECT_NE(t.generation(), generation);
    EXPECT_EQ(t.find(103), 0u);
    bos[5].tag = 105;
    EXPECT_EQ(t.create(bos[5]), 2u);
    EXPECT_EQ(t.create(bos[3]), 4u);
    EXPECT_EQ(t.create(bos[1]), 6u);
    EXPECT_EQ(t.end(), 7u);
}

// Places as amdgpu_bo_placement_from_domain() makes them.
TEST(placement_from_domain, order_and_flags)
{
    vttm_bo bo;
    bo.preferred_domains = domain_vram;
    vttm_placement p = vttm_bo_placement_from_domain(bo, domain_mask);
    ASSERT_EQ(p.count, 3u);
    EXPECT_EQ(p.places[0].mem_type, kmd::TTM_PL_VRAM);
    EXPECT_EQ(p.places[0].flags, kmd::TTM_PL_FLAG_TOPDOWN);
    EXPECT_EQ(p.places[1].mem_type, kmd::TTM_PL_TT);
    EXPECT_EQ(p.places[1].flags, 0u); // no fallback before the first placement
    EXPECT_EQ(p.places[2].mem_type, kmd::TTM_PL_SYSTEM);

    kmd::ttm_resource res;
    bo.resource = &res;
    bo.cpu_access = true;
    p = vttm_bo_placement_from_domain(bo, domain_vram | domain_gtt);
    ASSERT_EQ(p.count, 2u);
    EXPECT_EQ(p.places[0].flags, 0u);
    EXPECT_EQ(p.places[1].flags, kmd::TTM_PL_FLAG_FALLBACK);
    // Not if VRAM is not asked for, or not preferred.
    EXPECT_EQ(vttm_bo_placement_from_domain(bo, domain_gtt).places[0].flags, 0u);
    bo.preferred_domains = domain_gtt;
    EXPECT_EQ(vttm_bo_placement_from_domain(bo, domain_vram | domain_gtt).places[1].flags, 0u);

    p = vttm_bo_placement_from_domain(bo, 0);
    ASSERT_EQ(p.count, 1u);
    EXPECT_EQ(p.places[0].mem_type, kmd::TTM_PL_SYSTEM);
}

} // namespace
