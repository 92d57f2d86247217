// SPDX-License-Identifier: MIT
#include "sim/event_queue.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace vramlab::sim {

bool event_queue::later(const entry &a, const entry &b)
{
    return std::tie(a.time_ns, a.rank, a.seqno, a.order) > std::tie(b.time_ns, b.rank, b.seqno, b.order);
}

void event_queue::push(u64 time_ns, u32 rank, u64 seqno, event_handler &h)
{
    if (time_ns < now_ns_)
        throw std::logic_error("event_queue: an event in the past");
    heap_.push_back({time_ns, seqno, order_++, &h, rank});
    std::push_heap(heap_.begin(), heap_.end(), later);
}

void event_queue::reschedule(u64 time_ns, event_handler &h)
{
    const auto e = std::find_if(heap_.begin(), heap_.end(), [&](const entry &x) { return x.handler == &h; });
    if (e == heap_.end() || time_ns < now_ns_)
        throw std::logic_error("event_queue: no such event, or one in the past");
    e->time_ns = time_ns;
    std::make_heap(heap_.begin(), heap_.end(), later); // a handful of entries
}

void event_queue::run_next()
{
    if (heap_.empty())
        throw std::logic_error("event_queue: nothing to run");
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const entry e = heap_.back();
    heap_.pop_back();
    now_ns_ = e.time_ns;
    e.handler->fire();
}

void event_queue::set_now(u64 time_ns)
{
    if (time_ns < now_ns_ || time_ns > next_ns())
        throw std::logic_error("event_queue: the clock would go back or pass an event");
    now_ns_ = time_ns;
}

} // namespace vramlab::sim
