// SPDX-License-Identifier: MIT
#include "runner/expect.h"

#include "report/format.h"
#include "runner/executor.h"

#include <fmt/format.h>

namespace vramlab::runner {

using workload::expectation;

namespace {

bool holds(double value, std::string_view relation, double bound)
{
    if (relation == "==")
        return value == bound;
    if (relation == "!=")
        return value != bound;
    if (relation == "<")
        return value < bound;
    if (relation == "<=")
        return value <= bound;
    if (relation == ">")
        return value > bound;
    if (relation == ">=")
        return value >= bound;
    return false; // the reader lets no other through
}

report::unit unit_of(const std::string &metric)
{
    for (const report::metric_descriptor &d : report::metric_table())
        if (metric == d.name)
            return d.u;
    return report::unit::count; // failed_submissions_<errno>
}

} // namespace

void check_expectations(const workload::workload &w)
{
    report::metrics empty(w.system.processes);
    empty.finish(0);
    for (const expectation &e : w.expectations)
        if (!empty.value(e.metric, e.process)) {
            const std::string of = e.process.empty() ? "" : fmt::format(" of process \"{}\"", e.process);
            throw workload_error(
                e.line,
                fmt::format("expectation: metric \"{}\"{}, expected a name from Documentation/metrics.rst",
                            e.metric, of));
        }
}

std::vector<verdict> evaluate(const workload::workload &w, const report::metrics &m)
{
    std::vector<verdict> out;
    for (const expectation &e : w.expectations) {
        const double value = m.value(e.metric, e.process).value_or(0);
        out.push_back({&e, value, holds(value, e.relation, e.value)});
    }
    return out;
}

bool fails_on(const expectation &e, std::string_view name)
{
    std::string_view rest = e.fails_on;
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        std::string_view item = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        while (item.starts_with(' '))
            item.remove_prefix(1);
        while (item.ends_with(' '))
            item.remove_suffix(1);
        if (item == name)
            return true;
    }
    return false;
}

std::string expectation_words(const expectation &e)
{
    return fmt::format("{}{}{} {} {}", e.metric, e.process.empty() ? "" : " of ", e.process, e.relation,
                       report::format_number(e.value, 6));
}

std::string value_words(const verdict &v)
{
    const report::unit u = unit_of(v.expected->metric);
    const std::string plain = report::format_number(v.value, 6);
    if (u == report::unit::bytes || u == report::unit::bytes_per_frame)
        return fmt::format("{} ({})", plain, report::format_metric(u, v.value));
    return plain;
}

std::string print_verdicts(const std::vector<verdict> &verdicts, const report::painter &p)
{
    std::string out;
    for (const verdict &v : verdicts) {
        out += p.paint(v.pass ? "PASS" : "FAIL", v.pass ? report::color::green : report::color::red);
        out += fmt::format("  {}: {}", expectation_words(*v.expected), value_words(v));
        if (!v.expected->source.empty())
            out += fmt::format("  [{}]", v.expected->source);
        if (!v.pass && !v.expected->fails_on.empty())
            out += fmt::format("  (known to fail on {})", v.expected->fails_on);
        out += "\n";
    }
    return out;
}

} // namespace vramlab::runner
