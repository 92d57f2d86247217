// SPDX-License-Identifier: MIT
#include "cli/sweep.h"

#include "cli/bound_words.h"
#include "cli/mechanism_settings.h"
#include "cli/output.h"
#include "cli/parallel.h"
#include "cli/sweep_journal.h"
#include "runner/experiment.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace vramlab::cli {

namespace {

input with_point(const input &in, const std::vector<workload::setting> &point)
{
    input out = in;
    for (const workload::setting &s : point)
        out.settings.push_back(s.path + "=" + s.value);
    return out;
}

// What can be said of an item without expanding it.
void check_item(const sweep_arguments &a, const sweep_item &item)
{
    const input in = with_point(a.in, item.point);
    times_of(in.settings);
    workload::read_scenario(item.file, scenario_settings(in.settings));
}

// "name=1,2,3"
workload::sweep_axis parse_axis(const std::string &text)
{
    const workload::setting s = workload::parse_setting(text);
    workload::sweep_axis axis{s.path, {}};
    for (std::size_t begin = 0; begin <= s.value.size();) {
        const std::size_t comma = std::min(s.value.find(',', begin), s.value.size());
        axis.values.push_back(s.value.substr(begin, comma - begin));
        begin = comma + 1;
    }
    for (const std::string &value : axis.values)
        if (value.empty())
            throw std::runtime_error(fmt::format("\"{}\", expected name=value,value,...", text));
    return axis;
}

std::vector<sweep_row> run_item(const sweep_arguments &a, const sweep_item &item)
{
    const input in = with_point(a.in, item.point);
    const workload::workload w = load(item.file, in);
    std::vector<sweep_row> rows;
    for (const std::string &policy : a.policies) {
        const auto backend = make_backend(backend_kind::model, policy, in);
        runner::experiment_options o;
        o.bounds = a.bounds;
        const runner::experiment x = runner::run_experiment(w, *backend, o);
        sweep_row &row = rows.emplace_back();
        row.failed_invariants = x.run.failures.size();
        for (const std::string &metric : a.metrics)
            row.values.push_back(x.metrics.value(metric));
        for (const std::string &process : a.processes)
            for (const std::string &metric : a.metrics)
                row.values.push_back(x.metrics.value(metric, process));
        if (a.bounds)
            for (const std::optional<double> &value : bound_values(x.bounds))
                row.values.push_back(value);
    }
    return rows;
}

// Names of all items' parameters, in the order in which they first appear.
std::vector<std::string> parameter_names(const sweep_table &t)
{
    std::vector<std::string> names;
    for (const sweep_item &i : t.items)
        for (const workload::setting &s : i.point)
            if (std::find(names.begin(), names.end(), s.path) == names.end())
                names.push_back(s.path);
    return names;
}

std::string value_of(const sweep_item &i, const std::string &name)
{
    for (const workload::setting &s : i.point)
        if (s.path == name)
            return s.value;
    return "";
}

std::string csv_field(const std::string &s)
{
    if (s.find_first_of(",\"\r\n") == std::string::npos)
        return s;
    std::string out = "\"";
    for (const char c : s)
        out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

} // namespace

std::vector<std::string> sweep_columns(const sweep_arguments &a)
{
    std::vector<std::string> columns = a.metrics;
    for (const std::string &process : a.processes)
        for (const std::string &metric : a.metrics)
            columns.push_back(process + "." + metric);
    if (a.bounds)
        for (const std::string &name : bound_columns())
            columns.push_back(name);
    return columns;
}

std::vector<sweep_item> sweep_grid(const std::string &file, const std::vector<std::string> &parameters)
{
    std::vector<workload::sweep_axis> axes;
    for (const std::string &p : parameters)
        axes.push_back(parse_axis(p));
    if (axes.empty())
        axes = workload::read_sweep(file);
    if (axes.empty())
        throw std::runtime_error(
            fmt::format("{}: has nothing to sweep, expected --param or a [sweep] table", file));
    std::vector<sweep_item> items;
    for (auto &point : workload::sweep_points(axes))
        items.push_back({file, std::move(point)});
    return items;
}

sweep_table run_sweep(const sweep_arguments &a, std::vector<sweep_item> items, const std::string &journal)
{
    sweep_table t;
    t.items = std::move(items);
    t.rows.resize(t.items.size());
    for (const sweep_item &item : t.items)
        check_item(a, item);
    sweep_journal done(journal, journal.empty() ? 0 : sweep_key(a, t.items), a.policies.size(),
                       sweep_columns(a).size(), t.rows);
    if (done.found())
        fmt::print(stderr, "{}: {} of {} points are done already\n", journal, done.found(), t.items.size());
    std::vector<std::size_t> to_do;
    for (std::size_t i = 0; i < t.items.size(); i++)
        if (t.rows[i].empty())
            to_do.push_back(i);
    progress_count progress("points", to_do.size());
    run_parallel(to_do.size(), a.jobs, [&](std::size_t i) {
        std::vector<sweep_row> &rows = t.rows[to_do[i]];
        rows = run_item(a, t.items[to_do[i]]);
        done.done(to_do[i], rows);
        progress.one_done();
    });
    return t;
}

std::string sweep_csv(const sweep_arguments &a, const sweep_table &t)
{
    const std::vector<std::string> names = parameter_names(t);
    std::string out = "file";
    for (const std::string &name : names)
        out += "," + csv_field(name);
    out += ",policy";
    for (const std::string &column : sweep_columns(a))
        out += "," + csv_field(column);
    out += ",failed_invariants\n";
    for (std::size_t i = 0; i < t.items.size(); i++)
        for (std::size_t p = 0; p < a.policies.size(); p++) {
            out += csv_field(t.items[i].file);
            for (const std::string &name : names)
                out += "," + csv_field(value_of(t.items[i], name));
            out += "," + a.policies[p];
            for (const std::optional<double> &v : t.rows[i][p].values)
                out += v ? fmt::format(",{}", *v) : ",";
            out += fmt::format(",{}\n", t.rows[i][p].failed_invariants);
        }
    return out;
}

std::string sweep_json(const sweep_arguments &a, const sweep_table &t)
{
    const std::vector<std::string> columns = sweep_columns(a);
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < t.items.size(); i++)
        for (std::size_t p = 0; p < a.policies.size(); p++) {
            nlohmann::ordered_json row{{"file", t.items[i].file}};
            row["settings"] = nlohmann::ordered_json::object();
            for (const workload::setting &s : t.items[i].point)
                row["settings"][s.path] = s.value;
            row["policy"] = a.policies[p];
            row["metrics"] = nlohmann::ordered_json::object();
            for (std::size_t c = 0; c < columns.size(); c++)
                if (const std::optional<double> &v = t.rows[i][p].values[c])
                    row["metrics"][columns[c]] = *v;
            row["failed_invariants"] = t.rows[i][p].failed_invariants;
            j.push_back(std::move(row));
        }
    return j.dump(2) + "\n";
}

std::string journal_of(const std::string &path)
{
    if (!path.ends_with(".csv") && !path.ends_with(".json"))
        throw std::runtime_error(fmt::format("{}: unknown kind of file, expected .csv or .json", path));
    return path + ".partial";
}

void write_sweep(const std::string &path, const sweep_arguments &a, const sweep_table &t)
{
    write_sweep_text(path, path.ends_with(".csv") ? sweep_csv(a, t) : sweep_json(a, t));
}

void write_sweep_text(const std::string &path, const std::string &text)
{
    atomic_file out(path);
    std::fwrite(text.data(), 1, text.size(), out.stream());
    out.commit();
    std::error_code ignored;
    std::filesystem::remove(journal_of(path), ignored);
}

} // namespace vramlab::cli
