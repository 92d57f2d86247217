// SPDX-License-Identifier: MIT
#include "workload/writer.h"

#include "base/stdio_file.h"
#include "workload/names.h"
#include "workload/op_fields.h"
#include "workload/stream_writer.h"
#include "workload/write_codec.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <zstd.h>

namespace vramlab::workload {

namespace {

void write_device(write_codec &c, const device_config &d)
{
    c.integer("vram_size", d.vram_size_bytes, 0, 0);
    c.integer("gtt_size", d.gtt_size_bytes, 0, 0);
    c.integer("vram_bandwidth", d.vram_bandwidth, 0, 0);
    c.integer("link_bandwidth", d.link_bandwidth, 0, 0);
    c.integer("copy_latency_ns", d.copy_latency_ns, 0, 0);
    c.integer("log2_max_mbps", d.log2_max_mbps, 0, 0);
    c.set("overlap", d.overlap);
}

void write_expectation(write_codec &c, const expectation &e)
{
    c.text("metric", e.metric);
    c.optional_text("process", e.process);
    c.text("relation", e.relation);
    c.number("value", e.value);
    c.optional_text("fails_on", e.fails_on);
    c.optional_text("source", e.source);
}

// Compresses or copies to a file; throws std::runtime_error.
class output_file {
public:
    output_file(const std::string &path, bool compressed) : path_(path), file_(std::fopen(path.c_str(), "wb"))
    {
        if (!file_)
            fail(std::strerror(errno));
        if (!compressed)
            return;
        context_.reset(ZSTD_createCCtx());
        if (!context_)
            throw std::bad_alloc();
        buffer_.resize(ZSTD_CStreamOutSize());
    }

    void put(const std::string &bytes, bool last)
    {
        ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};

        if (!context_) {
            write(bytes.data(), bytes.size());
        } else {
            for (bool done = false; !done;) {
                ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
                const std::size_t left = ZSTD_compressStream2(context_.get(), &output, &input,
                                                              last ? ZSTD_e_end : ZSTD_e_continue);

                if (ZSTD_isError(left))
                    fail(ZSTD_getErrorName(left));
                write(buffer_.data(), output.pos);
                done = last ? left == 0 : input.pos == input.size;
            }
        }
        if (last && std::fclose(file_.release()) != 0)
            fail(std::strerror(errno));
    }

private:
    void write(const char *data, std::size_t n)
    {
        if (n && std::fwrite(data, 1, n, file_.get()) != n)
            fail(std::strerror(errno));
    }

    [[noreturn]] void fail(const char *why)
    {
        throw std::runtime_error(fmt::format("{}: cannot write: {}", path_, why));
    }

    std::string path_;
    stdio_file file_;
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{nullptr, ZSTD_freeCCtx};
    std::string buffer_;
};

} // namespace

namespace {

std::string header_line(const workload &w, u64 operations)
{
    std::string out;
    {
        write_codec c(out);

        c.integer("vramlab", format_version, 0, 0);
        c.text("name", w.name);
        c.optional_text("description", w.description);
        c.text("order", order_word(w.order));
        c.integer("operations", operations, 0, 0);
        c.object("device", [&](write_codec &d) { write_device(d, w.system.device); });
        if (!w.system.cgroups.empty())
            c.objects("cgroups", w.system.cgroups, [](write_codec &g, const cgroup_config &cgroup) {
                g.text("path", cgroup.path);
                transfer_cgroup(g, cgroup);
            });
        c.objects("processes", w.system.processes, [](write_codec &p, const process_config &process) {
            p.integer("p", process.process, 0, 0);
            p.text("name", process.name);
            p.optional_text("cgroup", process.cgroup);
        });
        if (!w.expectations.empty())
            c.objects("expect", w.expectations, write_expectation);
    }
    return out + '\n';
}

} // namespace

std::string write_header(const workload &w)
{
    return header_line(w, w.operations.size());
}

void append_operation(std::string &out, const operation &op)
{
    {
        write_codec c(out);

        c.text("op", op_word(op));
        transfer_operation(c, op);
    }
    out += '\n';
}

std::string write_string(const workload &w)
{
    std::string out = write_header(w);

    for (const operation &op : w.operations)
        append_operation(out, op);
    return out;
}

void write_file(const workload &w, const std::string &path)
{
    write_file(
        w,
        [&w](const std::function<void(const operation &)> &put) {
            for (const operation &op : w.operations)
                put(op);
        },
        path);
}

void write_file(const workload &header, const operation_source &source, const std::string &path)
{
    const std::string beside = path + ".tmp";

    try {
        output_file file(beside, path.ends_with(".zst"));
        u64 operations = 0;
        source([&](const operation &) { operations++; });
        std::string out = header_line(header, operations);

        source([&](const operation &op) {
            append_operation(out, op);
            if (out.size() >= MiB) {
                file.put(out, false);
                out.clear();
            }
        });
        file.put(out, true);
    } catch (...) {
        std::remove(beside.c_str());
        throw;
    }
    if (std::rename(beside.c_str(), path.c_str()) != 0) {
        const std::string why = std::strerror(errno);

        std::remove(beside.c_str());
        throw std::runtime_error(fmt::format("{}: cannot write: {}", path, why));
    }
}

} // namespace vramlab::workload
