// SPDX-License-Identifier: MIT
#include "gpu/engine.h"

#include <algorithm>

namespace vramlab::gpu {

void engine::run(engine_job &job)
{
    job.start_ns = std::max(queue_.now_ns(), end_ns_);
    job.end_ns = job.start_ns + job.duration_ns;
    end_ns_ = job.end_ns;
    jobs_.push_back(&job);
    if (jobs_.size() == 1)
        start_first();
}

// A job starts when the one before ends, or when an idle engine gets it: in both cases that is now.
void engine::start_first()
{
    engine_job &job = *jobs_.front();
    queue_.push(job.end_ns, rank_, job.seqno, *this);
    job.started();
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
