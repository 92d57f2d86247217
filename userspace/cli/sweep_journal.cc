// SPDX-License-Identifier: MIT
#include "cli/sweep_journal.h"

#include "workload/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

namespace vramlab::cli {

namespace fs = std::filesystem;

namespace {

class fnv {
public:
    void add(std::string_view text)
    {
        for (const char c : text)
            hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        hash_ = (hash_ ^ 0x100) * 0x100000001b3; // texts stay apart
    }
    void add_file(const fs::path &path)
    {
        std::ifstream in(path, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        add(path.string());
        add(text.str());
    }
    u64 value() const { return hash_; }

private:
    u64 hash_ = 0xcbf29ce484222325;
};

void add_scenarios(fnv &h, const fs::path &directory)
{
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const fs::path &d : {directory, directory / "devices"})
        for (const fs::directory_entry &e : fs::directory_iterator(d, ignored))
            if (e.path().extension() == ".toml")
                files.push_back(e.path());
    std::sort(files.begin(), files.end());
    for (const fs::path &file : files)
        h.add_file(file);
}

[[noreturn]] void cannot(const std::string &path, const char *what)
{
    throw std::runtime_error(fmt::format("{}: cannot {}: {}", path, what, std::strerror(errno)));
}

using workload::json_kind;
using workload::json_value;

// The shortest text that reads as the same number again.
std::string row_json(const sweep_row &r)
{
    std::string s = fmt::format("[{}", r.failed_invariants);
    for (const std::optional<double> &v : r.values)
        s += v ? fmt::format(",{}", *v) : ",null";
    return s + "]";
}

bool is_number(const json_value &v)
{
    return v.kind == json_kind::integer || v.kind == json_kind::real;
}

// False if it is no row of so many values.
bool row_of(const json_value &j, std::size_t values, sweep_row &r)
{
    if (j.items.size() != values + 1 || j.items[0].kind != json_kind::integer)
        return false;
    r.failed_invariants = j.items[0].integer;
    for (std::size_t i = 1; i < j.items.size(); i++) {
        const json_value &v = j.items[i];
        if (v.kind != json_kind::null && !is_number(v))
            return false;
        r.values.push_back(v.kind == json_kind::null ? std::nullopt : std::optional<double>(v.real));
    }
    return true;
}

// What a line says of an item; false if it is none of `items`, or not of so many policies and values.
bool item_of(const json_value &j, std::size_t items, std::size_t policies, std::size_t values,
             std::size_t &item, std::vector<sweep_row> &rows)
{
    const json_value *number = j.find("item"), *list = j.find("rows");
    if (!number || number->kind != json_kind::integer || number->integer >= items || !list ||
        list->items.size() != policies)
        return false;
    item = number->integer;
    rows.resize(policies);
    for (std::size_t p = 0; p < policies; p++)
        if (!row_of(list->items[p], values, rows[p]))
            return false;
    return true;
}

} // namespace

u64 sweep_key(const sweep_arguments &a, const std::vector<sweep_item> &items)
{
    fnv h;
    h.add_file("/proc/self/exe");
    std::set<fs::path> directories, files;
    for (const sweep_item &i : items) {
        const fs::path file = i.file;
        if (files.insert(file).second)
            h.add_file(file);
        directories.insert(file.has_parent_path() ? file.parent_path() : ".");
        h.add(i.file);
        for (const workload::setting &s : i.point) {
            h.add(s.path);
            h.add(s.value);
        }
    }
    for (const fs::path &d : directories)
        add_scenarios(h, d);
    for (const auto *list : {&a.policies, &a.metrics, &a.processes, &a.in.settings}) {
        h.add(std::to_string(list->size()));
        for (const std::string &s : *list)
            h.add(s);
    }
    h.add(a.in.seed ? std::to_string(*a.in.seed) : "");
    h.add(a.bounds ? "bounds" : "");
    return h.value();
}

sweep_journal::sweep_journal(std::string path, u64 key, std::size_t policies, std::size_t values,
                             std::vector<std::vector<sweep_row>> &rows)
    : path_(std::move(path))
{
    if (path_.empty())
        return;
    read(key, policies, values, rows);
    f_ = std::fopen(path_.c_str(), good_bytes_ ? "r+" : "w");
    if (!f_)
        cannot(path_, "write");
    if (good_bytes_) {
        if (::ftruncate(::fileno(f_), good_bytes_) || std::fseek(f_, 0, SEEK_END))
            cannot(path_, "write");
    } else {
        fmt::print(f_, "{{\"vramlab_sweep\":1,\"key\":{}}}\n", key);
    }
}

sweep_journal::~sweep_journal()
{
    if (f_)
        std::fclose(f_);
}

void sweep_journal::read(u64 key, std::size_t policies, std::size_t values,
                         std::vector<std::vector<sweep_row>> &rows)
{
    std::ifstream in(path_, std::ios::binary);
    std::string line;
    for (bool first = true; std::getline(in, line) && !in.eof(); first = false) {
        json_value j;
        const bool readable = workload::parse_json(line, j).problem.empty();
        if (first) {
            if (!readable || !j.find("vramlab_sweep"))
                throw std::runtime_error(
                    fmt::format("{}:1: no journal of a sweep, expected one or no file", path_));
            if (const json_value *k = j.find("key"); !k || k->integer != key)
                throw std::runtime_error(fmt::format(
                    "{}: is of another sweep (or program, or scenario), expected this one's: remove "
                    "it, or choose another output",
                    path_));
        } else {
            std::size_t item = 0;
            std::vector<sweep_row> of_item;
            if (!readable || !item_of(j, rows.size(), policies, values, item, of_item))
                return;
            found_ += rows[item].empty();
            rows[item] = std::move(of_item);
        }
        good_bytes_ += static_cast<long>(line.size() + 1);
    }
}

void sweep_journal::done(std::size_t item, const std::vector<sweep_row> &rows)
{
    if (!f_)
        return;
    std::string line = fmt::format("{{\"item\":{},\"rows\":[", item);
    for (std::size_t i = 0; i < rows.size(); i++)
        line += (i ? "," : "") + row_json(rows[i]);
    line += "]}\n";
    const std::scoped_lock lock(mutex_);
    if (std::fwrite(line.data(), 1, line.size(), f_) != line.size() || std::fflush(f_))
        cannot(path_, "write");
}

} // namespace vramlab::cli
