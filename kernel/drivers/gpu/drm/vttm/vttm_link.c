// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: The link
 *
 * A job has a fixed part, and may have a transfer over the link. It is over
 * when both are. The transfers that are under way in one direction share it
 * evenly, so when a job ends depends on what else runs: it is foreseen, anew
 * whenever a job starts or stops.
 *
 * All is exact. At most three transfers are under way, one for each engine, so
 * what is left of one is counted in sixths of a nanosecond at the full rate: of
 * these it does six, three or two in a nanosecond. It ends at the first whole
 * nanosecond at which nothing is left. What begins or ends at the same one does
 * so together.
 */

#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include <kunit/visibility.h>

#include "vttm_link.h"

#define PARTS_PER_NS	6
static_assert(VTTM_LINK_MAX_JOBS == 3);

/* The end of all times is U64_MAX. */
static u64 later(u64 time_ns, u64 duration_ns)
{
	u64 sum_ns;

	return check_add_overflow(time_ns, duration_ns, &sum_ns) ? U64_MAX : sum_ns;
}

/**
 * vttm_load_alone_ns() - How long a job takes that has the link to itself
 * @load: what it takes, each part at most %VTTM_MAX_DURATION_NS or so
 *
 * Return: nanoseconds.
 */
u64 vttm_load_alone_ns(const struct vttm_load *load)
{
	return load->overlap ? max(load->fixed_ns, load->link_ns) :
			       later(load->fixed_ns, load->link_ns);
}
EXPORT_SYMBOL_IF_KUNIT(vttm_load_alone_ns);

static bool is_under_way(const struct vttm_link *link, const struct vttm_link_job *job)
{
	return job->left && job->begin_ns <= link->now_ns;
}

/* What a transfer of each direction does in a nanosecond from now on. */
static void get_rates(const struct vttm_link *link, unsigned int rates[VTTM_NUM_LINK_DIRS])
{
	unsigned int counts[VTTM_NUM_LINK_DIRS] = {}, i;

	for (i = 0; i < VTTM_LINK_MAX_JOBS; i++)
		counts[link->jobs[i].dir] += is_under_way(link, &link->jobs[i]);
	for (i = 0; i < VTTM_NUM_LINK_DIRS; i++)
		rates[i] = PARTS_PER_NS / max(counts[i], 1u);
}

/* When does a transfer begin or end next? Return: false for never. */
static bool next_change(const struct vttm_link *link, u64 *time_ns)
{
	unsigned int rates[VTTM_NUM_LINK_DIRS], i;
	bool found = false;

	get_rates(link, rates);
	*time_ns = U64_MAX;
	for (i = 0; i < VTTM_LINK_MAX_JOBS; i++) {
		const struct vttm_link_job *job = &link->jobs[i];
		u64 change_ns = job->begin_ns;

		if (!job->left)
			continue;

		if (is_under_way(link, job))
			change_ns = later(link->now_ns,
					  DIV_ROUND_UP_ULL(job->left, rates[job->dir]));
		*time_ns = min(*time_ns, change_ns);
		found = true;
	}

	return found;
}

/* Bring transfers up to a time before which none begins or ends. */
static void step(struct vttm_link *link, u64 time_ns)
{
	unsigned int rates[VTTM_NUM_LINK_DIRS], i;

	get_rates(link, rates);
	for (i = 0; i < VTTM_LINK_MAX_JOBS; i++) {
		struct vttm_link_job *job = &link->jobs[i];

		if (time_ns == U64_MAX)
			job->left = 0;
		else if (is_under_way(link, job))
			job->left -= min(job->left,
					 rates[job->dir] * (time_ns - link->now_ns));
	}
	link->now_ns = time_ns;
}

static void advance(struct vttm_link *link, u64 time_ns)
{
	u64 change_ns;

	while (next_change(link, &change_ns) && change_ns <= time_ns)
		step(link, change_ns);
	step(link, time_ns);
}

/* What follows if no job starts or stops. Transfers that are over stay so. */
static void foresee(struct vttm_link *link)
{
	struct vttm_link then = *link;
	unsigned int i;
	u64 time_ns;

	while (next_change(&then, &time_ns)) {
		/* The last change before which something is left is the end. */
		for (i = 0; i < VTTM_LINK_MAX_JOBS; i++)
			if (then.jobs[i].left)
				link->jobs[i].transfer_end_ns = time_ns;
		step(&then, time_ns);
	}
}

/**
 * vttm_link_start() - A job starts
 * @link: the link
 * @slot: which one, below %VTTM_LINK_MAX_JOBS; none runs there
 * @load: what it takes
 * @time_ns: device time; not before that of the last call, if any job runs, nor
 *	after the end of any that does
 *
 * Callers serialize. The ends of all jobs may change.
 */
void vttm_link_start(struct vttm_link *link, unsigned int slot,
		     const struct vttm_load *load, u64 time_ns)
{
	u64 fixed_end_ns = later(time_ns, load->fixed_ns);

	advance(link, time_ns);
	link->jobs[slot] = (struct vttm_link_job) {
		.fixed_end_ns = fixed_end_ns,
		.begin_ns = load->overlap ? time_ns : fixed_end_ns,
		.left = PARTS_PER_NS * load->link_ns,
		.dir = load->dir,
	};
	foresee(link);
}
EXPORT_SYMBOL_IF_KUNIT(vttm_link_start);

/**
 * vttm_link_stop() - A job has ended, or is taken off
 * @link: the link
 * @slot: which one
 * @time_ns: device time, as for vttm_link_start()
 *
 * Callers serialize. The ends of all jobs may change.
 */
void vttm_link_stop(struct vttm_link *link, unsigned int slot, u64 time_ns)
{
	advance(link, time_ns);
	link->jobs[slot] = (struct vttm_link_job) {};
	foresee(link);
}
EXPORT_SYMBOL_IF_KUNIT(vttm_link_stop);

/**
 * vttm_link_end() - When is a job over, if no other starts or stops?
 * @link: the link
 * @slot: which one
 *
 * Return: device time, %U64_MAX at most.
 */
u64 vttm_link_end(const struct vttm_link *link, unsigned int slot)
{
	return max(link->jobs[slot].fixed_end_ns, link->jobs[slot].transfer_end_ns);
}
EXPORT_SYMBOL_IF_KUNIT(vttm_link_end);
