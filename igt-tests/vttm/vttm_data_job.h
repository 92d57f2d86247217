/* SPDX-License-Identifier: MIT */
/* A job of random operations, the shadows of the BOs that it changes, and what its results must be. */
#ifndef VTTM_DATA_JOB_H
#define VTTM_DATA_JOB_H

#include <stdint.h>

#include "igt_vttm.h"

/* All BOs that can be in VRAM have this size, bytes. */
#define DATA_BO_SIZE	(256 * 1024ull)

/* Of a job: operations, BOs that it lists, and words that it copies to where the CPU compares them, bytes. */
#define DATA_MAX_OPS	16
#define DATA_MAX_LISTED	12
#define DATA_STAGING	(16 * 1024u)
/* A job's part of the results: checksums, then the copied words. */
#define DATA_RESULTS	(DATA_MAX_OPS * 4 + DATA_STAGING)

struct data_bo {
	uint32_t handle;
	uint32_t flags;
	uint32_t domain;
	/* CPU mapping, or NULL. */
	uint8_t *map;
	/* What it must hold once all jobs have run. */
	uint8_t *shadow;
};

struct data_job {
	/* 0: not submitted. */
	uint64_t seqno;
	/* Where its results go: a BO and an offset. */
	uint32_t results;
	uint32_t offset;
	/* What they must be. */
	uint32_t num_sums;
	uint32_t sums[DATA_MAX_OPS];
	uint32_t staged;
	uint8_t staging[DATA_STAGING];

	struct data_bo *listed[DATA_MAX_LISTED];
	uint32_t num_listed;
	struct drm_vttm_op ops[DATA_MAX_OPS];
	uint32_t num_ops;
};

/* Empty, with the place of its results kept. */
void data_job_begin(struct data_job *job);

/* Ranges are multiples of 4 bytes within BOs that the job lists. Copies that overlap are left out. */
void data_job_fill(struct data_job *job, struct data_bo *bo, uint64_t offset, uint64_t size, uint32_t value);
void data_job_copy(struct data_job *job, struct data_bo *to, uint64_t to_offset, struct data_bo *from,
		   uint64_t from_offset, uint64_t size);
void data_job_sum(struct data_job *job, struct data_bo *bo, uint64_t offset, uint64_t size);
/* Once for each job, at most DATA_STAGING bytes. */
void data_job_stage(struct data_job *job, struct data_bo *bo, uint64_t offset, uint64_t size);

/* Submits it to an engine (enum drm_vttm_engine); asserts. */
void data_job_submit(struct data_job *job, int fd, uint32_t engine);

/* Waits for it, and asserts that its results, which the CPU sees at @results, are right. Nothing if it was not submitted. */
void data_job_check(struct data_job *job, int fd, const uint8_t *results);

#endif
