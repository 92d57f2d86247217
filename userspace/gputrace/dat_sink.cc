// SPDX-License-Identifier: MIT
#include "gputrace/record_sink.h"
#include "trace/dat_writer.h"
#include "trace/text_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace vramlab::gputrace {

namespace {

using trace::field;
using trace::field_kind;
using trace::record;
using trace::trace_info;

// The text form keeps lines until there are this many bytes.
constexpr std::size_t text_block_bytes = 1 << 20;

bool starts_array(const field &f)
{
    return f.kind == field_kind::where || f.kind == field_kind::rel_where;
}

// The writer's files are little endian. Arrays of numbers stay as they are: their elements are not described.
void to_little(const record &r, std::vector<u8> &data)
{
    data.assign(r.data.begin(), r.data.end());
    const auto swap = [&](const field &f) {
        const bool number = f.kind == field_kind::number && f.size > 1;
        if ((number || starts_array(f)) && f.offset <= data.size() && data.size() - f.offset >= f.size)
            std::reverse(data.begin() + f.offset, data.begin() + f.offset + f.size);
    };
    std::for_each(r.format->common.begin(), r.format->common.end(), swap);
    std::for_each(r.format->fields.begin(), r.format->fields.end(), swap);
}

class dat_sink final : public record_sink {
public:
    dat_sink(std::FILE *out, const trace_info &info)
        : writer_(out, {std::max(info.cpus, 1u), info.clock.empty() ? "global" : info.clock, info.kernel})
    {
    }

    void write(const record &r, const trace_info &) override
    {
        if (r.data.size() > trace::dat_writer::record_max_bytes || r.cpu >= trace::dat_writer::cpus_max) {
            dropped_++;
            return;
        }
        if (!writer_.has_format(r.format->id))
            writer_.add_format(*r.format);
        if (r.order == trace::byte_order::little) {
            writer_.write(r.cpu, r.time_ns, r.data, r.lost);
            return;
        }
        to_little(r, swapped_);
        writer_.write(r.cpu, r.time_ns, swapped_, r.lost);
    }

    void finish(const trace_info &info, std::string_view kallsyms) override
    {
        writer_.finish(info, kallsyms);
    }
    u64 dropped() const override { return dropped_; }

private:
    trace::dat_writer writer_;
    std::vector<u8> swapped_;
    u64 dropped_ = 0;
};

class text_sink final : public record_sink {
public:
    explicit text_sink(std::FILE *out) : out_(out) { text_ = "# tracer: nop\n#\n"; }

    void write(const record &r, const trace_info &info) override
    {
        append_text(text_, r, info);
        if (text_.size() >= text_block_bytes)
            flush();
    }
    void finish(const trace_info &, std::string_view) override { flush(); }

private:
    void flush()
    {
        if (std::fwrite(text_.data(), 1, text_.size(), out_) != text_.size())
            throw std::runtime_error(std::strerror(errno));
        text_.clear();
    }

    std::FILE *out_;
    std::string text_;
};

} // namespace

std::unique_ptr<record_sink> make_dat_sink(std::FILE *out, const trace_info &info)
{
    return std::make_unique<dat_sink>(out, info);
}

std::unique_ptr<record_sink> make_text_sink(std::FILE *out)
{
    return std::make_unique<text_sink>(out);
}

} // namespace vramlab::gputrace
