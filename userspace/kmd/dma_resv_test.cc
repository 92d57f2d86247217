// SPDX-License-Identifier: MIT
// Which fences does a dma_resv keep, in which order, and when does it let them go?
#include "kmd/dma_resv.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>
#include <vector>

namespace vramlab::kmd {
namespace {

using usage = dma_resv_usage;

struct counted_fence : dma_fence {
    static inline int alive = 0;
    counted_fence(u64 c, u64 s)
    {
        context = c;
        seqno = s;
        alive++;
    }
    ~counted_fence() override { alive--; }
};

fence_ref make_fence(u64 context, u64 seqno)
{
    return fence_ref::adopt(new counted_fence(context, seqno));
}

class dma_resv_fences : public ::testing::Test {
protected:
    ~dma_resv_fences() override { EXPECT_EQ(counted_fence::alive, 0); }

    static void add(dma_resv &r, const fence_ref &f, usage u)
    {
        ASSERT_TRUE(dma_resv_trylock(r));
        ASSERT_EQ(dma_resv_reserve_fences(r, 1), 0);
        dma_resv_add_fence(r, *f, u);
        dma_resv_unlock(r);
    }
    using contents = std::vector<std::pair<u64, usage>>; // context, usage
    static contents list(const dma_resv &r, usage up_to = usage::bookkeep)
    {
        contents c;
        dma_resv_for_each_fence(r, up_to, [&](const dma_fence &f, usage u) { c.emplace_back(f.context, u); });
        return c;
    }
};

TEST_F(dma_resv_fences, later_fence_of_a_context_replaces_the_earlier)
{
    dma_resv r;
    add(r, make_fence(1, 1), usage::write);
    add(r, make_fence(2, 1), usage::write);
    add(r, make_fence(1, 2), usage::write);
    EXPECT_EQ(r.num_fences, 2u);
    EXPECT_EQ(list(r), (contents{{1, usage::write}, {2, usage::write}}));
    EXPECT_EQ(counted_fence::alive, 2);
}

TEST_F(dma_resv_fences, earlier_fence_or_stricter_usage_is_not_replaced)
{
    dma_resv r;
    add(r, make_fence(1, 5), usage::write);
    add(r, make_fence(1, 4), usage::write);
    add(r, make_fence(1, 6), usage::read); // the write must still be waited for
    EXPECT_EQ(r.num_fences, 3u);
    add(r, make_fence(1, 6), usage::kernel); // promotes the first that it may
    EXPECT_EQ(r.num_fences, 3u);
    EXPECT_EQ(list(r), (contents{{1, usage::kernel}, {1, usage::write}, {1, usage::read}}));
}

TEST_F(dma_resv_fences, signalled_fence_is_replaced_in_place)
{
    dma_resv r;
    const fence_ref first = make_fence(1, 1);
    add(r, first, usage::kernel);
    add(r, make_fence(2, 1), usage::kernel);
    dma_fence_signal(*first);
    add(r, make_fence(3, 1), usage::bookkeep);
    EXPECT_EQ(list(r), (contents{{3, usage::bookkeep}, {2, usage::kernel}}));
}

TEST_F(dma_resv_fences, usage_selects)
{
    dma_resv r;
    add(r, make_fence(1, 1), usage::bookkeep);
    add(r, make_fence(2, 1), usage::read);
    add(r, make_fence(3, 1), usage::kernel);
    add(r, make_fence(4, 1), usage::write);
    EXPECT_EQ(list(r, usage::kernel), (contents{{3, usage::kernel}}));
    EXPECT_EQ(list(r, usage::write), (contents{{3, usage::kernel}, {4, usage::write}}));
    EXPECT_EQ(list(r, usage::read).size(), 3u);
    EXPECT_FALSE(dma_resv_test_signaled(r, usage::kernel));
}

TEST_F(dma_resv_fences, growing_list_drops_signalled_fences)
{
    // The kernel's first list has room for 5 fences (a bucket of 64 bytes), the next for 13.
    dma_resv r;
    std::vector<fence_ref> fences;
    for (u64 i = 1; i <= 5; i++) {
        fences.push_back(make_fence(i, 1));
        add(r, fences.back(), usage::bookkeep);
    }
    EXPECT_EQ(r.max_fences, 5u);
    dma_fence_signal(*fences[1]);
    dma_fence_signal(*fences[3]);
    EXPECT_EQ(r.num_fences, 5u);
    ASSERT_TRUE(dma_resv_trylock(r));
    ASSERT_EQ(dma_resv_reserve_fences(r, 1), 0);
    EXPECT_EQ(r.max_fences, 13u);
    EXPECT_EQ(list(r), (contents{{1, usage::bookkeep}, {3, usage::bookkeep}, {5, usage::bookkeep}}));
    EXPECT_EQ(r.num_fences, 3u);
    dma_resv_unlock(r);
}

TEST_F(dma_resv_fences, two_fences_need_no_heap_block)
{
    dma_resv r;
    add(r, make_fence(1, 1), usage::write);
    add(r, make_fence(2, 1), usage::write);
    EXPECT_EQ(r.capacity, dma_resv::inline_slots);
    add(r, make_fence(3, 1), usage::write);
    EXPECT_GT(r.capacity, dma_resv::inline_slots);
    EXPECT_EQ(list(r).size(), 3u);
}

TEST_F(dma_resv_fences, slots_are_reserved_for_one_lock_only)
{
    dma_resv r;
    ASSERT_TRUE(dma_resv_trylock(r));
    EXPECT_EQ(dma_resv_reserve_fences(r, 0), -EINVAL);
    EXPECT_THROW(dma_resv_add_fence(r, *make_fence(1, 1), usage::read), std::logic_error);
    EXPECT_EQ(dma_resv_reserve_fences(r, 2), 0);
    EXPECT_EQ(dma_resv_reserve_fences(r, 1), 0); // does not take away
    dma_resv_add_fence(r, *make_fence(1, 1), usage::read);
    dma_resv_add_fence(r, *make_fence(2, 1), usage::read);
    dma_resv_unlock(r);
    ASSERT_TRUE(dma_resv_trylock(r));
    EXPECT_THROW(dma_resv_add_fence(r, *make_fence(3, 1), usage::read), std::logic_error);
    dma_resv_unlock(r);
}

TEST_F(dma_resv_fences, copy_takes_the_unsignalled)
{
    dma_resv from, to;
    const fence_ref first = make_fence(1, 1);
    add(from, first, usage::read);
    add(from, make_fence(2, 1), usage::kernel);
    add(from, make_fence(3, 1), usage::write);
    add(to, make_fence(9, 1), usage::write);
    dma_fence_signal(*first);
    ASSERT_TRUE(dma_resv_trylock(to));
    EXPECT_EQ(dma_resv_copy_fences(to, from), 0);
    dma_resv_unlock(to);
    EXPECT_EQ(list(to), (contents{{2, usage::kernel}, {3, usage::write}}));
    EXPECT_EQ(from.num_fences, 3u);
}

// Signals what is waited for, and adds another fence while it does: time passes, things happen.
struct busy_device : fence_waiter {
    explicit busy_device(dma_resv &r) : resv(r) {}
    void wait_until_signaled(dma_fence &f) override
    {
        waits.push_back(f.context);
        dma_fence_signal(f);
        if (next) {
            ASSERT_EQ(dma_resv_reserve_fences(resv, 1), 0);
            dma_resv_add_fence(resv, *std::exchange(next, {}), usage::write);
        }
    }
    dma_resv &resv;
    fence_ref next;
    std::vector<u64> waits;
};

TEST_F(dma_resv_fences, wait_covers_what_is_added_meanwhile)
{
    dma_resv r;
    busy_device device(r);
    const auto with_device = [&](u64 context) {
        fence_ref f = make_fence(context, 1);
        f->waiter = &device;
        return f;
    };
    add(r, with_device(1), usage::kernel);
    add(r, with_device(2), usage::bookkeep);
    device.next = with_device(3);
    EXPECT_EQ(dma_resv_wait(r, usage::read), 0);
    EXPECT_EQ(device.waits, (std::vector<u64>{1, 3}));
    EXPECT_FALSE(dma_resv_test_signaled(r, usage::bookkeep));
    EXPECT_TRUE(dma_resv_test_signaled(r, usage::read));
}

TEST_F(dma_resv_fences, callbacks_run_once_in_order)
{
    const fence_ref f = make_fence(1, 1);
    std::vector<int> order;
    dma_fence_add_callback(*f, [&](dma_fence &) { order.push_back(1); });
    dma_fence_add_callback(*f, [&](dma_fence &fence) {
        order.push_back(2);
        dma_fence_add_callback(fence, [&](dma_fence &) { order.push_back(3); });
    });
    dma_fence_signal(*f);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_THROW(dma_fence_signal(*f), std::logic_error);
    EXPECT_THROW(dma_fence_wait(*make_fence(1, 2)), std::logic_error) << "nobody will signal it";
}

} // namespace
} // namespace vramlab::kmd
