/* SPDX-License-Identifier: MIT */
/* A client that does one call at random after the other, and knows what may come back. */
#ifndef VTTM_RANDOM_H
#define VTTM_RANDOM_H

#include <stdbool.h>

#include "igt_vttm.h"

#define CLIENT_FILES	3
#define CLIENT_BOS	12

struct client_bo {
	/* 0: there is none. */
	uint32_t handle;
	uint64_t size;
	uint32_t flags;
	uint32_t pins;
	/* What the first and the last word must read. */
	uint32_t first, last;
};

struct client_file {
	int fd;
	/* Numbers of the last submission. */
	uint64_t seqno;
	struct client_bo bos[CLIENT_BOS];
};

struct client {
	uint64_t random;
	struct drm_vttm_lab_config config;
	struct client_file files[CLIENT_FILES];
	/* File for calls of which nothing is known. */
	int junk;
	bool may_fail;
	/* What went wrong, or empty. */
	char fault[256];
};

/* @may_fail: any call may return -ENOMEM (fault injection). */
struct client *client_create(uint64_t seed, struct drm_vttm_lab_config config, bool may_fail);
/* One call; look at @fault afterwards. */
void client_call(struct client *client);
void client_destroy(struct client *client);

#endif
