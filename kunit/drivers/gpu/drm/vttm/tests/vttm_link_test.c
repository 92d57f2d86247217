// SPDX-License-Identifier: GPL-2.0 OR MIT

/*
 * Do jobs end when they must, however their transfers share the link? Compared
 * with times found by hand, and with a device that counts nanoseconds.
 */

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/prandom.h>

#include <kunit/test.h>

#include "../vttm_link.h"

#define EXPECT_END(test, link, slot, time_ns) \
	KUNIT_EXPECT_EQ(test, vttm_link_end(link, slot), time_ns)

/* A job that is nothing but a transfer. */
static void start(struct vttm_link *link, unsigned int slot, u64 link_ns, u64 time_ns)
{
	struct vttm_load load = { .link_ns = link_ns };

	vttm_link_start(link, slot, &load, time_ns);
}

static void alone(struct kunit *test)
{
	static const struct {
		struct vttm_load load;
		u64 duration_ns;
	} jobs[] = {
		{ {}, 0 },
		{ { .fixed_ns = 100 }, 100 },
		{ { .link_ns = 50 }, 50 },
		{ { .fixed_ns = 100, .link_ns = 50 }, 150 },
		{ { .fixed_ns = 100, .link_ns = 50, .dir = VTTM_LINK_OUT }, 150 },
		{ { .fixed_ns = 100, .link_ns = 50, .overlap = true }, 100 },
		{ { .fixed_ns = 100, .link_ns = 150, .overlap = true }, 150 },
		{ { .fixed_ns = 100, .overlap = true }, 100 },
	};
	struct vttm_link link = {};
	u64 now_ns = 1000;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		vttm_link_start(&link, 0, &jobs[i].load, now_ns);
		EXPECT_END(test, &link, 0, now_ns + jobs[i].duration_ns);
		KUNIT_EXPECT_EQ(test, vttm_load_alone_ns(&jobs[i].load), jobs[i].duration_ns);
		now_ns += jobs[i].duration_ns;
		vttm_link_stop(&link, 0, now_ns);
	}
}

static void two_share(struct kunit *test)
{
	struct vttm_link link = {};

	start(&link, 0, 100, 1000);
	EXPECT_END(test, &link, 0, 1100);
	start(&link, 1, 40, 1000);
	EXPECT_END(test, &link, 1, 1080);
	EXPECT_END(test, &link, 0, 1140);
	/* One is over: that changes nothing of what was foreseen. */
	vttm_link_stop(&link, 1, 1080);
	EXPECT_END(test, &link, 0, 1140);
}

static void three_share(struct kunit *test)
{
	struct vttm_link link = {};

	start(&link, 0, 30, 0);
	start(&link, 1, 90, 0);
	start(&link, 2, 60, 0);
	EXPECT_END(test, &link, 0, 90);
	EXPECT_END(test, &link, 2, 150);
	EXPECT_END(test, &link, 1, 180);
	/* The next one in the place of the first. */
	vttm_link_stop(&link, 0, 90);
	start(&link, 0, 20, 90);
	EXPECT_END(test, &link, 0, 150);
	EXPECT_END(test, &link, 2, 170);
	EXPECT_END(test, &link, 1, 200);
}

static void begins_in_the_middle(struct kunit *test)
{
	struct vttm_load behind = { .fixed_ns = 40, .link_ns = 30 };
	struct vttm_link link = {};

	start(&link, 0, 100, 0);
	start(&link, 1, 30, 40);
	EXPECT_END(test, &link, 1, 100);
	EXPECT_END(test, &link, 0, 130);
	vttm_link_stop(&link, 0, 40);
	EXPECT_END(test, &link, 1, 70);

	/* Likewise if it begins after a fixed part, when nobody is called. */
	link = (struct vttm_link) {};
	start(&link, 0, 100, 0);
	vttm_link_start(&link, 1, &behind, 0);
	EXPECT_END(test, &link, 1, 100);
	EXPECT_END(test, &link, 0, 130);
	/* It is taken off before that. */
	vttm_link_stop(&link, 1, 39);
	EXPECT_END(test, &link, 0, 100);
}

/* A nanosecond that is not used up is nobody's. */
static void rounded_up(struct kunit *test)
{
	struct vttm_link link = {};

	start(&link, 0, 1, 0);
	start(&link, 1, 2, 0);
	start(&link, 2, 1, 0);
	EXPECT_END(test, &link, 0, 3);
	/* 4/6 are left of the first and 10/6 of the other: 3/6 each. */
	vttm_link_stop(&link, 2, 1);
	EXPECT_END(test, &link, 0, 3);
	/* 4/6 again: 6/6 would be done in a nanosecond. */
	EXPECT_END(test, &link, 1, 4);
	vttm_link_stop(&link, 0, 3);
	start(&link, 0, 1, 3);
	/* Of 3/6 in the second nanosecond it has use for one. */
	EXPECT_END(test, &link, 1, 5);
	EXPECT_END(test, &link, 0, 5);
}

static void directions_are_independent(struct kunit *test)
{
	struct vttm_load out = { .link_ns = 100, .dir = VTTM_LINK_OUT };
	struct vttm_link link = {};

	start(&link, 0, 100, 0);
	vttm_link_start(&link, 1, &out, 0);
	EXPECT_END(test, &link, 0, 100);
	EXPECT_END(test, &link, 1, 100);
	start(&link, 2, 50, 10);
	EXPECT_END(test, &link, 2, 110);
	EXPECT_END(test, &link, 0, 150);
	EXPECT_END(test, &link, 1, 100);
}

static void overlap_and_serial(struct kunit *test)
{
	struct vttm_load overlap = { .fixed_ns = 70, .link_ns = 60, .overlap = true };
	struct vttm_load serial = { .fixed_ns = 20, .link_ns = 50 };
	struct vttm_link link = {};

	vttm_link_start(&link, 0, &overlap, 0);
	EXPECT_END(test, &link, 0, 70);
	/* 20 alone, then 80 shared. Of the serial one 10 are left. */
	vttm_link_start(&link, 1, &serial, 0);
	EXPECT_END(test, &link, 0, 100);
	EXPECT_END(test, &link, 1, 110);
}

/* Of two jobs that end at the same time one is stopped before the other. */
static void ends_at_the_same_time(struct kunit *test)
{
	struct vttm_link link = {};

	start(&link, 0, 100, 0);
	start(&link, 1, 100, 0);
	vttm_link_stop(&link, 0, 200);
	EXPECT_END(test, &link, 1, 200);
	start(&link, 0, 100, 200);
	EXPECT_END(test, &link, 0, 300);
	EXPECT_END(test, &link, 1, 200);
	vttm_link_stop(&link, 1, 200);
	start(&link, 1, 100, 200);
	EXPECT_END(test, &link, 0, 400);
	EXPECT_END(test, &link, 1, 400);
}

static void long_times(struct kunit *test)
{
	struct vttm_link link = {};
	unsigned int i;

	for (i = 0; i < VTTM_LINK_MAX_JOBS; i++)
		start(&link, i, BIT_ULL(60), 7);
	for (i = 0; i < VTTM_LINK_MAX_JOBS; i++)
		EXPECT_END(test, &link, i, 7 + 3 * BIT_ULL(60));
	vttm_link_stop(&link, 0, 7 + 3 * BIT_ULL(59));
	EXPECT_END(test, &link, 1, 7 + 5 * BIT_ULL(59));

	/* There is an end of time. */
	vttm_link_stop(&link, 1, 7 + 5 * BIT_ULL(59));
	vttm_link_stop(&link, 2, 7 + 5 * BIT_ULL(59));
	start(&link, 0, BIT_ULL(60), U64_MAX - 5);
	EXPECT_END(test, &link, 0, U64_MAX);
	vttm_link_stop(&link, 0, U64_MAX);
	start(&link, 0, BIT_ULL(60), U64_MAX);
	EXPECT_END(test, &link, 0, U64_MAX);
}

/* The clock starts anew when no job runs. */
static void time_goes_back(struct kunit *test)
{
	struct vttm_link link = {};

	start(&link, 0, 10, 1000);
	vttm_link_stop(&link, 0, 1010);
	start(&link, 0, 10, 5);
	EXPECT_END(test, &link, 0, 15);
}

/* What counting nanoseconds knows of a job; times are from now on. */
struct counted {
	bool runs;
	u64 fixed, wait, left;
	enum vttm_link_dir dir;
};

static bool is_over(const struct counted *job)
{
	return !job->fixed && !job->wait && !job->left;
}

static void count_nanosecond(struct counted *jobs)
{
	unsigned int n[VTTM_NUM_LINK_DIRS] = {}, i;

	for (i = 0; i < VTTM_LINK_MAX_JOBS; i++)
		n[jobs[i].dir] += jobs[i].left && !jobs[i].wait;
	for (i = 0; i < VTTM_LINK_MAX_JOBS; i++) {
		u64 part = jobs[i].left && !jobs[i].wait ? 6 / n[jobs[i].dir] : 0;

		jobs[i].left -= min(jobs[i].left, part);
		jobs[i].wait -= !!jobs[i].wait;
		jobs[i].fixed -= !!jobs[i].fixed;
	}
}

static void start_counted(struct counted *job, struct rnd_state *rnd, struct vttm_load *load)
{
	bool transfers = prandom_u32_state(rnd) % 4;

	/* None that ends at once. */
	*load = (struct vttm_load) {
		.fixed_ns = prandom_u32_state(rnd) % 20 + !transfers,
		.link_ns = transfers ? 1 + prandom_u32_state(rnd) % 20 : 0,
		.dir = prandom_u32_state(rnd) % VTTM_NUM_LINK_DIRS,
		.overlap = prandom_u32_state(rnd) % 2,
	};
	*job = (struct counted) {
		.runs = true,
		.fixed = load->fixed_ns,
		/* Without a transfer there is nothing to wait for. */
		.wait = load->overlap || !load->link_ns ? 0 : load->fixed_ns,
		.left = 6 * load->link_ns,
		.dir = load->dir,
	};
}

/* Jobs start and are taken off at any time; each ends when it was foreseen. */
static void as_counted(struct kunit *test)
{
	struct counted jobs[VTTM_LINK_MAX_JOBS] = {};
	struct vttm_link link = {};
	unsigned int i, ended = 0;
	struct vttm_load load;
	struct rnd_state rnd;
	u64 now_ns;

	prandom_seed_state(&rnd, 1);
	for (now_ns = 0; now_ns < 100000; now_ns++) {
		for (i = 0; i < VTTM_LINK_MAX_JOBS; i++) {
			struct counted *job = &jobs[i];

			if (job->runs && is_over(job)) {
				KUNIT_ASSERT_EQ(test, vttm_link_end(&link, i), now_ns);
				ended++;
			} else if (job->runs) {
				KUNIT_ASSERT_GT(test, vttm_link_end(&link, i), now_ns);
				/* Seldom is one taken off. */
				if (prandom_u32_state(&rnd) % 100)
					continue;
			}

			if (job->runs)
				vttm_link_stop(&link, i, now_ns);
			*job = (struct counted) {};
			if (prandom_u32_state(&rnd) % 4 == 0) {
				start_counted(job, &rnd, &load);
				vttm_link_start(&link, i, &load, now_ns);
			}
		}
		count_nanosecond(jobs);
	}
	KUNIT_EXPECT_GT(test, ended, 5000);
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE(alone),
	KUNIT_CASE(two_share),
	KUNIT_CASE(three_share),
	KUNIT_CASE(begins_in_the_middle),
	KUNIT_CASE(rounded_up),
	KUNIT_CASE(directions_are_independent),
	KUNIT_CASE(overlap_and_serial),
	KUNIT_CASE(ends_at_the_same_time),
	KUNIT_CASE(long_times),
	KUNIT_CASE(time_goes_back),
	KUNIT_CASE(as_counted),
	{}
};

static struct kunit_suite link_suite = {
	.name = "vttm_link",
	.test_cases = link_cases,
};

kunit_test_suite(link_suite);

MODULE_DESCRIPTION("Tests of vttm's link");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
