// SPDX-License-Identifier: MIT
#include "gpu/engine.h"

#include <algorithm>

namespace vramlab::gpu {

void engine::run(engine_job &job)
{
    jobs_.push_back(&job);
    if (jobs_.size() == 1)
        start_first();
}

// A job starts when the one before ends, or when an idle engine gets it: in both cases that is now.
void engine::start_first()
{
    engine_job &job = *jobs_.front();
    const u64 now_ns = queue_.now_ns();
    job.start_ns = now_ns;
    end_ns_ = now_ns + job.time.fixed_ns;
    queue_.push(end_ns_, rank_, job.seqno, *this);
    if (job.time.link_ns)
        link_.begin(link_user_, now_ns, job.time.at_once ? now_ns : end_ns_, job.time.link_ns,
                    job.time.direction);
    job.started();
}

void engine::transfer_will_end(u64 end_ns)
{
    const engine_job &job = *jobs_.front();
    end_ns_ = std::max(job.start_ns + job.time.fixed_ns, end_ns);
    queue_.reschedule(end_ns_, *this);
}

void engine::fire()
{
    engine_job &job = *jobs_.front();
    jobs_.pop_front();
    const bool more = !jobs_.empty(); // done() may give us another job, which then starts by itself
    job.done();
    if (more)
        start_first();
}

} // namespace vramlab::gpu
