// SPDX-License-Identifier: MIT
// What was read, as a workload: each process a program of its own, in the order of the trace's times.
#include "base/request.h"
#include "gputrace/import.h"
#include "report/format.h"
#include "workload/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace vramlab::gputrace {

using workload::op_kind;
using workload::operation;

namespace {

// BOs that were there before are created first, which takes time when they do not fit.
constexpr u64 setup_ns = ns_per_s;
constexpr u64 assumed_bo_bytes = 16 * MiB;
constexpr u32 list_id = 1;

std::string clean_name(std::string_view s)
{
    std::string out;
    for (const char c : s.substr(0, 64))
        out += std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("_.:@+-").find(c) != std::string::npos
                   ? c
                   : '_';
    return out;
}

} // namespace

class importer::writer {
public:
    writer(const importer &of, const std::function<void(const operation &)> &put)
        : of_(of), put_(put), programs_(of.processes_.size()), gone_(of.bos_.size())
    {
    }

    void run()
    {
        setup();
        for (const item &i : of_.items_)
            if (i.kind != static_cast<u32>(item_kind::job) || i.duration_ns != never_ns)
                write(i);
    }

private:
    struct program {
        u64 time_ns = 0;
        u32 frame_jobs = 0; // since the last frame began
        std::vector<u32> list;
        bool stale = false; // the list has a BO that is gone
    };

    operation base(op_kind kind, u32 p) const
    {
        operation op;
        op.kind = kind;
        op.process = p + 1;
        op.vm = p + 1;
        return op;
    }

    request &ask(operation &op, request_kind kind) const
    {
        op.req.kind = kind;
        op.req.process = op.process;
        op.req.vm = op.vm;
        return op.req;
    }

    void create(u32 p, u64 tag, u64 bytes, u32 preferred, u32 allowed, bool own)
    {
        operation op = base(op_kind::request, p);
        request &r = ask(op, request_kind::bo_create);
        r.bo = tag;
        r.size_bytes = bytes;
        r.preferred = preferred;
        r.allowed =
            bytes > of_.summary_.vram_bytes && allowed == domain_vram ? allowed | domain_gtt : allowed;
        if (r.allowed == 0)
            r.allowed = preferred == domain_vram ? domain_vram | domain_gtt : preferred;
        r.flags = own ? bo_vm_private : 0;
        put_(op);
    }

    void create(u32 index)
    {
        const bo &b = of_.bos_[index];
        create(b.process, index + u64{1}, b.bytes, b.preferred, b.allowed, !b.listed && !b.shared);
    }

    void setup()
    {
        const auto &processes = of_.processes_;
        for (u32 p = 0; p < processes.size(); p++) {
            operation op = base(op_kind::request, p);
            ask(op, request_kind::vm_open);
            put_(op);
        }
        for (u32 i = 0; i < of_.bos_.size(); i++)
            if (!of_.bos_[i].created || of_.bos_[i].shared)
                create(i);
        u64 tag = of_.bos_.size();
        for (u32 p = 0; p < processes.size(); p++) {
            for (const u32 i : processes[p].shared_in) {
                operation op = base(op_kind::request, of_.bos_[i].process);
                request &r = ask(op, request_kind::bo_share);
                r.bo = i + u64{1};
                r.target_vm = p + 1;
                put_(op);
            }
            for (u64 left = processes[p].assumed_bytes; left;) {
                const u64 bytes = std::min(left, assumed_bo_bytes);
                create(p, ++tag, bytes, domain_vram, 0, true);
                left -= bytes;
            }
        }
    }

    void define_list(u32 p)
    {
        program &me = programs_[p];
        operation op = base(op_kind::request, p);
        request &r = ask(op, request_kind::list_define);
        r.id = list_id;
        for (const u32 i : me.list)
            if (!gone_[i] || of_.bos_[i].process != p) // who was given a handle keeps it
                r.bos.push_back(i + u64{1});
        me.stale = false;
        put_(op);
    }

    void write(const item &i)
    {
        program &me = programs_[i.process];
        const item_kind kind = item_kind(i.kind);
        if (kind == item_kind::list) {
            me.list = of_.lists_[i.what];
            me.stale = true;
            return;
        }
        if (kind == item_kind::create && of_.bos_[i.what].shared)
            return;
        if (setup_ns + i.time_ns > me.time_ns) {
            operation op = base(op_kind::sleep, i.process);
            op.vm = 0;
            me.time_ns = op.at_ns = setup_ns + i.time_ns;
            put_(op);
        }
        if (kind == item_kind::frame)
            frame(i.process);
        else if (kind == item_kind::create)
            create(i.what);
        else if (kind == item_kind::destroy)
            destroy(i);
        else
            submit(i);
    }

    // A program that finds its last frame but one unfinished waits, as programs do: else a slower device
    // would have ever more jobs queued.
    void frame(u32 p)
    {
        program &me = programs_[p];
        if (me.frame_jobs) {
            operation op = base(op_kind::wait_back, p);
            op.back = me.frame_jobs;
            put_(op);
        }
        me.frame_jobs = 0;
        operation op = base(op_kind::frame, p);
        op.vm = 0;
        put_(op);
    }

    void destroy(const item &i)
    {
        operation op = base(op_kind::request, i.process);
        ask(op, request_kind::bo_destroy).bo = i.what + u64{1};
        program &me = programs_[i.process];
        me.stale |= std::find(me.list.begin(), me.list.end(), i.what) != me.list.end();
        gone_[i.what] = true;
        put_(op);
    }

    void submit(const item &i)
    {
        program &me = programs_[i.process];
        if (me.stale)
            define_list(i.process);
        operation op = base(op_kind::request, i.process);
        request &r = ask(op, request_kind::submit);
        r.list = me.list.empty() ? 0 : list_id;
        r.compute_ns = std::min(i.duration_ns, workload::compute_max_ns);
        me.frame_jobs++;
        put_(op);
    }

    const importer &of_;
    const std::function<void(const operation &)> &put_;
    std::vector<program> programs_;
    std::vector<bool> gone_;
};

void importer::operations(const std::function<void(const operation &)> &put) const
{
    writer(*this, put).run();
}

workload::workload importer::header()
{
    if (!summary_.jobs)
        throw std::runtime_error(
            "no job in this trace was seen to begin and to end: there is nothing to replay");
    if (processes_.size() > workload::process_max)
        throw std::runtime_error(
            fmt::format("{} processes, expected at most {}", processes_.size(), workload::process_max));
    workload::workload w;
    w.name = clean_name(options_.name);
    w.description = fmt::format("Imported from a trace: {} of VRAM assumed, {} known",
                                report::format_bytes(summary_.assumed_bytes),
                                report::format_bytes(summary_.needed_bytes - summary_.assumed_bytes));
    w.order = workload::order_kind::time;
    u64 all = summary_.assumed_bytes;
    for (const bo &b : bos_)
        all += b.bytes;
    w.system.device.vram_size_bytes = summary_.vram_bytes;
    w.system.device.gtt_size_bytes = std::clamp(2 * all, GiB, workload::size_max_bytes);
    for (u32 p = 0; p < processes_.size(); p++)
        w.system.processes.push_back(
            {p + 1, clean_name(fmt::format("{}-{}", processes_[p].name, processes_[p].pid)), ""});
    return w;
}

std::string importer::print_summary() const
{
    using report::format_bytes;
    const import_summary &s = summary_;
    std::string out =
        fmt::format("Recovered from {} events:\n  {} processes, {} frames (by {})\n  {} jobs with their "
                    "durations:",
                    s.events, s.processes, s.frames, s.frames_by, s.jobs);
    for (const auto &[engine, jobs] : s.jobs_by_engine)
        out += fmt::format(" {} {}", engine.empty() ? "(no name)" : engine, jobs);
    out += fmt::format(
        "\n  {} BOs: {} created in the trace, {} in lists, {} seen to move; {} of them shared\n"
        "  {} lists of submissions\n  {} moves, which the model decides anew: {} into VRAM, {} out\n",
        s.bos_created + s.bos_listed + s.bos_moved, s.bos_created, s.bos_listed, s.bos_moved, s.shared_bos,
        s.lists, s.moves, format_bytes(s.in_bytes), format_bytes(s.out_bytes));
    out += "Assumed:\n";
    if (s.without_bos)
        out +=
            fmt::format("  {} processes of whose memory the trace does not tell: {} each, in all submissions "
                        "(--working-set)\n",
                        s.without_bos, format_bytes(options_.working_set_bytes));
    if (s.completed)
        out +=
            fmt::format("  {} processes whose lists are larger than their known BOs: as large as the lists\n",
                        s.completed);
    out += fmt::format("  VRAM of {}{}; {} are needed, {} of these assumed\n", format_bytes(s.vram_bytes),
                       options_.vram_bytes ? " (--vram)" : ": all of it fits (--vram)",
                       format_bytes(s.needed_bytes), format_bytes(s.assumed_bytes));
    if (s.jobs_by_engine.size() > 1)
        out += "  one engine: the model runs the jobs of all of these on one\n";
    out += "  jobs take as long as they did; what they read from memory is in that time, wherever it is\n";
    const auto left_out = [&](u64 n, const char *what) {
        if (n)
            out += fmt::format("  {} {}\n", n, what);
    };
    out += s.kernel_jobs || s.unfinished_jobs || s.too_many ? "Left out:\n" : "";
    left_out(s.kernel_jobs,
             "jobs of the kernel, which the model makes anew, or that nobody was seen to queue");
    left_out(s.unfinished_jobs, "jobs not seen to end");
    left_out(s.too_many, "events: the trace holds more than a workload is made of");
    return out;
}

} // namespace vramlab::gputrace
