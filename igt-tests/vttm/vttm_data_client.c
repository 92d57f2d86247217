// SPDX-License-Identifier: MIT
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"
#include "vttm_data_client.h"
#include "vttm_data_job.h"

/* Jobs in flight. */
#define DEPTH		4
#define MAX_RANGE	(64 * 1024u)
#define RESULTS_SIZE	((DEPTH * DATA_RESULTS + VTTM_PAGE - 1) & ~(VTTM_PAGE - 1))

struct data_client {
	struct data_client_config config;
	struct data_counts *counts;
	uint64_t random;
	int fd;
	struct data_bo *bos;
	uint8_t *shadows;
	/* In GTT, from where nobody evicts it: the CPU can look at it whenever it likes. */
	uint32_t results;
	uint8_t *results_map;
	struct data_job jobs[DEPTH];
	uint64_t num_jobs;
};

static uint64_t draw(struct data_client *c, uint64_t below)
{
	return vttm_random(&c->random) % below;
}

/* A range of a BO: its size, and then offsets of ranges of this size. */
static uint64_t draw_size(struct data_client *c)
{
	return 4 + 4 * draw(c, MAX_RANGE / 4);
}

static uint64_t draw_offset(struct data_client *c, uint64_t size)
{
	return 4 * draw(c, (DATA_BO_SIZE - size) / 4 + 1);
}

static struct data_bo *draw_bo(struct data_client *c)
{
	return &c->bos[draw(c, c->config.num_bos)];
}

static void create_bo(struct data_client *c, struct data_bo *bo)
{
	bo->handle = vttm_create(c->fd, DATA_BO_SIZE, bo->domain, bo->flags);
	memset(bo->shadow, 0, DATA_BO_SIZE);
	if (!c->config.cpu)
		return;
	bo->map = vttm_map(c->fd, bo->handle, DATA_BO_SIZE);
	igt_assert_f(vttm_first_nonzero((uint32_t *)bo->map, DATA_BO_SIZE) < 0, "a new BO is not zero\n");
}

static void unmap_bo(struct data_bo *bo)
{
	if (bo->map)
		munmap(bo->map, DATA_BO_SIZE);
	bo->map = NULL;
}

struct data_client *data_client_create(struct data_client_config config, struct data_counts *counts)
{
	struct data_client *c = calloc(1, sizeof(*c));
	uint32_t i;

	igt_assert(c);
	c->config = config;
	c->counts = counts;
	c->random = config.seed;
	c->fd = __vttm_open();
	igt_assert_fd(c->fd);
	c->results = vttm_create(c->fd, RESULTS_SIZE, DRM_VTTM_DOMAIN_GTT, 0);
	c->results_map = vttm_map(c->fd, c->results, RESULTS_SIZE);
	for (i = 0; i < DEPTH; i++) {
		c->jobs[i].results = c->results;
		c->jobs[i].offset = i * DATA_RESULTS;
	}
	c->bos = calloc(config.num_bos, sizeof(*c->bos));
	igt_assert(c->bos);
	/* Faults are what costs time on user-mode Linux. */
	c->shadows = mmap(NULL, config.num_bos * DATA_BO_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	igt_assert(c->shadows != MAP_FAILED);
	for (i = 0; i < config.num_bos; i++) {
		struct data_bo *bo = &c->bos[i];

		bo->flags = i % 8 == 1 ? DRM_VTTM_GEM_VM_PRIVATE : i % 8 == 3 ? DRM_VTTM_GEM_CONTIGUOUS : 0;
		bo->domain = i % 16 == 5 ? DRM_VTTM_DOMAIN_GTT : DRM_VTTM_DOMAIN_VRAM;
		bo->shadow = c->shadows + i * DATA_BO_SIZE;
		create_bo(c, bo);
	}
	return c;
}

void data_client_destroy(struct data_client *c)
{
	uint32_t i;

	for (i = 0; i < c->config.num_bos; i++)
		unmap_bo(&c->bos[i]);
	munmap(c->shadows, c->config.num_bos * DATA_BO_SIZE);
	munmap(c->results_map, RESULTS_SIZE);
	close(c->fd);
	free(c->bos);
	free(c);
}

static void check_job(struct data_client *c, struct data_job *job)
{
	data_job_check(job, c->fd, c->results_map);
	c->counts->checksums += job->num_sums;
	data_job_begin(job);
}

/* An empty job in the place of the oldest, which is checked. */
static struct data_job *next_job(struct data_client *c)
{
	struct data_job *job = &c->jobs[c->num_jobs % DEPTH];

	check_job(c, job);
	return job;
}

static void submit(struct data_client *c, struct data_job *job)
{
	data_job_submit(job, c->fd, c->config.engine);
	c->num_jobs++;
	c->counts->jobs++;
}

static void check_all_jobs(struct data_client *c)
{
	uint32_t i;

	for (i = 0; i < DEPTH; i++)
		check_job(c, &c->jobs[i]);
}

static void random_job(struct data_client *c)
{
	struct data_job *job = next_job(c);
	uint32_t num_ops = 1 + draw(c, DATA_MAX_OPS / 2), i;
	uint64_t size;

	while (job->num_listed < DATA_MAX_LISTED)
		job->listed[job->num_listed++] = draw_bo(c);
	for (i = 0; i < num_ops; i++) {
		struct data_bo *to = job->listed[draw(c, job->num_listed)], *from = job->listed[draw(c, job->num_listed)];
		uint64_t to_offset, from_offset;

		size = draw_size(c);
		to_offset = draw_offset(c, size);
		from_offset = draw_offset(c, size);
		switch (draw(c, 4)) {
		case 0:
			data_job_fill(job, to, to_offset, size, vttm_random(&c->random));
			break;
		case 1:
			data_job_sum(job, from, from_offset, size);
			break;
		default:
			data_job_copy(job, to, to_offset, from, from_offset, size);
		}
	}
	size = 4 + 4 * draw(c, DATA_STAGING / 4);
	data_job_stage(job, job->listed[draw(c, job->num_listed)], draw_offset(c, size), size);
	submit(c, job);
}

/* Sums up all of a BO. */
static void sum_job(struct data_client *c, struct data_bo *bo)
{
	struct data_job *job = next_job(c);

	job->listed[job->num_listed++] = bo;
	data_job_sum(job, bo, 0, DATA_BO_SIZE);
	submit(c, job);
}

/* Memory that somebody has used becomes that of a new BO. */
static void replace_bo(struct data_client *c)
{
	struct data_bo *bo = draw_bo(c);

	unmap_bo(bo);
	vttm_close(c->fd, bo->handle);
	create_bo(c, bo);
	sum_job(c, bo);
	c->counts->replaced++;
}

/* As soon as no job of this client runs: nobody else uses its BOs. */
static void access_by_cpu(struct data_client *c)
{
	struct data_bo *bo = draw_bo(c);
	uint64_t size = draw_size(c), offset = draw_offset(c, size);

	check_all_jobs(c);
	igt_assert_f(!memcmp(bo->map + offset, bo->shadow + offset, size), "after job %llu: the CPU reads wrong words\n",
		     (unsigned long long)c->num_jobs);
	offset = draw_offset(c, size);
	vttm_fill((uint32_t *)(bo->shadow + offset), size, vttm_random(&c->random));
	memcpy(bo->map + offset, bo->shadow + offset, size);
	c->counts->cpu_accesses++;
}

void data_client_step(struct data_client *c)
{
	random_job(c);
	if (!draw(c, 8))
		replace_bo(c);
	if (c->config.cpu && !draw(c, 2))
		access_by_cpu(c);
}

void data_client_check_all(struct data_client *c)
{
	uint32_t i;

	/* From here on nothing changes any more. */
	check_all_jobs(c);
	for (i = 0; i < c->config.num_bos; i++) {
		sum_job(c, &c->bos[i]);
		if (c->config.cpu)
			igt_assert_f(!memcmp(c->bos[i].map, c->bos[i].shadow, DATA_BO_SIZE),
				     "BO %u: the CPU reads wrong words\n", i);
	}
	check_all_jobs(c);
}
