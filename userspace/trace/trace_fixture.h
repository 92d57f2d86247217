// SPDX-License-Identifier: MIT
// Traces for tests: written into memory, read from there.
#pragma once

#include "base/rng.h"
#include "trace/dat_writer.h"
#include "trace/reader.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace vramlab::trace::test {

// An event as plain values, to be compared.
struct plain_event {
    u64 time_ns = 0;
    u32 cpu = 0;
    s32 pid = 0;
    std::string name;
    std::vector<std::string> values; // of its own fields, as shown
    u64 lost = 0;

    friend bool operator==(const plain_event &, const plain_event &) = default;
};

inline std::vector<u8> contents(std::FILE *f)
{
    std::vector<u8> bytes;
    std::fflush(f);
    bytes.resize(static_cast<std::size_t>(std::ftell(f)));
    std::rewind(f);
    if (std::fread(bytes.data(), 1, bytes.size(), f) != bytes.size())
        bytes.clear();
    std::fclose(f);
    return bytes;
}

inline plain_event to_plain(const record &r)
{
    plain_event p{r.time_ns, r.cpu, r.pid, r.format->name, {}, r.lost};
    for (const field &f : r.format->fields)
        p.values.push_back(r.show(f));
    return p;
}

struct read_result {
    std::vector<plain_event> events;
    std::vector<damage> damages;
    std::string error; // of trace_error
};

inline read_result read_all(std::span<const u8> bytes)
{
    read_result out;
    try {
        const auto reader = open_trace(source_of(bytes));
        for (record r; reader->next(r);)
            out.events.push_back(to_plain(r));
        out.damages = reader->damages().first();
    } catch (const trace_error &e) {
        out.error = e.what();
    }
    return out;
}

// "job": numbers of every size and a name.
inline event_format job_format()
{
    event_format f{"lab", "job", 700, common_fields(), {}, ""};
    add_field(f, "u64", "context");
    add_field(f, "u32", "seqno");
    add_field(f, "s32", "error");
    add_field(f, "u8", "flag");
    add_field(f, "__data_loc char[]", "timeline");
    f.print = "\"timeline=%s context=%llu seqno=%u error=%d flag=%u\", __get_str(timeline), REC->context, "
              "REC->seqno, REC->error, REC->flag";
    return f;
}

// A record of job_format().
inline std::vector<u8> job_record(s32 pid, u64 context, u32 seqno, s32 error, u8 flag,
                                  const std::string &timeline)
{
    const event_format f = job_format();
    const u32 end = f.fields.back().offset + 4;
    std::vector<u8> d(end + timeline.size() + 1);
    const auto put = [&](u32 offset, auto v) { std::memcpy(d.data() + offset, &v, sizeof(v)); };
    put(0, f.id);
    put(4, pid);
    put(f.fields[0].offset, context);
    put(f.fields[1].offset, seqno);
    put(f.fields[2].offset, error);
    put(f.fields[3].offset, flag);
    put(f.fields[4].offset, static_cast<u32>(end | (timeline.size() + 1) << 16));
    std::memcpy(d.data() + end, timeline.data(), timeline.size());
    return d;
}

// What `count` events drawn from `seed` look like, on `cpus` CPUs; they are given to `write` in order.
inline std::vector<plain_event> draw_events(u64 seed, u32 count, u32 cpus, dat_writer &w)
{
    rng random(seed);
    std::vector<plain_event> out;
    u64 time = 1'000'000'000;
    for (u32 i = 0; i < count; i++) {
        time += 1 + (random.below(50) ? random.below(5000) : random.below(u64{1} << (20 + random.below(20))));
        plain_event e{
            time, static_cast<u32>(random.below(cpus)), static_cast<s32>(1 + random.below(5)), "job", {}, 0};
        const u64 context = random.next();
        const s32 error = random.below(2) ? -static_cast<s32>(random.below(100)) : 0;
        const std::string timeline(random.below(100) ? random.below(12) : random.below(300), 'g');
        const u8 flag = static_cast<u8>(random.below(256));
        w.write(e.cpu, time, job_record(e.pid, context, i, error, flag, timeline));
        e.values = {std::to_string(context), std::to_string(i), std::to_string(error), std::to_string(flag),
                    timeline};
        out.push_back(std::move(e));
    }
    return out;
}

inline trace_info tasks()
{
    trace_info info;
    info.comms = {{1, "game"}, {2, "two words"}, {3, "x-y"}, {4, "d"}, {5, "e"}};
    return info;
}

struct written {
    std::vector<u8> bytes;
    std::vector<plain_event> events;
};

inline written write_trace(u64 seed, u32 count, u32 cpus)
{
    written w;
    std::FILE *f = std::tmpfile();
    dat_writer writer(f, {cpus, "global", "Linux test 7.3 x86_64"});
    writer.add_format(job_format());
    w.events = draw_events(seed, count, cpus, writer);
    writer.finish(tasks());
    w.bytes = contents(f);
    return w;
}

// A file with these bytes, until it goes.
class temporary_path {
public:
    explicit temporary_path(std::span<const u8> bytes)
    {
        const int fd = mkstemp(name_.data());
        std::FILE *f = fd < 0 ? nullptr : fdopen(fd, "wb");
        if (!f)
            throw std::runtime_error("mkstemp");
        std::fwrite(bytes.data(), 1, bytes.size(), f);
        std::fclose(f);
    }
    ~temporary_path() { std::remove(name_.c_str()); }
    temporary_path(const temporary_path &) = delete;
    temporary_path &operator=(const temporary_path &) = delete;
    const std::string &name() const { return name_; }

private:
    std::string name_ = "/tmp/vramlab-test-XXXXXX";
};

// The lines that a shell command prints.
inline std::vector<std::string> output_of(const std::string &command)
{
    std::vector<std::string> lines;
    std::FILE *p = popen(command.c_str(), "r");
    std::string line;
    for (int c; p && (c = std::fgetc(p)) != EOF;) {
        if (c != '\n') {
            line += static_cast<char>(c);
            continue;
        }
        lines.push_back(std::move(line));
        line.clear();
    }
    if (p)
        pclose(p);
    return lines;
}

} // namespace vramlab::trace::test
