// SPDX-License-Identifier: MIT
// Does allocation by range do what the kernel's own tests ask? gpu_test_buddy_alloc_range and
// gpu_test_buddy_alloc_range_bias of drivers/gpu/tests/gpu_buddy_test.c of Linux 7.3.4, each part by itself;
// the random parts with fixed seeds.
#include "kmd/gpu_buddy_test_helpers.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

namespace vramlab::kmd {
namespace {

constexpr u64 ps = SZ_4K;
constexpr u32 range_flag = GPU_BUDDY_RANGE_ALLOCATION;

u64 round_up_to(u64 n, u64 power_of_two)
{
    return (n + power_of_two - 1) & ~(power_of_two - 1);
}

class gpu_buddy_kunit_range : public gpu_buddy_test, public ::testing::WithParamInterface<u32> {
protected:
    int alloc_exact(u64 start, u64 end, gpu_buddy_list &to) { return alloc(start, end, end - start, ps, to); }
    u64 below(u64 n) { return n ? prng() % n : 0; }
    // Of 0 .. n bytes, in whole pages, at least one.
    u64 random_size(u64 n, u64 page) { return std::max(round_up_to(below(n), page), page); }

    std::mt19937 prng{GetParam()};
    gpu_buddy_list list, none;
};

INSTANTIATE_TEST_SUITE_P(seeds, gpu_buddy_kunit_range, ::testing::Values(1u, 2u, 3u, 0xfeedu, 0xc0ffeeu));

TEST_P(gpu_buddy_kunit_range, alloc_range_whole)
{
    init(16 * MiB);
    ASSERT_EQ(alloc_exact(0, mm.size, list), 0);
    EXPECT_EQ(total(list), mm.size);
    EXPECT_EQ(mm.avail, 0u);
    EXPECT_NE(alloc_exact(0, ps, none), 0);
    free_list(list);
    EXPECT_EQ(mm.avail, mm.size);
    for (u64 i = 0; i < 4; i++)
        ASSERT_EQ(alloc_exact(i * 4 * MiB, (i + 1) * 4 * MiB, list), 0);
    EXPECT_EQ(mm.avail, 0u);
    free_list(list);
    for (const u64 start : {u64{0}, mm.size / 2, mm.size - ps})
        ASSERT_EQ(alloc_exact(start, start + ps, list), 0);
    EXPECT_EQ(total(list), 3 * ps);
    free_list(list);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_multiple_roots)
{
    init(7 * MiB);
    EXPECT_EQ(mm.n_roots, 3u);
    ASSERT_EQ(alloc_exact(0, 4 * MiB, list), 0);
    ASSERT_EQ(alloc_exact(4 * MiB, 6 * MiB, list), 0);
    ASSERT_EQ(alloc_exact(6 * MiB, 7 * MiB, list), 0);
    EXPECT_EQ(mm.avail, 0u);
    free_list(list);
    ASSERT_EQ(alloc_exact(0, mm.size, list), 0);
    EXPECT_EQ(mm.avail, 0u);
    free_list(list);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_random_slices)
{
    constexpr u32 n = 16;
    init(16 * MiB);
    std::vector<u64> bounds{0};
    for (u32 i = 0; i < n - 1; i++)
        bounds.push_back(bounds.back() + random_size(mm.size - bounds.back() - (n - 1 - i) * ps, ps));
    bounds.push_back(mm.size);
    std::vector<u32> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), prng);
    for (const u32 i : order)
        ASSERT_EQ(alloc_exact(bounds[i], bounds[i + 1], list), 0) << bounds[i];
    EXPECT_EQ(mm.avail, 0u);
    free_list(list);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_taken)
{
    init(16 * MiB);
    ASSERT_EQ(alloc_exact(0, 8 * MiB, list), 0);
    EXPECT_NE(alloc_exact(0, 16 * MiB, none), 0);
    EXPECT_NE(alloc_exact(0, 8 * MiB, none), 0);
    ASSERT_EQ(alloc_exact(8 * MiB, 16 * MiB, list), 0);
    EXPECT_EQ(mm.avail, 0u);
    free_list(list);
    fini();

    init(64 * KiB);
    for (u64 start = 0; start < mm.size; start += 2 * ps)
        ASSERT_EQ(alloc_exact(start, start + ps, list), 0);
    EXPECT_NE(alloc_exact(0, 2 * ps, none), 0);
    ASSERT_EQ(alloc_exact(ps, 2 * ps, list), 0);
    EXPECT_TRUE(none.empty());
    free_list(list);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_misaligned)
{
    init(16 * MiB);
    EXPECT_EQ(alloc_exact(ps / 2, ps / 2 + ps, none), -EINVAL);
    EXPECT_EQ(alloc_exact(0, ps + 1, none), -EINVAL);
    EXPECT_EQ(alloc_exact(mm.size, mm.size + ps, none), -EINVAL);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_again)
{
    init(16 * MiB);
    for (u32 i = 0; i < 5; i++) {
        ASSERT_EQ(alloc_exact(4 * MiB, 6 * MiB, list), 0);
        gpu_buddy_for_each_block(mm, list, [&](const gpu_buddy_block &b) {
            EXPECT_GE(gpu_buddy_block_offset(b), 4 * MiB);
            EXPECT_LE(gpu_buddy_block_offset(b) + gpu_buddy_block_size(mm, b), 6 * MiB);
        });
        EXPECT_EQ(total(list), 2 * MiB);
        free_list(list);
    }
    for (const u64 size : {4 * KiB, 64 * KiB, MiB, 4 * MiB}) {
        const u64 start = size == 4 * KiB ? 0 : size;
        ASSERT_EQ(alloc_exact(start, start + size, list), 0);
    }
    EXPECT_EQ(total(list), 4 * KiB + 64 * KiB + MiB + 4 * MiB);
    free_list(list);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_bias_uniform)
{
    constexpr u64 bias_size = MiB;
    const u64 page = std::max(ps, std::bit_ceil(1 + below(bias_size - 1)));
    init((8 * MiB - 1) & ~(page - 1), page);
    std::vector<u64> order(mm.size / bias_size);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), prng);
    for (const u64 i : order) {
        const u64 start = i * bias_size;
        const u64 end = start + bias_size;
        gpu_buddy_list tmp;
        EXPECT_NE(alloc(start, end, bias_size + page, bias_size, none, range_flag), 0);
        EXPECT_NE(alloc(start, end, bias_size + page, page, none, range_flag), 0);
        EXPECT_NE(alloc(start + page, end, bias_size, page, none, range_flag), 0);
        EXPECT_NE(alloc(start + page, end - page, bias_size / 2, bias_size / 2, none, range_flag), 0);
        ASSERT_EQ(alloc(start, end, bias_size, bias_size, tmp, range_flag), 0);
        free_list(tmp);
        ASSERT_EQ(alloc(start, end, page, bias_size, tmp, range_flag), 0); // rounded up, then trimmed
        free_list(tmp);

        const u64 size = random_size(bias_size, page);
        ASSERT_EQ(alloc(start, end, size, page, tmp, range_flag), 0);
        const u64 rest = bias_size - size;
        EXPECT_NE(alloc(start, end, rest + page, page, none, range_flag), 0);
        if (rest) {
            ASSERT_EQ(alloc(start, end, random_size(rest, page), page, list, range_flag), 0);
            free_list(tmp);
        } else {
            gpu_buddy_list_splice_tail(mm, tmp, list);
        }
    }
    free_list(list);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_bias_growing)
{
    const u64 page = ps << below(5);
    init((8 * MiB - 1) & ~(page - 1), page);
    u64 start = round_up_to(below(mm.size - page), page);
    u64 end = std::max(round_up_to(start + below(mm.size - start), page), start + page);
    u64 rest = end - start;
    while (rest) {
        const u64 size = random_size(rest, page);
        ASSERT_EQ(alloc(start, end, size, page, list, range_flag), 0) << start << " " << end << " " << size;
        rest -= size;
        do {
            const u64 old = end - start;
            start -= round_up_to(below(start), page);
            end += round_up_to(below(mm.size - end), page);
            rest += end - start - old;
        } while (!rest && (start || end != mm.size));
    }
    EXPECT_EQ(start, 0u);
    EXPECT_EQ(end, mm.size);
    EXPECT_NE(alloc(start, end, page, page, none, range_flag), 0);
    free_list(list);
    fini();
}

TEST_P(gpu_buddy_kunit_range, alloc_range_bias_clear)
{
    // Nothing is cleared yet: the fallback serves, with dirty blocks.
    init(8 * MiB - ps);
    const u64 start = round_up_to(below(mm.size - ps), ps);
    const u64 end = std::max(round_up_to(start + below(mm.size - start), ps), start + ps);
    ASSERT_EQ(
        alloc(start, end, random_size(end - start, ps), ps, list, range_flag | GPU_BUDDY_CLEAR_ALLOCATION),
        0);
    expect_all(list, false);
    free_list(list);
    fini();
}

} // namespace
} // namespace vramlab::kmd
