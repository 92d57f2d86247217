// SPDX-License-Identifier: MIT
// How fast traces are written, read and converted: items_per_second counts events.
#include "gputrace/convert.h"
#include "report/gpuvis_formats.h"
#include "trace/dat_writer.h"
#include "trace/reader.h"
#include "trace/record_builder.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace vramlab::bench {
namespace {

constexpr u32 cpus = 8;
constexpr u64 events = 1'000'000;

// Jobs: queued, run, done in turn.
void write_events(std::FILE *f)
{
    const report::gpuvis_formats &g = report::gpuvis_formats::get();
    trace::dat_writer w(f, {cpus, "mono", ""});
    for (const trace::event_format *x : g.all())
        w.add_format(*x);
    trace::record_builder b;
    for (u64 i = 0; i < events; i++) {
        const bool done = i % 3 == 2;
        b.start(done ? g.fence_signaled : i % 3 ? g.run_job : g.cs_ioctl, 1000);
        b.text(done, "gfx_0.0.0");
        b.number(done + 1u, 7);
        b.number(done + 2u, i / 3);
        w.write(static_cast<u32>(i / 3 % cpus), 1000 * i, b.data());
    }
    w.finish({});
}

void trace_write(benchmark::State &state)
{
    for (auto _ : state) {
        std::FILE *f = std::tmpfile();
        if (!f)
            std::abort();
        write_events(f);
        std::fclose(f);
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * events));
}

// In memory: what the machine's disk can do is not the reader's.
std::vector<u8> written(const char *form)
{
    std::FILE *f = std::tmpfile();
    if (!f)
        std::abort();
    write_events(f);
    if (*form) {
        const auto in = trace::open_trace(trace::source_of(f));
        f = std::tmpfile();
        const auto sink = gputrace::make_text_sink(f);
        convert(*in, nullptr, *sink);
        std::fflush(f);
    }
    std::vector<u8> bytes(static_cast<std::size_t>(std::ftell(f)));
    std::rewind(f);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), f));
    std::fclose(f);
    return bytes;
}

void read_events(benchmark::State &state, const char *form)
{
    const std::vector<u8> bytes = written(form);
    for (auto _ : state) {
        const auto in = trace::open_trace(trace::source_of(bytes));
        u64 n = 0;
        for (trace::record r; in->next(r);)
            n++;
        if (n != events)
            std::abort();
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * events));
}

void trace_read(benchmark::State &state)
{
    read_events(state, "");
}
void trace_read_text(benchmark::State &state)
{
    read_events(state, "text");
}

// Both passes, to trace.dat.
void trace_convert(benchmark::State &state)
{
    const std::vector<u8> bytes = written("");
    for (auto _ : state) {
        const gputrace::dialect_probe probe(*trace::open_trace(trace::source_of(bytes)));
        const auto in = trace::open_trace(trace::source_of(bytes));
        std::FILE *f = std::tmpfile();
        if (!f)
            std::abort();
        const auto sink = gputrace::make_dat_sink(f, in->info());
        convert(*in, &probe, *sink);
        std::fclose(f);
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * events));
}

BENCHMARK(trace_write);
BENCHMARK(trace_read);
BENCHMARK(trace_read_text);
BENCHMARK(trace_convert);

} // namespace
} // namespace vramlab::bench
