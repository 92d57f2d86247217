// SPDX-License-Identifier: MIT
#include "workload/json_value.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vramlab::workload {

namespace {

constexpr std::size_t depth_max = 6;
constexpr std::size_t key_max = 64;

// Builds the value; every handler returns false to stop at the first error.
class builder {
public:
    explicit builder(json_value &root) : root_(root) {}

    json_error error;

    bool null() { return put({}); }
    bool boolean(bool b) { return put({.kind = json_kind::boolean, .boolean = b}); }
    bool number_integer(std::int64_t n)
    {
        return put({.kind = json_kind::real, .real = static_cast<double>(n)});
    }
    bool number_unsigned(std::uint64_t n)
    {
        return put({.kind = json_kind::integer, .integer = n, .real = static_cast<double>(n)});
    }
    bool number_float(double d, const std::string &) { return put({.kind = json_kind::real, .real = d}); }
    bool string(std::string &s) { return put({.kind = json_kind::string, .string = std::move(s)}); }
    bool binary(nlohmann::json::binary_t &) { return fail("binary data", "JSON text"); }

    bool start_object(std::size_t) { return open(json_kind::object); }
    bool end_object() { return close(); }
    bool start_array(std::size_t) { return open(json_kind::array); }
    bool end_array() { return close(); }

    bool key(std::string &k)
    {
        auto &members = stack_.back()->members;

        if (stack_.back()->find(k))
            return fail(fmt::format("duplicate key \"{}\"", k), "each key once");
        if (members.size() == key_max)
            return fail("too many keys", fmt::format("at most {}", key_max));
        members.emplace_back(std::move(k), json_value{});
        return true;
    }

    bool parse_error(std::size_t position, const std::string &, const nlohmann::json::exception &e)
    {
        // 101 is a syntax error; its text depends on the library's version, its position does not.
        return fail(e.id == 101 ? fmt::format("not JSON at column {}", position) : "number out of range",
                    e.id == 101 ? "one JSON object a line" : "a finite number");
    }

private:
    bool fail(std::string problem, std::string expected)
    {
        error = {std::move(problem), std::move(expected)};
        return false;
    }

    json_value *place()
    {
        if (stack_.empty())
            return &root_;
        json_value *top = stack_.back();

        return top->kind == json_kind::array ? &top->items.emplace_back() : &top->members.back().second;
    }

    bool put(json_value &&v)
    {
        *place() = std::move(v);
        return true;
    }

    bool open(json_kind kind)
    {
        if (stack_.size() == depth_max)
            return fail("nesting too deep", fmt::format("at most {} levels", depth_max));
        json_value *v = place();

        // Growing an array moves only its finished elements: the open ones are all last in theirs.
        v->kind = kind;
        stack_.push_back(v);
        return true;
    }

    bool close()
    {
        stack_.pop_back();
        return true;
    }

    json_value &root_;
    std::vector<json_value *> stack_;
};

} // namespace

const json_value *json_value::find(std::string_view key) const
{
    for (const auto &[name, value] : members)
        if (name == key)
            return &value;
    return nullptr;
}

const char *kind_name(json_kind kind)
{
    switch (kind) {
    case json_kind::null:
        return "null";
    case json_kind::boolean:
        return "a boolean";
    case json_kind::integer:
        return "an integer";
    case json_kind::real:
        return "a number";
    case json_kind::string:
        return "a string";
    case json_kind::array:
        return "an array";
    case json_kind::object:
        return "an object";
    }
    return "nothing";
}

json_error parse_json(std::string_view text, json_value &value)
{
    value = {};
    builder b(value);

    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &b) && b.error.problem.empty())
        b.error = {"not JSON", "one JSON object a line"};
    return b.error;
}

} // namespace vramlab::workload
