// SPDX-License-Identifier: MIT
// vramlab trace convert
#include "cli/cmd_trace.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/trace_input.h"
#include "gputrace/convert.h"
#include "gputrace/device_clock.h"
#include "gputrace/merged_reader.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <optional>
#include <stdexcept>

namespace vramlab::cli {

namespace {

enum class form : unsigned char { dat, text, perfetto };

struct convert_arguments {
    std::string in;
    std::string out;
    std::string form; // empty: by the name of the file
    std::string with;
    bool device_clock = false;
    bool plain = false;
};

form form_of(const convert_arguments &a)
{
    const std::string &f = a.form;
    if (f == "perfetto" || (f.empty() && a.out.ends_with(".json")))
        return form::perfetto;
    return f == "text" || (f.empty() && a.out.ends_with(".txt")) ? form::text : form::dat;
}

std::unique_ptr<gputrace::record_sink> make_sink(form f, std::FILE *out, const trace::trace_info &info)
{
    return f == form::dat    ? gputrace::make_dat_sink(out, info)
           : f == form::text ? gputrace::make_text_sink(out)
                             : gputrace::make_perfetto_sink(out);
}

// A trace as the options want to have it: with the device's times, with what vramlab saw.
class convert_input {
public:
    convert_input(const convert_arguments &a, bool kallsyms)
    {
        reader_ = open_named(a.in, kallsyms);
        if (a.device_clock) {
            auto clock = std::make_unique<gputrace::device_clock>(std::move(reader_));
            clock_ = clock.get();
            reader_ = std::move(clock);
        }
        if (a.with.empty())
            return;
        auto run = open_named(a.with);
        if (!run->info().kernel.starts_with("vramlab"))
            throw std::runtime_error(fmt::format("{}: expected a trace of `vramlab run --trace`", a.with));
        auto merged = std::make_unique<gputrace::merged_reader>(std::move(reader_), std::move(run));
        merged_ = merged.get();
        reader_ = std::move(merged);
    }

    trace::trace_reader &reader() { return *reader_; }
    // When all is read.
    void check_clock(const convert_arguments &a) const
    {
        if (clock_ && !clock_->told())
            throw std::runtime_error(
                fmt::format("{}: no event tells a device's time, expected some of vttm's (time_ns)", a.in));
    }
    void print_notes(const convert_arguments &a) const
    {
        print_damages(a.in, reader_->damages());
        if (merged_)
            print_damages(a.with, merged_->run_damages());
        if (clock_ && clock_->went_back())
            fmt::print(
                "  {} of {} times of the device were before one that was told already, which was kept\n",
                clock_->went_back(), clock_->told());
    }

private:
    std::unique_ptr<trace::trace_reader> reader_;
    const gputrace::device_clock *clock_ = nullptr;
    const gputrace::merged_reader *merged_ = nullptr;
};

void print_timelines(const gputrace::dialect_probe &probe)
{
    for (const u32 i : probe.timelines().renamed())
        fmt::print("  {} is drawn as {}\n", probe.engines()[i].label, probe.timelines().of(i));
    for (const u32 i : probe.timelines().hidden())
        fmt::print("  {} will not be drawn: gpuvis has no row left\n", probe.engines()[i].label);
}

void print_conversion(const convert_arguments &a, const gputrace::conversion &c)
{
    fmt::print("{}: {} events, {} added; {} jobs\n", a.out, c.events, c.added, c.jobs.done);
    const auto line = [](u64 n, const char *what) {
        if (n)
            fmt::print("  {} {}\n", n, what);
    };
    line(c.dropped, "events left out: too long for a page of 4096 bytes");
    line(c.lost_gaps, "gaps where the tracer lost events");
    line(c.lost, "events known to be lost there");
    line(c.jobs.without_queue,
         "jobs that nobody was seen to queue: the kernel's own, or begun before the trace");
    line(c.jobs.without_run, "jobs not seen to start");
    line(c.jobs.out_of_order, "jobs signaled out of order");
    line(c.jobs.signals_alone, "signals of jobs that were not seen");
    line(c.jobs.never_done, "jobs never done: the trace ends first, or the signal was lost");
    line(c.without_key, "events of jobs without context and number, which nobody can match");
    line(c.incomplete, "events without the fields they should have");
}

int convert(const convert_arguments &a)
{
    const form f = form_of(a);
    std::optional<gputrace::dialect_probe> probe;
    if (f != form::perfetto && !a.plain)
        probe.emplace(convert_input(a, false).reader());
    convert_input in(a, f == form::dat);
    atomic_file out(a.out);
    const auto sink = make_sink(f, out.stream(), in.reader().info());
    const gputrace::conversion c = gputrace::convert(in.reader(), probe ? &*probe : nullptr, *sink);
    in.check_clock(a);
    out.commit();
    print_conversion(a, c);
    if (probe)
        print_timelines(*probe);
    in.print_notes(a);
    return 0;
}

} // namespace

void add_trace_convert(CLI::App &trace, int &status)
{
    auto a = std::make_shared<convert_arguments>();
    CLI::App *c =
        trace.add_subcommand("convert", "Write a trace as gpuvis draws it, as text, or for Perfetto");
    c->add_option("in", a->in, trace_in_words)->required();
    c->add_option("out", a->out, "File to write")->required();
    c->add_option(
         "--form", a->form,
         "Instead of that of the name (.txt: text, .json: perfetto, others: dat). perfetto is the JSON form")
        ->check(CLI::IsMember({"dat", "text", "perfetto"}));
    c->add_flag("--plain", a->plain, "Add no events");
    c->add_flag("--device-clock", a->device_clock,
                "Times of vttm's (virtual) clock, which its events tell, instead of the tracer's");
    c->add_option(
         "--with", a->with,
         "What `vramlab run --trace` wrote in the same run: its frames, vblanks and memory are added")
        ->type_name("FILE");
    c->callback([a, &status] { status = guarded(a->in, [&] { return convert(*a); }); });
}

} // namespace vramlab::cli
