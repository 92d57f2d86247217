// SPDX-License-Identifier: MIT
// How fast the model is, and how much memory it takes.
//
// resident: every BO of a list of 1,000 is where it should be: lock, placement check, fence, LRU, unlock.
//
// thrash: lists of BOs drawn from a working set of 105 % of VRAM: some references move one BO in and another
// out.
//
// cyclic: lists in turn over such a working set, which is what LRU is worst at. The oldest BOs are those that
// the submission has locked, and each eviction has all of them in front of its victim.
//
// ..._events: with events of all decisions; ..._all_events: also of each BO that an eviction looked at and
// left, for which TTM's walks have to be taken in full.
//
// baseline: as many writes to as many cache lines in the same order, and nothing else: what the machine can
// do.
//
// items_per_second counts BO references; compare resident with the baseline of the same run and number of
// BOs. Counters: bytes_per_bo (BO, resource, buddy blocks, fence slots; LRU nodes are in the resource),
// tree_per_bo (inner nodes of the buddy tree), heap_per_bo (all of the program's).
#include "bench/fixture.h"
#include "bench/heap.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

namespace vramlab::bench {
namespace {

// Keeps the last events, in the memory of a cache: the price of recording, not of storage.
class ring_sink final : public events::event_sink {
public:
    explicit ring_sink(bool skipped) : skipped_(skipped) {}
    void record(const events::event &e) override { (*ring_)[next_++ % std::tuple_size_v<ring>] = e; }
    bool wants_skipped() const override { return skipped_; }
    u64 recorded() const { return next_; }

private:
    using ring = std::array<events::event, 4096>;
    std::unique_ptr<ring> ring_ = std::make_unique<ring>();
    u64 next_ = 0;
    bool skipped_;
};

// Nobody hears, or of everything but what walks passed (as when tables are made), or of that as well.
enum class heard { nothing, decisions, all };

// The lines that a reference touches: BO with its resv (3), resource (1), the fence slot and the two
// neighbours in the LRU list are others' or the same lines.
struct object {
    u64 line[4][8];
};

void baseline(benchmark::State &state)
{
    const u64 n = static_cast<u64>(state.range(0));
    std::vector<std::unique_ptr<object>> storage;
    std::vector<object *> list;
    for (u64 i = 0; i < n; i++) {
        storage.push_back(std::make_unique<object>());
        list.push_back(storage.back().get());
    }
    u64 next = 0;
    for (auto _ : state) {
        for (u32 i = 0; i < list_length; i++)
            for (auto &line : list[next + i]->line)
                line[0]++;
        next = next + list_length == n ? 0 : next + list_length;
        benchmark::ClobberMemory();
    }
    const double refs = static_cast<double>(state.iterations()) * list_length;
    state.SetItemsProcessed(static_cast<s64>(refs));
}

void report_memory(benchmark::State &state, const many_bos &m, u64 heap_before)
{
    const driver::vttm_device &d = m.backend.device();
    u64 slots = 0;
    for (const auto &[tag, bo] : d.bos)
        slots += bo->_resv.capacity > kmd::dma_resv::inline_slots
                     ? bo->_resv.capacity * sizeof(kmd::dma_resv::slot) + 16
                     : 0;
    u64 blocks = 0;
    for (const u64 used : d.vram.mm.used_scoreboard)
        blocks += used;
    const u64 block_size = sizeof(kmd::gpu_buddy_block);
    const u64 parts = d.bo_pool.size_bytes() + d.vram.resources.size_bytes() + d.gtt.resources.size_bytes() +
                      d.tt_pool.size_bytes() + blocks * block_size + slots;
    const double n = static_cast<double>(m.bos());
    state.counters["bytes_per_bo"] = static_cast<double>(parts) / n;
    state.counters["tree_per_bo"] = static_cast<double>((d.vram.mm.arena_used - blocks) * block_size) / n;
    state.counters["heap_per_bo"] = static_cast<double>(heap_bytes() - heap_before) / n;
}

void submit_lists(benchmark::State &state, u32 vram_percent, bool shuffled, heard events = heard::nothing)
{
    const u64 heap_before = heap_bytes();
    many_bos m(static_cast<u64>(state.range(0)), vram_percent, shuffled);
    // Until each BO has been used, or the same is known of enough of them.
    for (u32 i = 0; i < std::min(m.lists(), 1000u); i++)
        m.submit_next();
    ring_sink sink(events == heard::all);
    m.backend.set_event_sink(events == heard::nothing ? nullptr : &sink);
    const u64 moved_before = m.backend.query_usage().bytes_moved;
    for (auto _ : state)
        m.submit_next();
    m.backend.set_event_sink(nullptr);

    const double refs = static_cast<double>(state.iterations()) * list_length;
    state.SetItemsProcessed(static_cast<s64>(refs));
    const u64 moved = m.backend.query_usage().bytes_moved - moved_before;
    state.counters["moves_per_ref"] = static_cast<double>(moved / bo_size_bytes) / refs;
    if (events != heard::nothing)
        state.counters["events_per_ref"] = static_cast<double>(sink.recorded()) / refs;
    else
        report_memory(state, m, heap_before);
}

void resident(benchmark::State &state)
{
    submit_lists(state, 110, false);
}
void resident_events(benchmark::State &state)
{
    submit_lists(state, 110, false, heard::decisions);
}
// 95: then the working set is 105 % of VRAM.
void thrash(benchmark::State &state)
{
    submit_lists(state, 95, true);
}
void thrash_events(benchmark::State &state)
{
    submit_lists(state, 95, true, heard::decisions);
}
void thrash_all_events(benchmark::State &state)
{
    submit_lists(state, 95, true, heard::all);
}
void cyclic(benchmark::State &state)
{
    submit_lists(state, 95, false);
}

// A fixed number of submissions, since setting up a million BOs takes longer than that.
BENCHMARK(baseline)->Arg(1000)->Arg(10000)->Arg(100000)->Arg(1000000);
BENCHMARK(resident)->Arg(1000)->Arg(10000)->Arg(100000)->Arg(1000000)->Iterations(4000);
BENCHMARK(resident_events)->Arg(1000)->Arg(100000)->Iterations(4000);
BENCHMARK(thrash)->Arg(10000)->Arg(100000)->Arg(1000000)->Iterations(400);
BENCHMARK(thrash_events)->Arg(10000)->Arg(100000)->Iterations(400);
BENCHMARK(thrash_all_events)->Arg(10000)->Arg(100000)->Iterations(400);
BENCHMARK(cyclic)->Arg(10000)->Arg(100000)->Iterations(400);

} // namespace
} // namespace vramlab::bench

BENCHMARK_MAIN();
