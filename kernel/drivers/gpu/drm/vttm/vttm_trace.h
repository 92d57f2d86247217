/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vttm

#if !defined(_VTTM_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _VTTM_TRACE_H_

#include <linux/tracepoint.h>

#include "vttm_drv.h"
#include "vttm_fence.h"
#include "vttm_gem.h"
#include "vttm_job.h"

/**
 * vttm_bo_create - a BO was created and placed
 * @bo: the BO
 */
TRACE_EVENT(vttm_bo_create,
	TP_PROTO(struct vttm_bo *bo),
	TP_ARGS(bo),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__field(u64, tag)
		__field(u64, size)
		__field(u32, vm)
		__field(u32, preferred)
		__field(u32, allowed)
		__field(u32, flags)
		__field(u32, domain)
	),
	TP_fast_assign(
		__entry->time_ns = vttm_clock_now(to_vttm_device(bo->tbo.base.dev));
		__entry->tag = bo->tag;
		__entry->size = bo->tbo.base.size;
		__entry->vm = vttm_bo_vm_label(bo);
		__entry->preferred = bo->preferred;
		__entry->allowed = bo->allowed;
		__entry->flags = bo->flags;
		__entry->domain = bo->domain;
	),
	TP_printk("time_ns=%llu tag=%llu size=%llu vm=%u preferred=%u allowed=%u flags=%u domain=%u",
		  __entry->time_ns, __entry->tag, __entry->size, __entry->vm,
		  __entry->preferred, __entry->allowed, __entry->flags, __entry->domain)
);

/**
 * vttm_bo_move - a BO is about to move
 * @bo: the BO
 * @from: where it is, or NULL
 * @to: where it goes
 * @evict: it makes room
 */
TRACE_EVENT(vttm_bo_move,
	TP_PROTO(struct vttm_bo *bo, struct ttm_resource *from,
		 struct ttm_resource *to, bool evict),
	TP_ARGS(bo, from, to, evict),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__field(u64, tag)
		__field(u64, size)
		__field(u32, vm)
		__field(u32, from)
		__field(u32, to)
		__field(bool, evict)
	),
	TP_fast_assign(
		__entry->time_ns = vttm_clock_now(to_vttm_device(bo->tbo.base.dev));
		__entry->tag = bo->tag;
		__entry->size = bo->tbo.base.size;
		__entry->vm = vttm_bo_vm_label(bo);
		__entry->from = from ? vttm_mem_type_to_domain(from->mem_type) : 0;
		__entry->to = vttm_mem_type_to_domain(to->mem_type);
		__entry->evict = evict;
	),
	TP_printk("time_ns=%llu tag=%llu size=%llu vm=%u from=%u to=%u evict=%d",
		  __entry->time_ns, __entry->tag, __entry->size, __entry->vm,
		  __entry->from, __entry->to, __entry->evict)
);

/**
 * vttm_submit - a submission is about to be queued
 * @job: its job
 * @bytes_moved: bytes that it moved
 * @threshold: bytes that it could move
 */
TRACE_EVENT(vttm_submit,
	TP_PROTO(struct vttm_job *job, u64 bytes_moved, u64 threshold),
	TP_ARGS(job, bytes_moved, threshold),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__field(u64, seqno)
		__field(u64, duration_ns)
		__field(u64, bytes_moved)
		__field(u64, threshold)
		__field(u32, vm)
	),
	TP_fast_assign(
		__entry->time_ns = vttm_clock_now(job->engine->vdev);
		__entry->seqno = job->tag;
		__entry->duration_ns = vttm_load_alone_ns(&job->load);
		__entry->bytes_moved = bytes_moved;
		__entry->threshold = threshold;
		__entry->vm = job->vm_label;
	),
	TP_printk("time_ns=%llu vm=%u seqno=%llu duration_ns=%llu bytes_moved=%llu threshold=%llu",
		  __entry->time_ns, __entry->vm, __entry->seqno, __entry->duration_ns,
		  __entry->bytes_moved, __entry->threshold)
);

/**
 * vttm_backoff - a submission or a pin met contention and starts over
 * @vdev: the device
 * @vm: label of its VM
 * @attempt: which attempt has ended, from 1
 * @evicting: it was making room; else it was locking BOs
 * @bytes_moved: bytes that it moved so far
 */
TRACE_EVENT(vttm_backoff,
	TP_PROTO(struct vttm_device *vdev, u32 vm, unsigned int attempt, bool evicting,
		 u64 bytes_moved),
	TP_ARGS(vdev, vm, attempt, evicting, bytes_moved),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__field(u64, bytes_moved)
		__field(u32, vm)
		__field(unsigned int, attempt)
		__field(bool, evicting)
	),
	TP_fast_assign(
		__entry->time_ns = vttm_clock_now(vdev);
		__entry->bytes_moved = bytes_moved;
		__entry->vm = vm;
		__entry->attempt = attempt;
		__entry->evicting = evicting;
	),
	TP_printk("time_ns=%llu vm=%u attempt=%u evicting=%d bytes_moved=%llu",
		  __entry->time_ns, __entry->vm, __entry->attempt, __entry->evicting,
		  __entry->bytes_moved)
);

/**
 * vttm_job_run - a job starts to run on its engine
 * @fence: its fence
 */
TRACE_EVENT(vttm_job_run,
	TP_PROTO(struct vttm_fence *fence),
	TP_ARGS(fence),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__string(engine, fence->engine->name)
		__field(u64, tag)
		__field(u64, start_ns)
		__field(u64, link_bytes)
		__field(u64, context)
		__field(u64, seqno)
		__field(u32, vm)
		__field(u32, kind)
	),
	TP_fast_assign(
		__entry->time_ns = vttm_clock_now(fence->engine->vdev);
		__assign_str(engine);
		__entry->tag = fence->tag;
		__entry->start_ns = fence->start_ns;
		__entry->link_bytes = fence->link_bytes;
		__entry->context = fence->base.context;
		__entry->seqno = fence->base.seqno;
		__entry->vm = fence->vm_label;
		__entry->kind = fence->kind;
	),
	TP_printk("time_ns=%llu engine=%s kind=%u tag=%llu vm=%u start_ns=%llu link_bytes=%llu context=%llu seqno=%llu",
		  __entry->time_ns, __get_str(engine), __entry->kind, __entry->tag,
		  __entry->vm, __entry->start_ns, __entry->link_bytes,
		  __entry->context, __entry->seqno)
);

/**
 * vttm_job_end - a job ends that ran
 * @fence: its fence, which is signaled after that
 */
TRACE_EVENT(vttm_job_end,
	TP_PROTO(struct vttm_fence *fence),
	TP_ARGS(fence),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__string(engine, fence->engine->name)
		__field(u64, tag)
		__field(u64, start_ns)
		__field(u64, end_ns)
		__field(u64, context)
		__field(u64, seqno)
		__field(u32, vm)
		__field(u32, kind)
	),
	TP_fast_assign(
		__entry->time_ns = vttm_clock_now(fence->engine->vdev);
		__assign_str(engine);
		__entry->tag = fence->tag;
		__entry->start_ns = fence->start_ns;
		__entry->end_ns = fence->end_ns;
		__entry->context = fence->base.context;
		__entry->seqno = fence->base.seqno;
		__entry->vm = fence->vm_label;
		__entry->kind = fence->kind;
	),
	TP_printk("time_ns=%llu engine=%s kind=%u tag=%llu vm=%u start_ns=%llu end_ns=%llu context=%llu seqno=%llu",
		  __entry->time_ns, __get_str(engine), __entry->kind, __entry->tag,
		  __entry->vm, __entry->start_ns, __entry->end_ns,
		  __entry->context, __entry->seqno)
);

#ifdef VTTM_THROTTLE
/**
 * vttm_recover - a displaced BO was validated again
 * @bo: the BO
 * @before: domain in which it was
 * @ret: what came of it
 */
TRACE_EVENT(vttm_recover,
	TP_PROTO(struct vttm_bo *bo, u32 before, int ret),
	TP_ARGS(bo, before, ret),
	TP_STRUCT__entry(
		__field(u64, time_ns)
		__field(u64, tag)
		__field(u64, size)
		__field(u32, vm)
		__field(u32, before)
		__field(u32, after)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->time_ns = vttm_clock_now(to_vttm_device(bo->tbo.base.dev));
		__entry->tag = bo->tag;
		__entry->size = bo->tbo.base.size;
		__entry->vm = vttm_bo_vm_label(bo);
		__entry->before = before;
		__entry->after = vttm_mem_type_to_domain(bo->tbo.resource->mem_type);
		__entry->ret = ret;
	),
	TP_printk("time_ns=%llu tag=%llu size=%llu vm=%u before=%u after=%u ret=%d",
		  __entry->time_ns, __entry->tag, __entry->size, __entry->vm,
		  __entry->before, __entry->after, __entry->ret)
);
#endif /* VTTM_THROTTLE */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../drivers/gpu/drm/vttm
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE vttm_trace

#include <trace/define_trace.h>
