// SPDX-License-Identifier: MIT
#include "trace/cpu_stream.h"
#include "trace/reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::trace {

namespace {

class dat_reader final : public trace_reader {
public:
    dat_reader(std::unique_ptr<byte_source> source, const reader_options &options)
        : source_(std::move(source)), header_(read_dat_header(*source_, {options.kallsyms}, damages_))
    {
        index_formats();
        streams_.reserve(header_.areas.size());
        for (const cpu_area &area : header_.areas) {
            if (area.page_size <= header_.layout.data_offset || area.page_size > 1u << 24) {
                damages_.add(area.offset,
                             fmt::format("CPU {} has pages of {} bytes", area.cpu, area.page_size));
                continue;
            }
            streams_.emplace_back(*source_, header_, area, damages_);
        }
        for (cpu_stream &s : streams_)
            if (s.next())
                heads_.push_back({s.time(), &s});
        std::make_heap(heads_.begin(), heads_.end(), later);
    }

    bool next(record &r) override
    {
        while (advance()) {
            cpu_stream &s = *heads_.front().stream;
            const std::span<const u8> data = s.data();
            if (data.size() < type_.offset + type_.size)
                continue;
            const u8 *p = data.data() + type_.offset;
            const u32 id = type_.size == 2 ? load16(p, header_.order) : *p;
            r.format = id < by_id_.size() ? by_id_[id] : nullptr;
            if (!r.format) {
                unknown(id, s.offset());
                continue;
            }
            r.time_ns = nanoseconds(s.time());
            r.offset = s.offset();
            r.data = data;
            r.lost = s.take_lost();
            r.cpu = s.cpu();
            r.order = header_.order;
            r.pid = data.size() >= pid_.offset + 4
                        ? static_cast<s32>(load32(data.data() + pid_.offset, header_.order))
                        : 0;
            return true;
        }
        return false;
    }

    const trace_info &info() const override { return header_.info; }
    const damage_list &damages() const override { return damages_; }
    std::string_view kallsyms() const override { return header_.kallsyms; }

private:
    struct head {
        u64 time;
        cpu_stream *stream;
    };

    // Of a heap whose front is the earliest.
    static bool later(const head &a, const head &b)
    {
        return a.time != b.time ? a.time > b.time : a.stream > b.stream;
    }

    // The stream whose event was given last goes on, then the earliest is in front. False: no events left.
    bool advance()
    {
        if (std::exchange(given_, true)) {
            head &h = heads_.front();
            if (!h.stream->next()) {
                std::pop_heap(heads_.begin(), heads_.end(), later);
                heads_.pop_back();
            } else {
                h.time = h.stream->time();
                sift_down();
            }
        }
        return !heads_.empty() || (given_ = false);
    }

    void sift_down()
    {
        std::size_t i = 0;
        for (std::size_t child; (child = 2 * i + 1) < heads_.size(); i = child) {
            if (child + 1 < heads_.size() && later(heads_[child], heads_[child + 1]))
                child++;
            if (!later(heads_[i], heads_[child]))
                return;
            std::swap(heads_[i], heads_[child]);
        }
    }

    void index_formats()
    {
        for (const auto &f : header_.info.formats) {
            if (f->id >= by_id_.size())
                by_id_.resize(f->id + 1u);
            if (!by_id_[f->id])
                by_id_[f->id] = f.get();
        }
        for (const auto &f : header_.info.formats) {
            const field *type = f->find("common_type");
            const field *pid = f->find("common_pid");
            if (!type || !pid || (type->size != 1 && type->size != 2) || pid->size != 4)
                continue;
            type_ = *type;
            pid_ = *pid;
            return;
        }
        if (header_.areas.empty())
            return;
        damages_.add(0, "no event format says where an event's type and task are");
    }

    // Once a type.
    void unknown(u32 id, u64 offset)
    {
        if (id >= reported_.size())
            reported_.resize(id + 1u);
        if (!reported_[id])
            damages_.add(offset, fmt::format("an event of type {}, which has no format", id));
        reported_[id] = true;
    }

    u64 nanoseconds(u64 t) const
    {
        if (header_.tsc_mult)
            t = static_cast<u64>(u128{t} * header_.tsc_mult >> header_.tsc_shift) - header_.tsc_offset;
        return t + static_cast<u64>(header_.time_offset_ns);
    }

    std::unique_ptr<byte_source> source_;
    damage_list damages_; // before header_, which adds to it
    dat_header header_;
    std::vector<const event_format *> by_id_;
    std::vector<bool> reported_;
    std::vector<cpu_stream> streams_;
    std::vector<head> heads_; // of streams that have events left
    field type_{"unsigned short", "common_type", 0, 2, false, field_kind::number};
    field pid_{"int", "common_pid", 4, 4, true, field_kind::number};
    bool given_ = false;
};

} // namespace

std::unique_ptr<trace_reader> open_dat(std::unique_ptr<byte_source> source, const reader_options &options)
{
    return std::make_unique<dat_reader>(std::move(source), options);
}

} // namespace vramlab::trace
