// SPDX-License-Identifier: MIT
#include "trace/dat_writer.h"

#include "trace/dat_front.h"
#include "trace/ring_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

namespace vramlab::trace {

namespace {

constexpr u32 header_bytes = 16;
constexpr std::size_t block_bytes = MiB;

void store32(u8 *p, u32 v)
{
    std::memcpy(p, &v, sizeof(v));
}

void store64(u8 *p, u64 v)
{
    std::memcpy(p, &v, sizeof(v));
}

[[noreturn]] void fail(const char *what)
{
    throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

// Without a name, in $TMPDIR or where temporary files go.
int temporary_file()
{
    const char *dir = std::getenv("TMPDIR");
    std::string path = std::string(dir && *dir ? dir : P_tmpdir) + "/vramlab-trace-XXXXXX";
    const int fd = mkstemp(path.data());
    if (fd < 0)
        fail(path.c_str());
    unlink(path.c_str());
    return fd;
}

} // namespace

dat_writer::dat_writer(std::FILE *out, dat_writer_options options) : out_(out), options_(std::move(options))
{
    if (!options_.cpus)
        options_.cpus = 1;
    cpus_.resize(options_.cpus);
    spool_ = temporary_file();
    block_.reserve(block_bytes);
}

dat_writer::~dat_writer()
{
    close(spool_);
}

void dat_writer::add_format(const event_format &f)
{
    if (has_format(f.id))
        throw std::runtime_error(fmt::format("two event formats with ID {}", f.id));
    if (f.id >= known_.size())
        known_.resize(f.id + 1u);
    known_[f.id] = true;
    formats_.push_back(f);
}

void dat_writer::spill()
{
    for (std::size_t done = 0; done < block_.size();) {
        const ssize_t n = ::write(spool_, block_.data() + done, block_.size() - done);
        if (n < 0 && errno != EINTR)
            fail("temporary file");
        done += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    spilled_bytes_ += block_.size();
    block_.clear();
}

void dat_writer::start_page(cpu_buffer &c, u64 time_ns, u64 lost)
{
    c.page.resize(page_bytes);
    store64(c.page.data(), time_ns);
    c.used = header_bytes;
    c.time = time_ns;
    c.lost = lost;
}

void dat_writer::end_page(cpu_buffer &c)
{
    if (!c.used)
        return;
    u64 commit = c.used - header_bytes;
    std::fill(c.page.begin() + c.used, c.page.end(), u8{0});
    if (c.lost)
        commit |= commit_missed_events;
    if (c.lost && c.lost != never_ns && c.used + 8 <= page_bytes) {
        commit |= commit_missed_stored;
        store64(c.page.data() + c.used, c.lost);
    }
    store64(c.page.data() + 8, commit);
    if (block_.size() + page_bytes > block_bytes)
        spill();
    block_.insert(block_.end(), c.page.begin(), c.page.end());
    c.pages.push_back(pages_++);
    c.used = 0;
}

void dat_writer::write(u32 cpu, u64 time_ns, std::span<const u8> data, u64 lost)
{
    if (data.size() > record_max_bytes)
        throw std::runtime_error(fmt::format("an event of {} bytes does not fit into a page", data.size()));
    if (cpu >= cpus_max)
        throw std::runtime_error(fmt::format("an event of CPU {}, expected less than {}", cpu, cpus_max));
    if (cpu >= cpus_.size())
        cpus_.resize(cpu + std::size_t{1});
    cpu_buffer &c = cpus_[cpu];
    const u32 size = static_cast<u32>(data.size());
    const u32 padded = (size + 3) & ~3u;
    // The worst case: a time extension, and a length of its own.
    if (c.used && (time_ns < c.time || lost || c.used + padded + 16 > page_bytes - 8))
        end_page(c);
    if (!c.used)
        start_page(c, time_ns, lost);
    u64 delta = time_ns - c.time;
    u8 *p = c.page.data() + c.used;
    if (delta >> ring_delta_bits) {
        store32(p, ring_time_extend | static_cast<u32>(delta & ((1u << ring_delta_bits) - 1)) << 5);
        store32(p + 4, static_cast<u32>(delta >> ring_delta_bits));
        p += 8;
        delta = 0;
    }
    if (padded && padded <= ring_data_max * 4) {
        store32(p, padded / 4 | static_cast<u32>(delta) << 5);
        p += 4;
    } else {
        store32(p, static_cast<u32>(delta) << 5);
        store32(p + 4, size + 4);
        p += 8;
    }
    std::memcpy(p, data.data(), size);
    std::memset(p + size, 0, padded - size);
    c.used = static_cast<u32>(p + padded - c.page.data());
    c.time = time_ns;
    c.events++;
    events_++;
}

void dat_writer::put(std::span<const u8> bytes)
{
    if (std::fwrite(bytes.data(), 1, bytes.size(), out_) != bytes.size())
        fail("trace");
}

std::string dat_writer::front(const trace_info &info, std::string_view kallsyms) const
{
    std::vector<dat_cpu> cpus;
    for (const cpu_buffer &c : cpus_)
        cpus.push_back({c.events, u64{page_bytes} * c.pages.size()});
    return dat_front({formats_, info, kallsyms, options_.clock, options_.kernel, cpus, page_bytes});
}

// Runs of pages at a time.
void dat_writer::copy_pages()
{
    std::vector<u8> buffer(block_bytes);
    for (const cpu_buffer &c : cpus_) {
        for (std::size_t i = 0; i < c.pages.size();) {
            std::size_t run = 1;
            while (i + run < c.pages.size() && c.pages[i + run] == c.pages[i] + run &&
                   (run + 1) * page_bytes <= buffer.size())
                run++;
            const std::size_t size = run * page_bytes;
            if (pread(spool_, buffer.data(), size, static_cast<off_t>(c.pages[i]) * page_bytes) !=
                static_cast<ssize_t>(size))
                fail("temporary file");
            put({buffer.data(), size});
            i += run;
        }
    }
}

void dat_writer::finish(const trace_info &info, std::string_view kallsyms)
{
    for (cpu_buffer &c : cpus_)
        end_page(c);
    spill();
    const std::string text = front(info, kallsyms);
    put({reinterpret_cast<const u8 *>(text.data()), text.size()});
    copy_pages();
    if (std::fflush(out_))
        fail("trace");
}

} // namespace vramlab::trace
