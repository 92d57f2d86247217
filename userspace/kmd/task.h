// SPDX-License-Identifier: MIT
// Tasks in lockstep: the model of several processes being inside the kernel at once, one of them running at a
// time. What stands for the kernel's park points and for sleeping on a lock (Documentation/semantics.rst,
// "Lockstep").
//
// Code of kmd/ runs either outside of any task (current() is nullptr: it never parks, and a lock that would
// block is a std::logic_error) or on a task's own stack. All tasks of a model belong to one thread.
//
// What the kernel finds through `current` goes with the stack: trace.process and dmem_cgroup_current. A task
// starts with those of its begin() and, on each switch, leaves its own behind and gets the other side's back.
#pragma once

#include "base/types.h"

#include <functional>
#include <memory>

namespace vramlab::kmd {

class task {
public:
    enum class state : u8 { idle, parked, blocked, running };

    // Bytes of a task's stack. Below it is a guard page; stacks are pooled by thread.
    static constexpr std::size_t stack_size_bytes = 512 * 1024;

    explicit task(u32 id);
    ~task(); // must be idle: else std::terminate(), since its stack cannot be unwound
    task(const task &) = delete;
    task &operator=(const task &) = delete;

    // From outside: starts fn on this task's stack and returns at its first park, block or end. The task must
    // be idle. An exception that leaves fn is rethrown here or from step(); the task is idle then. Events of
    // fn carry id() as their process.
    state begin(std::function<void()> fn);
    // From outside: lets a parked task go on, likewise.
    state step();

    state current_state() const { return state_; }
    u32 id() const { return id_; }

    // From inside, on current(): give way until stepped.
    void park();
    // From inside: sleep until wake(). Whoever wakes it leaves it parked: it goes on with the next step().
    void block();
    // From outside or another task: a blocked task becomes parked.
    void wake();

    static task *current() { return current_; }

private:
    struct context; // the stack and the switch
    void leave(state s);
    state enter();
    static void run(unsigned high, unsigned low);

    static inline thread_local constinit task *current_ = nullptr;

    std::unique_ptr<context> context_;
    u32 id_;
    state state_ = state::idle;
};

} // namespace vramlab::kmd
