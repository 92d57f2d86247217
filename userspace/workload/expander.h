// SPDX-License-Identifier: MIT
// A scenario on its way to a workload. Internal to expansion.
#pragma once

#include "workload/expand_groups.h"
#include "workload/scenario.h"

#include <map>
#include <utility>

namespace vramlab::workload {

// A process that runs: a copy of its spec, with what it has defined so far.
struct expanded_process {
    const process_spec *spec = nullptr;
    u32 number = 0;
    u32 copy = 0;         // from 0
    std::vector<u32> vms; // labels
    std::vector<drawn_group> groups;
    u64 frame = 0; // submitted so far

    // What the VM's lists and touch sets hold now, so that they are defined again only when they change.
    std::map<std::pair<u32, u32>, std::vector<u64>> lists; // (VM label, id)
    std::map<std::pair<u32, u32>, std::vector<touch>> touches;

    // A client whose images this process shows.
    struct client {
        expanded_process *process = nullptr;
        bool shown = false;
        bool gone = false;
    };
    std::vector<client> clients;

    drawn_group *find_group(const std::string &name);
};

class expander {
public:
    expander(const scenario &s, const expansion_limits &limits);
    workload run();

private:
    struct timed_operation {
        u64 at_ns;
        u32 process;
        operation op;
    };

    // expander.cc
    void make_system();
    void make_processes();
    void link_clients();
    void merge();
    void check();
    void push(operation op);
    operation &last() { return program_.back().op; }
    void count_elements(u64 n);
    void count_work(u64 n, u32 line);
    [[noreturn]] void fail(u32 line, const std::string &problem, const std::string &expected) const;

    // expander_operations.cc: one operation or a few of a kind, at time now_ns_
    operation make(op_kind kind, u32 process, u32 line) const;
    request &request_of(expanded_process &p, u32 vm, request_kind kind, u32 line);
    void open_vms(expanded_process &p);
    void create_bo(expanded_process &p, drawn_group &g, u32 bo);
    void create_group(expanded_process &p, drawn_group &g);
    void create_groups(expanded_process &p);
    void destroy_group(expanded_process &p, drawn_group &g);
    void sleep_until(u32 process, u64 at_ns, u32 line);
    void set_limits(const cgroup_config &g, u32 line);

    // expander_frame.cc: the submissions of a frame
    struct submission {
        std::vector<u64> list;
        std::vector<touch> touches;
    };
    void collect(expanded_process &p, const drawn_group &g, u32 index, submission &out);
    void collect_client(const expanded_process::client &c, u64 frame, submission &out);
    request define_submission(expanded_process &p, u32 vm, u32 index);
    void submit_frame(expanded_process &p);
    const drawn_group *swapchain(const expanded_process &p) const;
    u32 image_count(const expanded_process &p) const;

    // expander_time.cc: order "time"
    void time_program(expanded_process &p);
    void frame_loop(expanded_process &p, std::vector<timed_event> &events);
    void run_frame(expanded_process &p, u64 period_ns);
    void show_image(expanded_process &p);
    void update_clients(expanded_process &p);
    bool handle_event(expanded_process &p, std::vector<timed_event> &events);
    void exit_process(expanded_process &p, u32 line);
    void system_program();
    std::vector<timed_event> events_of(const expanded_process &p) const;
    u64 exit_ns(const expanded_process &p) const;

    // expander_steps.cc: order "file"
    void steps_program();
    void run_step(const scripted_step &t);
    void step_on_group(const scripted_step &t, expanded_process &p);
    void run_round();
    void advance(u64 by_ns, u32 line);

    const scenario &s_;
    const expansion_limits &limits_;
    workload out_;
    std::vector<expanded_process> processes_;
    std::vector<timed_operation> program_;
    u64 now_ns_ = 0; // nominal time of what is pushed
    u64 advanced_ns_ = 0;
    u64 rounds_ = 0;
    u64 next_bo_ = 1;
    u64 elements_ = 0;
    u64 work_ = 0;
};

// A compositor takes a client's images up this long after the client's start, when they surely exist.
inline constexpr u64 client_margin_ns = 100 * ns_per_ms;

} // namespace vramlab::workload
