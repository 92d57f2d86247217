// SPDX-License-Identifier: MIT
#include "workload/settings.h"

#include "workload/limits.h"
#include "workload/names.h"
#include "workload/toml_fields.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace vramlab::workload {

namespace {

constexpr const char *command_line = "setting";
constexpr std::size_t axis_max = 16;
constexpr std::size_t axis_value_max = 4096;
constexpr std::size_t point_max = 1'000'000;

[[noreturn]] void fail(const setting &s, const std::string &problem, const std::string &expected)
{
    throw parse_error(command_line, 0, fmt::format("{}={}: {}", s.path, s.value, problem), expected);
}

// "a.b" or a."b.c": components, quotes removed.
std::vector<std::string> split_path(const setting &s)
{
    std::vector<std::string> parts(1);
    bool quoted = false;

    for (char c : s.path) {
        if (c == '"')
            quoted = !quoted;
        else if (c == '.' && !quoted)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    for (const std::string &part : parts)
        if (part.empty() || quoted)
            fail(s, "not a path", "keys joined by dots");
    return parts;
}

// The element of an array of tables with that name or path, or that number from 1.
toml::node *find_element(toml::array &array, const std::string &key)
{
    for (toml::node &item : array) {
        const toml::table *t = item.as_table();

        for (const char *id : {"name", "path"})
            if (const toml::node *n = t ? t->get(id) : nullptr;
                n && n->is_string() && n->as_string()->get() == key)
                return &item;
    }
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);

    if (error == std::errc{} && end == key.data() + key.size() && number >= 1 && number <= array.size())
        return array.get(number - 1);
    return nullptr;
}

toml::table &find_table(toml::table &root, const setting &s, const std::vector<std::string> &parts)
{
    toml::node *n = &root;

    for (std::size_t i = 0; i + 1 < parts.size(); i++) {
        if (toml::table *t = n->as_table())
            n = t->get(parts[i]);
        else if (toml::array *a = n->as_array())
            n = find_element(*a, parts[i]);
        else
            n = nullptr;
        if (!n)
            fail(s, fmt::format("no \"{}\" in the scenario", parts[i]),
                 "a path of tables, elements by name or number");
    }
    if (!n->is_table())
        fail(s, "leads to no table", "a path of tables, elements by name or number");
    return *n->as_table();
}

// A TOML value if it is one, else a string.
void assign(toml::table &table, const std::string &key, const setting &s)
{
    if (s.value.find('\n') == std::string::npos) {
        try {
            toml::table parsed = toml::parse(fmt::format("v = {}", s.value));

            if (const toml::node *v = parsed.get("v"); v && parsed.size() == 1 && !v->is_table()) {
                v->visit([&](const auto &value) { table.insert_or_assign(key, value); });
                return;
            }
        } catch (const toml::parse_error &) {
            // A string then.
        }
    }
    table.insert_or_assign(key, s.value);
}

void apply(toml::table &root, const setting &s)
{
    const std::vector<std::string> parts = split_path(s);

    assign(find_table(root, s, parts), parts.back(), s);
}

std::string value_text(toml_fields &f, std::string_view name, const toml::node &n)
{
    if (const auto *s = n.as_string())
        return s->get();
    if (const auto *i = n.as_integer())
        return fmt::format("{}", i->get());
    if (const auto *b = n.as_boolean())
        return b->get() ? "true" : "false";
    f.wrong(name, n, "integers, strings, true or false");
}

} // namespace

toml::table parse_toml(std::string_view text, const std::string &file)
{
    if (text.size() > scenario_max_bytes)
        throw parse_error(file, 0, "file too large", fmt::format("at most {} bytes", scenario_max_bytes));
    try {
        return toml::parse(text, file);
    } catch (const toml::parse_error &e) {
        throw parse_error(file, e.source().begin.line, fmt::format("not TOML: {}", e.description()),
                          "a TOML document");
    }
}

std::string read_text(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;

    if (!in)
        throw parse_error(path, 0, fmt::format("cannot open: {}", std::strerror(errno)), "a readable file");
    text << in.rdbuf();
    if (in.bad() || text.bad())
        throw parse_error(path, 0, "cannot read", "a readable file");
    return text.str();
}

std::string directory_of(const std::string &path)
{
    const std::size_t slash = path.rfind('/');

    return slash == std::string::npos ? "." : path.substr(0, slash);
}

void apply_settings(toml::table &root, const std::string &file, const std::vector<setting> &settings)
{
    const toml::node *node = root.get("parameters");

    for (const setting &s : settings) {
        if (const toml::table *parameters = node ? node->as_table() : nullptr;
            parameters && parameters->contains(s.path)) {
            toml_fields f(*parameters, file, "parameters");

            for (const std::string &path : f.texts(s.path, axis_max))
                apply(root, {path, s.value});
        } else {
            apply(root, s);
        }
    }
}

void apply_base(toml::table &root, const std::string &file, const std::string &dir)
{
    toml_fields f(root, file, "");
    std::vector<setting> settings;

    if (!f.has("base"))
        return;
    const std::string path = fmt::format("{}/{}.toml", dir, f.name("base"));

    if (dir.empty())
        f.fail("base", "without a directory", "a scenario in a file");
    toml::table base = parse_toml(read_text(path), path);

    if (base.contains("base"))
        f.fail("base", "has a base itself", "a scenario without one");
    if (const toml::table *set = f.table("set")) {
        toml_fields values(*set, file, "set");

        for (const auto &[key, value] : *set)
            settings.push_back({std::string(key.str()), value_text(values, key.str(), value)});
    }
    root.erase("base");
    root.erase("set");
    for (auto &&[key, value] : root) {
        const toml::key &name = key; // clang 14 captures no structured bindings

        value.visit([&](auto &v) { base.insert_or_assign(name, std::move(v)); });
    }
    apply_settings(base, path, settings);
    root = std::move(base);
}

setting parse_setting(std::string_view text)
{
    const std::size_t equals = text.find('=');

    if (equals == std::string_view::npos || equals == 0)
        throw parse_error(command_line, 0, fmt::format("\"{}\"", text), "path=value");
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::vector<sweep_axis> parse_sweep(std::string_view text, const std::string &file, const std::string &dir)
{
    toml::table root = parse_toml(text, file);

    apply_base(root, file, dir);
    toml_fields top(root, file, "");
    const toml::table *sweep = top.table("sweep");
    std::vector<sweep_axis> axes;

    if (!sweep)
        return axes;
    toml_fields f(*sweep, file, "sweep");

    if (sweep->size() > axis_max)
        f.fail("too many axes", fmt::format("at most {}", axis_max));
    for (const auto &[key, value] : *sweep) {
        const toml::array *array = value.as_array();

        if (!array || array->empty() || array->size() > axis_value_max)
            f.wrong(key.str(), value, fmt::format("an array of 1 to {} values", axis_value_max));
        sweep_axis &axis = axes.emplace_back(sweep_axis{std::string(key.str()), {}});

        for (const toml::node &item : *array)
            axis.values.push_back(value_text(f, key.str(), item));
    }
    return axes;
}

std::vector<sweep_axis> read_sweep(const std::string &path)
{
    return parse_sweep(read_text(path), path, directory_of(path));
}

std::vector<std::vector<setting>> sweep_points(const std::vector<sweep_axis> &axes)
{
    std::vector<std::vector<setting>> points(1);

    for (const sweep_axis &axis : axes) {
        std::vector<std::vector<setting>> grown;

        if (!axis.values.empty() && points.size() > point_max / axis.values.size())
            throw parse_error(command_line, 0, "sweep too large",
                              fmt::format("at most {} points", point_max));
        for (const std::vector<setting> &point : points) {
            for (const std::string &value : axis.values) {
                grown.push_back(point);
                grown.back().push_back({axis.name, value});
            }
        }
        points = std::move(grown);
    }
    return points;
}

} // namespace vramlab::workload
