// SPDX-License-Identifier: MIT
#include <string.h>

#include "igt.h"
#include "vttm_data_job.h"

/* That of zlib. */
static uint32_t crc32(const uint8_t *data, uint64_t size)
{
	static uint32_t table[256];
	uint32_t crc = ~0u, value, bit;
	uint64_t i;

	if (!table[1]) {
		for (i = 0; i < 256; i++) {
			value = i;
			for (bit = 0; bit < 8; bit++)
				value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0);
			table[i] = value;
		}
	}
	for (i = 0; i < size; i++)
		crc = (crc >> 8) ^ table[(crc ^ data[i]) & 0xff];
	return ~crc;
}

void data_job_begin(struct data_job *job)
{
	job->seqno = 0;
	job->num_sums = 0;
	job->staged = 0;
	job->num_listed = 0;
	job->num_ops = 0;
}

static void add_op(struct data_job *job, struct drm_vttm_op op)
{
	igt_assert_lt(job->num_ops, DATA_MAX_OPS);
	job->ops[job->num_ops++] = op;
}

void data_job_fill(struct data_job *job, struct data_bo *bo, uint64_t offset, uint64_t size, uint32_t value)
{
	uint64_t i;

	add_op(job, (struct drm_vttm_op) {
		.type = DRM_VTTM_OP_FILL, .dst = bo->handle, .dst_offset = offset, .size = size, .value = value,
	});
	for (i = 0; i < size; i += sizeof(value))
		memcpy(bo->shadow + offset + i, &value, sizeof(value));
}

void data_job_copy(struct data_job *job, struct data_bo *to, uint64_t to_offset, struct data_bo *from,
		   uint64_t from_offset, uint64_t size)
{
	if (to == from && to_offset < from_offset + size && from_offset < to_offset + size)
		return;
	add_op(job, (struct drm_vttm_op) {
		.type = DRM_VTTM_OP_COPY, .dst = to->handle, .dst_offset = to_offset,
		.src = from->handle, .src_offset = from_offset, .size = size,
	});
	memcpy(to->shadow + to_offset, from->shadow + from_offset, size);
}

void data_job_sum(struct data_job *job, struct data_bo *bo, uint64_t offset, uint64_t size)
{
	add_op(job, (struct drm_vttm_op) {
		.type = DRM_VTTM_OP_CHECKSUM, .dst = job->results, .dst_offset = job->offset + 4 * job->num_sums,
		.src = bo->handle, .src_offset = offset, .size = size,
	});
	job->sums[job->num_sums++] = crc32(bo->shadow + offset, size);
}

void data_job_stage(struct data_job *job, struct data_bo *bo, uint64_t offset, uint64_t size)
{
	add_op(job, (struct drm_vttm_op) {
		.type = DRM_VTTM_OP_COPY, .dst = job->results, .dst_offset = job->offset + DATA_MAX_OPS * 4,
		.src = bo->handle, .src_offset = offset, .size = size,
	});
	memcpy(job->staging, bo->shadow + offset, size);
	job->staged = size;
}

void data_job_submit(struct data_job *job, int fd, uint32_t engine)
{
	struct drm_vttm_submit_bo listed[DATA_MAX_LISTED + 1] = { { .handle = job->results } };
	struct drm_vttm_submit args = {
		.engine = engine,
		.bos = (uintptr_t)listed, .bo_stride = sizeof(listed[0]), .bo_count = 1,
		.ops = (uintptr_t)job->ops, .op_stride = sizeof(job->ops[0]), .op_count = job->num_ops,
	};
	uint32_t i;

	for (i = 0; i < job->num_listed; i++)
		if (!(job->listed[i]->flags & DRM_VTTM_GEM_VM_PRIVATE))
			listed[args.bo_count++].handle = job->listed[i]->handle;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &args), 0);
	job->seqno = args.seqno;
}

void data_job_check(struct data_job *job, int fd, const uint8_t *results)
{
	uint32_t sums[DATA_MAX_OPS], i;

	if (!job->seqno)
		return;
	vttm_wait(fd, job->seqno);
	memcpy(sums, results + job->offset, sizeof(sums));
	for (i = 0; i < job->num_sums; i++)
		igt_assert_f(sums[i] == job->sums[i], "job %llu: checksum %u is %#x instead of %#x\n",
			     (unsigned long long)job->seqno, i, sums[i], job->sums[i]);
	igt_assert_f(!memcmp(results + job->offset + DATA_MAX_OPS * 4, job->staging, job->staged),
		     "job %llu: copied words are wrong\n", (unsigned long long)job->seqno);
	job->seqno = 0;
}
