// SPDX-License-Identifier: MIT
#include "kmd/task.h"

#include "kmd/dmem_cgroup.h"
#include "kmd/trace.h"

#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define VRAMLAB_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VRAMLAB_ASAN 1
#endif
#endif
#ifdef VRAMLAB_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace vramlab::kmd {
namespace {

std::size_t page_size_bytes()
{
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Stacks that are not in use. mmap and mprotect cost more than a short task does.
class stack_pool {
public:
    ~stack_pool()
    {
        for (void *mapping : free_)
            munmap(mapping, mapping_size_bytes());
    }
    // The lowest usable byte; the guard page is below.
    char *get()
    {
        void *mapping = nullptr;
        if (!free_.empty()) {
            mapping = free_.back();
            free_.pop_back();
        } else {
            mapping = mmap(nullptr, mapping_size_bytes(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (mapping == MAP_FAILED)
                throw std::bad_alloc();
            if (mprotect(mapping, page_size_bytes(), PROT_NONE) != 0) {
                munmap(mapping, mapping_size_bytes());
                throw std::bad_alloc();
            }
        }
        return static_cast<char *>(mapping) + page_size_bytes();
    }
    void put(char *stack)
    {
#ifdef VRAMLAB_ASAN
        // Frames that ended by an exception leave their red zones poisoned.
        __asan_unpoison_memory_region(stack, task::stack_size_bytes);
#endif
        free_.push_back(stack - page_size_bytes());
    }

private:
    static std::size_t mapping_size_bytes()
    {
        return task::stack_size_bytes + page_size_bytes();
    }
    std::vector<void *> free_;
};

thread_local stack_pool stacks;

} // namespace

namespace task_detail {

// What belongs to a stack but lives in thread-local variables. The first two are the C++ runtime's: the
// exceptions that are being handled, without which a task could not park in a catch block or a destructor.
struct thread_locals {
    void *caught_exceptions = nullptr;
    unsigned uncaught_exceptions = 0;
    u32 process = 0;
    dmemcg_state *cgroup = nullptr;

    void swap()
    {
        struct eh_globals { // __cxa_eh_globals of the Itanium C++ ABI
            void *caught_exceptions;
            unsigned uncaught_exceptions;
        };
        auto *eh = reinterpret_cast<eh_globals *>(abi::__cxa_get_globals());
        std::swap(caught_exceptions, eh->caught_exceptions);
        std::swap(uncaught_exceptions, eh->uncaught_exceptions);
        std::swap(process, trace.process);
        std::swap(cgroup, dmem_cgroup_current);
    }
};

} // namespace task_detail

struct task::context {
    ucontext_t self{};
    ucontext_t resumer{}; // who called begin() or step()
    task *resumer_task = nullptr;
    char *stack = nullptr;
    std::function<void()> fn;
    std::exception_ptr error;
    task_detail::thread_locals other;   // of whichever side does not run
    void *fake_stack = nullptr;         // ASan's, of this task while it does not run
    void *resumer_fake_stack = nullptr; // likewise, of its resumer
    const void *resumer_stack = nullptr;
    std::size_t resumer_stack_size_bytes = 0;

    // Bracket every switch; `last` is the one from which the task does not come back.
    void before_entering()
    {
#ifdef VRAMLAB_ASAN
        __sanitizer_start_switch_fiber(&resumer_fake_stack, stack, stack_size_bytes);
#endif
    }
    void after_entering()
    {
#ifdef VRAMLAB_ASAN
        __sanitizer_finish_switch_fiber(fake_stack, &resumer_stack, &resumer_stack_size_bytes);
#endif
    }
    void before_leaving([[maybe_unused]] bool last)
    {
#ifdef VRAMLAB_ASAN
        __sanitizer_start_switch_fiber(last ? nullptr : &fake_stack, resumer_stack, resumer_stack_size_bytes);
#endif
    }
    void after_leaving()
    {
#ifdef VRAMLAB_ASAN
        __sanitizer_finish_switch_fiber(resumer_fake_stack, nullptr, nullptr);
#endif
    }
};

task::task(u32 id) : context_(std::make_unique<context>()), id_(id) {}

task::~task()
{
    if (state_ != state::idle) {
        std::fputs("kmd::task: destroyed while its operation is under way\n", stderr);
        std::terminate();
    }
}

// makecontext() passes ints only.
void task::run(unsigned high, unsigned low)
{
    auto *t = reinterpret_cast<task *>(static_cast<std::uintptr_t>((u64{high} << 32) | low));
    context &c = *t->context_;
    c.after_entering();
    try {
        c.fn();
    } catch (...) {
        c.error = std::current_exception();
    }
    c.fn = nullptr;
    t->state_ = state::idle;
    c.before_leaving(true);
    setcontext(&c.resumer);
}

task::state task::begin(std::function<void()> fn)
{
    if (state_ != state::idle)
        throw std::logic_error("kmd::task::begin: not idle");
    context &c = *context_;
    c.stack = stacks.get();
    c.fn = std::move(fn);
    getcontext(&c.self);
    c.self.uc_stack.ss_sp = c.stack;
    c.self.uc_stack.ss_size = stack_size_bytes;
    c.self.uc_link = nullptr;
    const u64 self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&c.self, reinterpret_cast<void (*)()>(&task::run), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
    c.other = {.process = id_, .cgroup = dmem_cgroup_current};
    return enter();
}

task::state task::step()
{
    if (state_ != state::parked)
        throw std::logic_error("kmd::task::step: not parked");
    return enter();
}

task::state task::enter()
{
    context &c = *context_;
    state_ = state::running;
    c.resumer_task = std::exchange(current_, this);
    c.other.swap();
    c.before_entering();
    swapcontext(&c.resumer, &c.self);
    c.after_leaving();
    c.other.swap();
    current_ = c.resumer_task;
    if (state_ == state::idle) {
        stacks.put(std::exchange(c.stack, nullptr));
        if (c.error)
            std::rethrow_exception(std::exchange(c.error, nullptr));
    }
    return state_;
}

void task::leave(state s)
{
    if (current_ != this)
        throw std::logic_error("kmd::task: park or block of a task that is not running");
    context &c = *context_;
    state_ = s;
    c.before_leaving(false);
    swapcontext(&c.self, &c.resumer);
    c.after_entering();
}

void task::park()
{
    leave(state::parked);
}

void task::block()
{
    leave(state::blocked);
}

void task::wake()
{
    if (state_ != state::blocked)
        throw std::logic_error("kmd::task::wake: not blocked");
    state_ = state::parked;
}

} // namespace vramlab::kmd
