/* SPDX-License-Identifier: MIT */
/*
 * A client whose engine fills, copies and sums up its BOs at random, and which
 * keeps a copy of what they must hold.
 */
#ifndef VTTM_DATA_CLIENT_H
#define VTTM_DATA_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

struct data_client_config {
	uint64_t seed;
	uint32_t num_bos;
	/* enum drm_vttm_engine; one, as only syncobjs order jobs on several. */
	uint32_t engine;
	/* The CPU reads and writes BOs, too; see vttm_one_cpu_on_um(). */
	bool cpu;
};

/* What all clients have done, shared by their processes. */
struct data_counts {
	_Atomic uint64_t jobs, checksums, cpu_accesses, replaced;
};

struct data_client;

/* Asserts; free with data_client_destroy(). */
struct data_client *data_client_create(struct data_client_config config, struct data_counts *counts);

/*
 * A job, the check of an earlier one, and now and then an access by the CPU, or
 * a new BO in the place of an old one, which must read zero.
 */
void data_client_step(struct data_client *client);

/* Waits for all jobs, and checks their results and every byte of every BO. */
void data_client_check_all(struct data_client *client);
void data_client_destroy(struct data_client *client);

#endif
