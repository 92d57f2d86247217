// SPDX-License-Identifier: MIT
#include "base/request.h"
#include "gputrace/job_tracker.h"
#include "gputrace/record_sink.h"
#include "trace/text_writer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>
#include <stdexcept>

namespace vramlab::gputrace {

namespace {

using trace::record;
using trace::trace_info;

constexpr std::size_t block_bytes = 1 << 20;
constexpr u32 gpu_pid = 5'000'000; // above every task's (4,194,304 at most)
constexpr u32 frames_tid = 6'000'000;

std::string json_string(std::string_view s)
{
    return nlohmann::json(s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Microseconds, with the nanoseconds behind the point.
std::string us(u64 ns)
{
    return fmt::format("{}.{:03}", ns / ns_per_us, ns % ns_per_us);
}

class perfetto_sink final : public record_sink {
public:
    explicit perfetto_sink(std::FILE *out) : out_(out)
    {
        text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    }

    void write(const record &r, const trace_info &info) override
    {
        const gpu_event e = decoder_.decode(r);
        const s32 process = info.tgid(r.pid);
        if (r.pid > 0)
            tasks_.emplace(process, r.pid);
        const job_tracker::step step = tracker_.take(e, r.time_ns, r.pid);
        if (step.what == job_tracker::news::done)
            job_done(*step.of, info);
        else if (e.kind == gpu_kind::frame)
            frame(e, r, process);
        else if (e.kind == gpu_kind::bo_move)
            moved(e, r, process);
        if (!step.of)
            instant(r, process);
        if (text_.size() >= block_bytes)
            flush();
    }

    void finish(const trace_info &info, std::string_view) override
    {
        for (const auto &[process, pid] : tasks_) {
            name("process_name", process, pid, info.comm(process));
            name("thread_name", process, pid, info.comm(pid));
        }
        for (const s32 process : framing_)
            name("thread_name", process, frames_tid, "frames");
        name("process_name", gpu_pid, 0, "GPU");
        for (std::size_t i = 0; i < tracker_.engines().size(); i++)
            name("thread_name", gpu_pid, static_cast<u32>(i) + 1, tracker_.engines()[i].label);
        text_ += "\n]}\n";
        flush();
    }

private:
    template <class... T> void event(fmt::format_string<T...> f, T &&...arguments)
    {
        text_ += first_ ? "" : ",\n";
        first_ = false;
        fmt::format_to(std::back_inserter(text_), f, std::forward<T>(arguments)...);
    }

    void name(const char *what, s64 pid, s64 tid, std::string_view s)
    {
        event("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", what, pid,
              tid, json_string(s));
    }

    void job_done(const job &j, const trace_info &info)
    {
        const bool known = j.pid != pid_unknown;
        const s32 process = known ? info.tgid(j.pid) : 0;
        const std::string owner = known ? std::string(info.comm(process)) : "(kernel)";
        const std::string &engine = tracker_.engines()[j.engine].label;
        event("{{\"ph\":\"X\",\"cat\":\"job\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
              "\"args\":{{"
              "\"context\":{},\"seqno\":{},\"wait_us\":{}}}}}",
              json_string(owner), gpu_pid, j.engine + 1, us(j.start_ns), us(j.busy_ns()), j.context, j.seqno,
              us(j.wait_ns()));
        if (!known || !j.wait_ns())
            return;
        for (const bool end : {false, true})
            event("{{\"ph\":\"{}\",\"cat\":\"wait\",\"id\":{},\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{}}}",
                  end ? 'e' : 'b', j.serial, json_string("waits for " + engine), process, j.pid,
                  us(end ? j.start_ns : j.queue_ns));
    }

    void frame(const gpu_event &e, const record &r, s32 process)
    {
        framing_.insert(process);
        const u64 time = std::min(e.frame_ns, r.time_ns);
        event("{{\"ph\":\"X\",\"cat\":\"frame\",\"name\":\"frame "
              "{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}}}",
              e.number, process, frames_tid, us(r.time_ns - time), us(time));
    }

    void moved(const gpu_event &e, const record &r, s32)
    {
        in_ += e.to == domain_vram && e.from && e.from != domain_vram ? e.bytes : 0;
        out_bytes_ += e.from == domain_vram && e.to != domain_vram ? e.bytes : 0;
        event("{{\"ph\":\"C\",\"name\":\"bytes moved\",\"pid\":{},\"ts\":{},\"args\":{{\"into "
              "VRAM\":{},\"out of "
              "VRAM\":{}}}}}",
              gpu_pid, us(r.time_ns), in_, out_bytes_);
    }

    void instant(const record &r, s32 process)
    {
        const bool print = r.format->name == "print" && r.format->find("buf");
        event("{{\"ph\":\"i\",\"s\":\"t\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"args\":{{\"cpu\":{}",
              json_string(print ? trace::payload_text(r) : r.format->name), process, r.pid, us(r.time_ns),
              r.cpu);
        for (const trace::field &f : r.format->fields)
            if (!print)
                fmt::format_to(std::back_inserter(text_), ",{}:{}", json_string(f.name),
                               json_string(r.show(f)));
        text_ += "}}";
    }

    void flush()
    {
        if (std::fwrite(text_.data(), 1, text_.size(), out_) != text_.size())
            throw std::runtime_error(std::strerror(errno));
        text_.clear();
    }

    std::FILE *out_;
    std::string text_;
    gpu_decoder decoder_;
    job_tracker tracker_;
    std::set<std::pair<s32, s32>> tasks_; // process, task
    std::set<s32> framing_;
    u64 in_ = 0;
    u64 out_bytes_ = 0;
    bool first_ = true;
};

} // namespace

std::unique_ptr<record_sink> make_perfetto_sink(std::FILE *out)
{
    return std::make_unique<perfetto_sink>(out);
}

} // namespace vramlab::gputrace
