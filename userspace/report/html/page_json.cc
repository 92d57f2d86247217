// SPDX-License-Identifier: MIT
// The data of the page. The scripts beside this file read it; units are in the names: ns, bytes.
#include "report/html/page_runs.h"
#include "report/html/report_page.h"
#include "report/metrics_print.h"
#include "report/table.h"

#include <nlohmann/json.hpp>

namespace vramlab::report {

using nlohmann::ordered_json;

namespace {

const char *unit_name(unit u)
{
    switch (u) {
    case unit::count:
        return "count";
    case unit::bytes:
        return "bytes";
    case unit::ms:
        return "ms";
    case unit::share:
        return "share";
    case unit::bytes_per_frame:
        return "bytes a frame";
    }
    return "";
}

ordered_json system_json(const system_config &s)
{
    const device_config &d = s.device;
    ordered_json j;
    j["device"] = {{"vram_bytes", d.vram_size_bytes},
                   {"gtt_bytes", d.gtt_size_bytes},
                   {"vram_bandwidth", d.vram_bandwidth},
                   {"link_bandwidth", d.link_bandwidth},
                   {"copy_latency_ns", d.copy_latency_ns},
                   {"log2_max_mbps", d.log2_max_mbps},
                   {"overlap", d.overlap}};
    j["cgroups"] = ordered_json::array();
    for (const cgroup_config &c : s.cgroups) {
        ordered_json g{{"path", c.path}, {"min_bytes", c.min_bytes}, {"low_bytes", c.low_bytes}};
        if (c.max_bytes != ~u64{0})
            g["max_bytes"] = c.max_bytes;
        j["cgroups"].push_back(std::move(g));
    }
    j["processes"] = ordered_json::array();
    for (const process_config &p : s.processes)
        j["processes"].push_back({{"process", p.process}, {"name", p.name}, {"cgroup", p.cgroup}});
    return j;
}

// Every metric, of all processes together (key 0) and of each; as numbers and as the tables show them.
ordered_json metrics_of(const metrics &m)
{
    ordered_json j = ordered_json::object();
    std::vector<u32> processes{0};
    for (const process_config &p : m.processes())
        processes.push_back(p.process);
    for (const u32 process : processes) {
        ordered_json values = ordered_json::array(), texts = ordered_json::array();
        for (const metric_descriptor &d : metric_table()) {
            if (d.total_only && process) {
                values.push_back(nullptr);
                texts.push_back("-");
                continue;
            }
            const double value = d.get(m, m.of(process));
            values.push_back(value);
            texts.push_back(format_metric(d.u, value));
        }
        j[std::to_string(process)] = {{"values", std::move(values)}, {"texts", std::move(texts)}};
    }
    return j;
}

ordered_json scenario_json(const page_scenario &s, const page_options &o)
{
    ordered_json j{{"file", s.file},         {"name", s.name},         {"description", s.description},
                   {"url", s.url},           {"reported", s.reported}, {"chosen", s.chosen},
                   {"settings", s.settings}, {"seed", s.seed}};
    j["system"] = system_json(s.system);
    const std::vector<u64> bos = shown_bos(s, o.bos_max);
    j["bos"] = bos;
    j["bos_with_moves"] = bos_with_moves(s);
    j["runs"] = ordered_json::array();
    for (const page_run &r : s.runs) {
        ordered_json run{{"policy", r.policy},
                         {"description", r.description},
                         {"checked", r.checked},
                         {"failures", r.failures}};
        run["bounds"] = ordered_json::array();
        for (const auto &[heading, text] : r.bounds)
            run["bounds"].push_back({heading, text});
        run["metrics"] = metrics_of(*r.m);
        run["ping_pong"] = metrics_json(*r.m)["ping_pong"];
        run["timeline"] = timeline_json(*r.t, bos);
        j["runs"].push_back(std::move(run));
    }
    return j;
}

// Nothing in a <script> may look like its end, or like a comment's begin. In JSON all of these are in
// strings.
std::string script_escape(const std::string &json)
{
    std::string out;
    for (const char c : json) {
        if (c == '<')
            out += "\\u003c";
        else if (c == '>')
            out += "\\u003e";
        else if (c == '&')
            out += "\\u0026";
        else
            out += c;
    }
    return out;
}

} // namespace

std::string page_json(const std::vector<page_scenario> &scenarios, const page_options &o)
{
    ordered_json j;
    j["command"] = o.command;
    j["provenance"] = provenance_line;
    j["metrics"] = ordered_json::array();
    for (const metric_descriptor &d : metric_table())
        j["metrics"].push_back({{"name", d.name}, {"unit", unit_name(d.u)}, {"total_only", d.total_only}});
    j["scenarios"] = ordered_json::array();
    for (const page_scenario &s : scenarios)
        j["scenarios"].push_back(scenario_json(s, o));
    // ASCII only; file names need not be UTF-8.
    return script_escape(j.dump(-1, ' ', true, ordered_json::error_handler_t::replace));
}

} // namespace vramlab::report
