// SPDX-License-Identifier: MIT
#include "workload/reader.h"

#include "workload/fields.h"
#include "workload/names.h"
#include "workload/op_fields.h"
#include "workload/read_codec.h"

#include <fmt/format.h>

namespace vramlab::workload {

namespace {

void read_device(fields f, device_config &d)
{
    constexpr u64 any = ~u64{0}; // judged by check_system()

    d.vram_size_bytes = f.integer("vram_size", 0, any, d.vram_size_bytes);
    d.gtt_size_bytes = f.integer("gtt_size", 0, any, d.gtt_size_bytes);
    d.vram_bandwidth = f.integer("vram_bandwidth", 0, any, d.vram_bandwidth);
    d.link_bandwidth = f.integer("link_bandwidth", 0, any, d.link_bandwidth);
    d.copy_latency_ns = f.integer("copy_latency_ns", 0, any, d.copy_latency_ns);
    d.log2_max_mbps = static_cast<u32>(f.integer("log2_max_mbps", 0, log2_max_mbps_max, d.log2_max_mbps));
    d.overlap = f.boolean("overlap", d.overlap);
    f.done();
}

cgroup_config read_cgroup(fields f)
{
    cgroup_config g;
    read_codec c(f);

    c.text("path", g.path);
    transfer_cgroup(c, g);
    f.done();
    return g;
}

process_config read_process(fields f)
{
    process_config p;

    p.process = static_cast<u32>(f.integer("p", 1, process_max));
    p.name = f.text("name", name_max_bytes);
    p.cgroup = f.text("cgroup", text_max_bytes, "");
    f.done();
    return p;
}

expectation read_expectation(fields f)
{
    expectation e;

    e.line = f.where().line;
    e.metric = f.text("metric", name_max_bytes);
    e.process = f.text("process", name_max_bytes, "");
    e.relation = f.text("relation", name_max_bytes);
    if (!is_relation(e.relation))
        f.fail("relation", fmt::format("is \"{}\"", e.relation), relation_words);
    e.value = f.number("value");
    e.fails_on = f.text("fails_on", text_max_bytes, "");
    e.source = f.text("source", text_max_bytes, "");
    f.done();
    return e;
}

order_kind read_order(fields &f)
{
    const std::string &order = f.text("order", name_max_bytes);

    if (order == "file")
        return order_kind::file;
    if (order != "time")
        f.fail("order", fmt::format("is \"{}\"", order), "\"file\" or \"time\"");
    return order_kind::time;
}

json_value parse_line(const std::string &line, const location &where)
{
    json_value v;

    if (json_error e = parse_json(line, v); !e.problem.empty())
        where.fail(e.problem, e.expected);
    return v;
}

const op_name &read_word(fields &f)
{
    const std::string &word = f.text("op", name_max_bytes);
    const op_name *name = find_op(word);

    if (!name)
        f.fail("op", fmt::format("is \"{}\"", word), "an operation of Documentation/workload-format.rst");
    return *name;
}

void read_fields(fields f, const op_name &name, operation &op)
{
    read_codec c(f);

    op.kind = op.kind == op_kind::begin ? op_kind::begin : name.kind;
    op.req.kind = name.req;
    transfer_operation(c, op);
    if (is_request(op.kind))
        op.req.process = op.process;
    f.done();
}

// {"op":"begin","request":{...}} is {...} with "begin":true.
void read_operation(const json_value &v, const location &where, operation &op)
{
    fields f(v, where, "operation");

    if (const json_value *word = v.find("op");
        word && word->kind == json_kind::string && word->string == "begin") {
        f.any("op");
        const json_value &inner = f.any("request");

        f.done();
        fields g(inner, where, "request");
        const op_name &name = read_word(g);

        if (name.kind != op_kind::request)
            g.fail("op", fmt::format("is \"{}\"", name.word), "a request");
        op.kind = op_kind::begin;
        fields request(inner, where, name.word);
        request.any("op");
        read_fields(request, name, op);
        return;
    }
    const op_name &name = read_word(f);
    fields rest(v, where, name.word);

    rest.any("op");
    op.kind = name.kind;
    read_fields(rest, name, op);
}

// An operation as new, but with the storage of its vectors.
void clear(operation &op)
{
    std::vector<u64> bos = std::move(op.req.bos);
    std::vector<touch> touches = std::move(op.req.touches);

    bos.clear();
    touches.clear();
    op = {};
    op.req.bos = std::move(bos);
    op.req.touches = std::move(touches);
}

} // namespace

reader::reader(const std::string &path) : reader(open_lines(path)) {}

reader::reader(std::unique_ptr<line_source> source) : source_(std::move(source))
{
    read_header();
}

reader::~reader() = default;

void reader::read_header()
{
    if (!source_->next(line_))
        throw parse_error(source_->file(), 1, "empty file", "a header");
    const location where{source_->file(), source_->line()};
    const json_value v = parse_line(line_, where);
    fields f(v, where, "header");

    f.integer("vramlab", format_version, format_version);
    header_.name = f.text("name", name_max_bytes);
    if (!is_name(header_.name))
        f.fail("name", fmt::format("is \"{}\"", header_.name), name_words);
    header_.description = f.text("description", text_max_bytes, "");
    header_.order = read_order(f);
    expected_operations_ = f.integer("operations", 0, operation_max, never_ns);
    read_device({f.any("device"), where, "device"}, header_.system.device);
    if (f.has("cgroups"))
        for (const json_value &g : f.array("cgroups", cgroup_max).items)
            header_.system.cgroups.push_back(read_cgroup({g, where, "cgroup"}));
    for (const json_value &p : f.array("processes", process_max).items)
        header_.system.processes.push_back(read_process({p, where, "process"}));
    if (f.has("expect"))
        for (const json_value &e : f.array("expect", expectation_max).items)
            header_.expectations.push_back(read_expectation({e, where, "expectation"}));
    f.done();
    if (const defect d = check_system(header_.system))
        where.fail(d.problem, d.expected);
    if (const defect d = check_expectations(header_.system, header_.expectations))
        where.fail(d.problem, d.expected);
    checker_.reset(header_.system, header_.order);
}

bool reader::next(operation &op)
{
    clear(op);
    if (!source_->next(line_)) {
        const location where{source_->file(), source_->line()};

        if (expected_operations_ != never_ns && operations_ != expected_operations_)
            where.fail(fmt::format("truncated file: {} operations", operations_),
                       fmt::format("{}, as the header says", expected_operations_));
        if (const defect d = checker_.finish())
            where.fail(d.problem, d.expected);
        return false;
    }
    const location where{source_->file(), source_->line()};

    if (operations_ == operation_max)
        where.fail("too many operations", fmt::format("at most {}", operation_max));
    if (operations_ == expected_operations_)
        where.fail("one operation more", fmt::format("{}, as the header says", expected_operations_));
    op.line = where.line;
    read_operation(parse_line(line_, where), where, op);
    if (const defect d = checker_.take(op))
        where.fail(d.problem, d.expected);
    operations_++;
    return true;
}

namespace {

workload read_all(reader &&r)
{
    workload w = r.header();
    operation op;

    while (r.next(op))
        w.operations.push_back(op);
    return w;
}

} // namespace

workload read_file(const std::string &path)
{
    return read_all(reader(path));
}

workload read_string(std::string_view text, const std::string &file)
{
    return read_all(reader(lines_of(text, file)));
}

} // namespace vramlab::workload
