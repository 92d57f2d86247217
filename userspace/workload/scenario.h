// SPDX-License-Identifier: MIT
// Scenarios: short descriptions in TOML (Documentation/scenario-format.rst) that expand to explicit
// workloads. Expansion is deterministic and in integers only. Sizes in bytes, times in ns, rates per mille;
// errors are parse_error.
#pragma once

#include "base/cache_config.h"
#include "base/request.h"
#include "workload/parse_error.h"
#include "workload/workload.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::workload {

// An override of one key: "process.game.group.textures.total=9GiB", or the name of a parameter of the
// scenario.
struct setting {
    std::string path;
    std::string value; // a TOML value, or text that is no TOML value and so a string
};

// From "path=value". Throws parse_error.
setting parse_setting(std::string_view text);

enum class size_kind : u8 { fixed, uniform, log_uniform, list };

struct size_distribution {
    size_kind kind = size_kind::fixed;
    u64 min_bytes = 0; // fixed: the size
    u64 max_bytes = 0;
    std::vector<u64> values_bytes;
};

enum class creation_order : u8 { forward, reverse, shuffled };
enum class listing_kind : u8 { all, touched, none }; // which BOs of a shared group a submission lists
enum class listing_order : u8 { forward, reverse, alternate };
enum class rank_kind : u8 { shuffled, created };

struct group_config {
    std::string name;
    u32 line = 0;
    u32 vm = 1;
    u32 count = 0;       // 0: as many as `total` takes
    u64 total_bytes = 0; // 0: `count` BOs
    size_distribution size;
    creation_order order = creation_order::forward;
    u32 preferred = domain_vram;
    u32 allowed = 0;
    u32 flags = bo_vm_private;
    u32 priority = priority_default;
    listing_kind listing = listing_kind::all;
    listing_order list_order = listing_order::forward;
    u32 touch_count = 0;        // BOs touched a frame, or
    u32 touch_per_mille = 1000; // share of them
    bool touch_by_count = false;
    u32 touch_bytes_per_mille = 1000; // of a touched BO's size
    u32 skew = 0;                     // rank r gets 1/(r+1)^skew of that
    rank_kind rank = rank_kind::shuffled;
    u32 drift_every = 0; // frames; 0: never
    u32 drift_by = 1;    // ranks
    u32 l2_per_mille = 0;
    u32 msc_per_mille = 0; // memory-side cache
    bool random = false;   // other BOs each frame, drawn anew
    bool deferred = false; // created by an event or step
};

enum class present_kind : u8 { none, immediate, fifo };
enum class allocation_kind : u8 { grouped, interleaved, shuffled };

struct process_spec {
    std::string name;
    u32 line = 0;
    std::string cgroup;
    u32 count = 1; // copies: name1, name2, ...
    u32 vms = 1;
    u64 start_ns = 0;
    allocation_kind allocation = allocation_kind::grouped;
    u32 submissions = 1;   // a frame, each VM; 0: an idle process
    u64 compute_ns = 0;    // a submission
    u64 submit_cpu_ns = 0; // of the program's CPU, before each submission
    u32 frames_in_flight = 2;
    present_kind present = present_kind::fifo;
    u32 refresh_hz = 60;
    u32 max_fps = 0;
    u32 frames = 0;        // 0: as many as the duration takes
    std::string swapchain; // group
    std::string
        scanout; // process that shows the swapchain: "self", an earlier process (a compositor), "" for nobody
    bool direct_scanout = false; // a compositor shows its first client's image, not one of its own
    std::vector<group_config> groups;
};

enum class event_kind : u8 {
    pause,
    grow,
    burst,
    set_priority,
    exit,
    evict_all,
    suspend,
    swapout,
    set_limits
};

struct timed_event {
    event_kind kind{};
    u32 line = 0;
    u64 at_ns = 0;
    u64 for_ns = 0; // pause, burst, suspend
    std::string process;
    std::string group;
    u32 priority = 0;
    cgroup_config cgroup;
};

enum class step_kind : u8 {
    create,
    destroy,
    pin,
    unpin,
    submit,
    wait,
    round,
    evict_all,
    swapout,
    advance,
    set_limits
};

// One step of a scenario of order "file".
struct scripted_step {
    step_kind kind{};
    u32 line = 0;
    u32 repeat = 1;
    std::string process;
    std::string group;
    u32 bo = 0;      // of the group, in order of creation
    bool all = true; // of the group
    u64 by_ns = 0;   // advance, round
    cgroup_config cgroup;
};

struct scenario {
    std::string file;
    std::string name;
    std::string description;
    std::string url;      // where it was reported
    std::string reported; // what the source says
    std::string chosen;   // what was chosen here
    order_kind order = order_kind::time;
    u64 duration_ns = 0;
    bool end_by_time = true; // else when every program has ended
    u64 seed = 1;
    u32 scale = 1; // divides sizes, limits and bandwidths
    device_config device;
    std::optional<cache_config> caches; // for chains of reads; frames have hit rates of their own
    std::vector<cgroup_config> cgroups;
    std::vector<process_spec> processes;
    std::vector<timed_event> events; // by time, then as written
    std::vector<scripted_step> steps;
    std::vector<expectation> expectations;
};

// A file of a device alone, or a scenario's. Throws parse_error, also if it has no caches.
cache_config read_caches(const std::string &path, const std::vector<setting> &settings = {});

// One parameter of a scenario's [sweep], with the values to try.
struct sweep_axis {
    std::string name;
    std::vector<std::string> values;
};

// dir is where a scenario's base is looked for, and in dir/devices its device; without one it may have
// neither.
scenario read_scenario(const std::string &path, const std::vector<setting> &settings = {});
scenario parse_scenario(std::string_view text, const std::string &file,
                        const std::vector<setting> &settings = {}, const std::string &dir = {});

std::vector<sweep_axis> read_sweep(const std::string &path);
std::vector<sweep_axis> parse_sweep(std::string_view text, const std::string &file,
                                    const std::string &dir = {});

// The grid of all axes, the last one running fastest; one empty point if there is no axis.
std::vector<std::vector<setting>> sweep_points(const std::vector<sweep_axis> &axes);

// What an expansion may grow to, so that a mistyped number does not eat the machine.
struct expansion_limits {
    u64 operations = 4'000'000;
    u64 elements = 64'000'000; // of lists and touch sets, over all operations
    u64 work = 4'000'000'000;  // BOs looked at, over all submissions
};

// The explicit workload. It passes the checker. Throws parse_error (the file and line of the process or
// group).
workload expand(const scenario &s, const expansion_limits &limits = {});

// By name: ".toml" is expanded with the settings, ".jsonl" and ".jsonl.zst" are read (and take no settings).
workload load(const std::string &path, const std::vector<setting> &settings = {});

} // namespace vramlab::workload
