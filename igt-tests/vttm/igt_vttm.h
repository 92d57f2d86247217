/* SPDX-License-Identifier: MIT */
/*
 * A file of a vttm device. As elsewhere in IGT, functions that begin with __
 * return 0 or a negative errno, the others assert.
 */
#ifndef IGT_VTTM_H
#define IGT_VTTM_H

#include <stdint.h>

#include "vttm_drm.h"

#define VTTM_PAGE	4096ull
#define VTTM_MIB	(1ull << 20)
#define VTTM_NO_HANDLE	0xdeadu
#define VTTM_NS_PER_S	1000000000ll

/* Render node of the first vttm device; skips if there is none. Close it. */
int vttm_open(void);

/* The same, for who is not allowed to skip or to assert: a file or -errno. */
int __vttm_open(void);

/* Its primary node. */
int vttm_open_primary(void);

/* A vttm device as tests want it: VRAM small enough to be full, GTT of 16 times that. Skips if others use it. */
int vttm_open_small(uint64_t vram_size);

/* Restarts after signals, as libdrm does. */
int __vttm_ioctl(int fd, unsigned long request, void *arg);

/* BO with default priority and allowed domains. */
int __vttm_create(int fd, uint64_t size, uint32_t preferred, uint32_t flags, uint32_t *handle);
uint32_t vttm_create(int fd, uint64_t size, uint32_t preferred, uint32_t flags);
int __vttm_close(int fd, uint32_t handle);
void vttm_close(int fd, uint32_t handle);

struct drm_vttm_get_info vttm_info(int fd);
struct drm_vttm_gem_info vttm_bo_info(int fd, uint32_t handle);
uint32_t vttm_domain(int fd, uint32_t handle);

/* A job of a microsecond that lists BOs and touches nothing. */
int __vttm_submit(int fd, const uint32_t *handles, uint32_t count, uint64_t *seqno);
uint64_t vttm_submit(int fd, const uint32_t *handles, uint32_t count);
int __vttm_wait(int fd, uint64_t seqno, int64_t timeout_ns);
void vttm_wait(int fd, uint64_t seqno);
int __vttm_pin(int fd, uint32_t handle, uint32_t flags);

/* CPU mapping, to be unmapped with munmap(); the first returns MAP_FAILED on error. */
void *__vttm_map(int fd, uint32_t handle, uint64_t size);
void *vttm_map(int fd, uint32_t handle, uint64_t size);

int __vttm_lab(int fd, uint32_t op, uint64_t value, void *ptr);
int __vttm_reset(int fd, const struct drm_vttm_lab_config *config);
struct drm_vttm_lab_config vttm_config(uint64_t vram_size);

/*
 * To be called by tests that write through mappings while others evict. An
 * eviction takes the mappings away, but user-mode Linux (7.3) does so only when
 * the process next enters the kernel: on another CPU it writes to the old place
 * meanwhile, and that is lost. There, this puts the test and its children on one
 * CPU; elsewhere it does nothing.
 */
void vttm_one_cpu_on_um(void);

/*
 * Contents that depend on a seed. The check returns the index of the first word that is wrong, or -1.
 */
void vttm_fill(uint32_t *words, uint64_t size, uint32_t seed);
int64_t vttm_first_wrong(const uint32_t *words, uint64_t size, uint32_t seed);
int64_t vttm_first_nonzero(const uint32_t *words, uint64_t size);

/*
 * Asserts that within ten seconds nothing is left of what files that are closed by now had: no BO, ghost or
 * zombie, no memory, pin, move or job. Reads the state of the device in debugfs.
 */
void vttm_assert_idle(void);

/* Pseudo-random numbers that depend on the state only (splitmix64). */
uint64_t vttm_random(uint64_t *state);

#endif
