// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vttm_random.h"

static uint64_t draw(struct client *c, uint64_t below)
{
	return vttm_random(&c->random) % below;
}

static bool one_in(struct client *c, uint64_t n)
{
	return !draw(c, n);
}

/* Values around which mistakes are made. */
static uint64_t draw_odd(struct client *c)
{
	static const uint64_t odd[] = {
		0, 1, 3, 4095, 4097, ~0u, 1ull << 31, 1ull << 32, 1ull << 52, 1ull << 63, ~0ull - 4095, ~0ull,
	};

	return one_in(c, 3) ? vttm_random(&c->random) : odd[draw(c, sizeof(odd) / sizeof(odd[0]))];
}

/*
 * Complain unless a call answered 0 (if it @may_pass) or one of the errors, of
 * which 0 is none.
 */
static void expect(struct client *c, const char *call, int ret, bool may_pass, int error1, int error2)
{
	if (ret ? ret == error1 || ret == error2 || (c->may_fail && ret == -ENOMEM) : may_pass)
		return;
	snprintf(c->fault, sizeof(c->fault), "%s returned %d (%s) instead of %s%d or %d", call, ret, strerror(-ret),
		 may_pass ? "0, " : "", error1, error2);
}

/* Opening fails as well, where allocations do: often, as it needs many. */
static int open_file(struct client *c)
{
	int tries, fd = -ENODEV;

	for (tries = 0; fd < 0 && tries < (c->may_fail ? 1000 : 1); tries++)
		fd = __vttm_open();
	if (fd < 0)
		snprintf(c->fault, sizeof(c->fault), "open returned %d", fd);
	return fd;
}

static bool has_bo(struct client *c)
{
	int i, j;

	for (i = 0; i < CLIENT_FILES; i++)
		for (j = 0; j < CLIENT_BOS; j++)
			if (c->files[i].bos[j].handle)
				return true;
	return false;
}

static struct client_file *any_file(struct client *c)
{
	return &c->files[draw(c, CLIENT_FILES)];
}

static struct client_bo *any_slot(struct client *c, struct client_file *f)
{
	return &f->bos[draw(c, CLIENT_BOS)];
}

/* A handle that @bo has, or if it has none, one that the file does not have. */
static uint32_t handle_of(struct client *c, struct client_bo *bo)
{
	return bo->handle ? bo->handle : one_in(c, 2) ? 0 : 1000 + draw(c, 1 << 20);
}

static void do_create(struct client *c, struct client_file *f)
{
	struct client_bo *bo = any_slot(c, f);
	struct drm_vttm_gem_create args = {
		.size = VTTM_PAGE << draw(c, 9),
		.tag = vttm_random(&c->random),
		.preferred_domains = 1 + draw(c, DRM_VTTM_DOMAIN_MASK),
		.flags = draw(c, DRM_VTTM_GEM_FLAGS_MASK + 1),
		.priority = draw(c, DRM_VTTM_PRIORITY_MAX + 1),
	};
	bool valid = true;
	int ret;

	if (bo->handle)
		return;
	if (one_in(c, 2))
		args.allowed_domains = args.preferred_domains | draw(c, DRM_VTTM_DOMAIN_MASK + 1);
	if (one_in(c, 8)) {
		args.size = draw_odd(c);
		/* Up to there a size can be right; this large it would only take time. */
		if (args.size < 1ull << 40)
			args.size |= 1;
		valid = false;
	} else if (one_in(c, 16)) {
		args.flags |= (DRM_VTTM_GEM_FLAGS_MASK + 1) << draw(c, 20);
		valid = false;
	} else if (one_in(c, 16)) {
		args.pad = 1 + draw(c, ~0u);
		valid = false;
	}
	ret = __vttm_ioctl(f->fd, DRM_IOCTL_VTTM_GEM_CREATE, &args);
	expect(c, "create", ret, valid, valid ? -ENOMEM : -EINVAL, -ENOMEM);
	if (!ret)
		*bo = (struct client_bo) { .handle = args.handle, .size = args.size, .flags = args.flags };
}

static void do_close(struct client *c, struct client_file *f)
{
	struct client_bo *bo = any_slot(c, f);
	bool exists = bo->handle;

	expect(c, "close", __vttm_close(f->fd, handle_of(c, bo)), exists, exists ? 0 : -EINVAL, 0);
	*bo = (struct client_bo) {};
}

static void do_info(struct client *c, struct client_file *f)
{
	struct client_bo *bo = any_slot(c, f);
	struct drm_vttm_gem_info args = { .handle = handle_of(c, bo), .pad = one_in(c, 8) };
	bool exists = bo->handle;
	int ret = __vttm_ioctl(f->fd, DRM_IOCTL_VTTM_GEM_INFO, &args);

	expect(c, "info", ret, exists && !args.pad, args.pad ? -EINVAL : exists ? 0 : -ENOENT, 0);
	if (!ret && (args.size != bo->size || args.flags != bo->flags || args.pin_count != bo->pins))
		snprintf(c->fault, sizeof(c->fault), "info tells of another BO: size %llu, flags %u, pins %u",
			 (unsigned long long)args.size, args.flags, args.pin_count);
}

static void do_map(struct client *c, struct client_file *f)
{
	struct client_bo *bo = any_slot(c, f);
	uint32_t *ptr = __vttm_map(f->fd, handle_of(c, bo), bo->handle ? bo->size : VTTM_PAGE);
	int error = errno;
	uint64_t last = bo->size / sizeof(*ptr) - 1;

	if (ptr == MAP_FAILED) {
		expect(c, "mmap", -error, false, bo->handle ? 0 : -ENOENT, 0);
		return;
	}
	if (!bo->handle) {
		snprintf(c->fault, sizeof(c->fault), "mmap of a BO that does not exist");
	} else if (!c->may_fail || bo->first || bo->last) {
		/* Where a fault fails for want of memory the process gets a signal: not under fault injection. */
		if (ptr[0] != bo->first || ptr[last] != bo->last)
			snprintf(c->fault, sizeof(c->fault), "contents %#x, %#x instead of %#x, %#x", ptr[0], ptr[last],
				 bo->first, bo->last);
		bo->first = ptr[0] = vttm_random(&c->random);
		bo->last = ptr[last] = vttm_random(&c->random);
	}
	munmap(ptr, bo->handle ? bo->size : VTTM_PAGE);
}

static void do_priority(struct client *c, struct client_file *f)
{
	struct client_bo *bo = any_slot(c, f);
	struct drm_vttm_gem_set_priority args = {
		.handle = handle_of(c, bo),
		.priority = one_in(c, 8) ? draw_odd(c) : draw(c, DRM_VTTM_PRIORITY_MAX + 1),
	};
	bool valid = bo->handle && (bo->flags & DRM_VTTM_GEM_VM_PRIVATE) && args.priority <= DRM_VTTM_PRIORITY_MAX;

	expect(c, "set priority", __vttm_ioctl(f->fd, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), valid,
	       valid ? 0 : -EINVAL, bo->handle ? 0 : -ENOENT);
}

static void do_pin(struct client *c, struct client_file *f)
{
	struct client_bo *bo = any_slot(c, f);
	uint32_t flags = one_in(c, 16) ? draw_odd(c) : draw(c, 3) ? DRM_VTTM_PIN_UNPIN : 0;
	bool unpin = flags == DRM_VTTM_PIN_UNPIN, valid = bo->handle && flags <= DRM_VTTM_PIN_UNPIN;
	int ret = __vttm_pin(f->fd, handle_of(c, bo), flags);

	if (!valid)
		expect(c, "pin", ret, false, -EINVAL, bo->handle ? 0 : -ENOENT);
	else if (unpin)
		expect(c, "unpin", ret, bo->pins, bo->pins ? 0 : -EINVAL, 0);
	else
		expect(c, "pin", ret, true, -ENOMEM, 0);
	if (valid && !ret)
		bo->pins += unpin ? -1 : 1;
}

static void spoil_submit(struct client *c, struct drm_vttm_submit *args)
{
	switch (draw(c, 7)) {
	case 0:
		args->flags = 1 + draw(c, ~0u);
		break;
	case 1:
		args->engine = 100 + draw(c, 1 << 30);
		break;
	case 2:
		args->bo_count = DRM_VTTM_SUBMIT_MAX + 1 + draw(c, 1u << 31);
		break;
	case 3:
		args->bo_count += !args->bo_count;
		args->bo_stride = draw(c, 2) ? draw(c, 8) : 1 + 8 * draw(c, 1 << 28);
		break;
	case 4:
		args->bo_count += !args->bo_count;
		args->bos = draw(c, 2) ? draw(c, 4096) : ~draw(c, 4096);
		break;
	case 5:
		args->touch_count += !args->touch_count;
		args->touches = draw(c, 2) ? draw(c, 4096) : ~draw(c, 4096);
		break;
	case 6:
		args->compute_ns = ~0ull - draw(c, 1 << 20);
		break;
	}
}

/* Return: whether the lists are as they should be. */
static bool draw_lists(struct client *c, struct client_file *f, struct drm_vttm_submit *args,
		       struct drm_vttm_submit_bo *bos, struct drm_vttm_submit_touch *touches)
{
	bool valid = true;
	uint32_t i;

	for (i = draw(c, 16); i; i--) {
		struct client_bo *bo = any_slot(c, f);

		/* Mostly what a program would list. */
		if ((!bo->handle || (bo->flags & DRM_VTTM_GEM_VM_PRIVATE)) && draw(c, 64))
			continue;
		valid &= bo->handle && !(bo->flags & DRM_VTTM_GEM_VM_PRIVATE);
		bos[args->bo_count++].handle = handle_of(c, bo);
		if (one_in(c, 2))
			touches[args->touch_count++] = (struct drm_vttm_submit_touch) {
				.handle = bos[args->bo_count - 1].handle,
				.vram_bytes = draw(c, 1 << 16),
				.link_bytes = draw(c, 1 << 14),
			};
	}
	return valid;
}

static void do_submit(struct client *c, struct client_file *f)
{
	struct drm_vttm_submit_bo bos[16] = {};
	struct drm_vttm_submit_touch touches[16] = {};
	struct drm_vttm_submit args = {
		.bos = (uintptr_t)bos, .bo_stride = sizeof(bos[0]),
		.touches = (uintptr_t)touches, .touch_stride = sizeof(touches[0]),
		.compute_ns = draw(c, 20000),
	};
	bool valid = draw_lists(c, f, &args, bos, touches);
	int ret;

	if (one_in(c, 8)) {
		spoil_submit(c, &args);
		ret = __vttm_ioctl(f->fd, DRM_IOCTL_VTTM_SUBMIT, &args);
		if (ret == -E2BIG || ret == -EFAULT || ret == -ENOMEM || ret == -ENOENT)
			ret = -EINVAL;
		expect(c, "submit of nonsense", ret, false, -EINVAL, 0);
		return;
	}
	ret = __vttm_ioctl(f->fd, DRM_IOCTL_VTTM_SUBMIT, &args);
	if (valid)
		expect(c, "submit", ret, true, -ENOMEM, 0);
	else
		expect(c, "submit with wrong handles", ret, false, -EINVAL, -ENOENT);
	if (ret)
		return;
	if (args.seqno != f->seqno + 1)
		snprintf(c->fault, sizeof(c->fault), "submission %llu follows %llu", (unsigned long long)args.seqno,
			 (unsigned long long)f->seqno);
	f->seqno = args.seqno;
}

static void do_wait(struct client *c, struct client_file *f)
{
	uint64_t seqno = one_in(c, 8) ? draw_odd(c) : f->seqno - (f->seqno ? draw(c, f->seqno) : 0);
	bool valid = seqno && seqno <= f->seqno;
	int64_t timeout_ns = one_in(c, 4) ? -1 : one_in(c, 2) ? 0 : (int64_t)draw(c, 1000000);
	int ret = __vttm_wait(f->fd, seqno, timeout_ns);

	expect(c, "wait", ret, valid, valid ? 0 : -EINVAL, valid && timeout_ns >= 0 ? -ETIME : 0);
}

static void do_label(struct client *c, struct client_file *f)
{
	struct drm_vttm_vm_set_label args = { .label = one_in(c, 8) ? ~0u : draw(c, 100), .pad = one_in(c, 8) };
	bool valid = args.label != ~0u && !args.pad;

	expect(c, "label", __vttm_ioctl(f->fd, DRM_IOCTL_VTTM_VM_SET_LABEL, &args), valid, valid ? 0 : -EINVAL, 0);
}

static void do_lab(struct client *c, struct client_file *f)
{
	static struct drm_vttm_event events[64];
	struct drm_vttm_lab args = { .op = draw(c, DRM_VTTM_LAB_EVENTS + 1), .value = draw(c, 64) };
	int ret;

	switch (args.op) {
	case DRM_VTTM_LAB_RESET:
		/* While there is a BO. Else it would work, and all files would forget their submissions. */
		if (has_bo(c))
			expect(c, "reset", __vttm_reset(f->fd, &c->config), false, -EBUSY, 0);
		return;
	case DRM_VTTM_LAB_EVENTS:
		args.ptr = (uintptr_t)events;
		break;
	case DRM_VTTM_LAB_TASK:
		/* From then on this thread would be one for good. */
		args.value = 1ull << 32;
		break;
	default:
		if (one_in(c, 16))
			args.ptr = draw_odd(c);
	}
	ret = __vttm_ioctl(f->fd, DRM_IOCTL_VTTM_LAB, &args);
	if (ret == -ENOENT || ret == -EBUSY || (ret == -ENOMEM && args.op <= DRM_VTTM_LAB_SWAPOUT))
		ret = 0;
	expect(c, "laboratory control", ret, true, -EINVAL, 0);
}

/*
 * Any bytes to any call of the driver and to some that it does not have,
 * through a file of its own, whose BOs, pins and submissions nobody counts.
 * Nothing that takes long: those who come after would wait for it.
 */
static void do_raw(struct client *c, struct client_file *unused)
{
	uint64_t words[16];
	unsigned int i, nr = draw(c, 32);

	for (i = 0; i < 16; i++)
		words[i] = one_in(c, 2) ? draw_odd(c) : draw(c, 64);
	if (nr == DRM_VTTM_SUBMIT)
		words[offsetof(struct drm_vttm_submit, compute_ns) / 8] %= 100000;
	ioctl(c->junk, _IOC(draw(c, 4), DRM_IOCTL_BASE, DRM_COMMAND_BASE + nr, draw(c, sizeof(words))), words);
	if (one_in(c, 50)) {
		close(c->junk);
		c->junk = open_file(c);
	}
}

static void close_file(struct client_file *f)
{
	close(f->fd);
	*f = (struct client_file) { .fd = -1 };
}

static void do_reopen(struct client *c, struct client_file *f)
{
	if (draw(c, 20))
		return;
	close_file(f);
	f->fd = open_file(c);
}

void client_call(struct client *c)
{
	static void (*const calls[])(struct client *c, struct client_file *f) = {
		do_create, do_create, do_create, do_create, do_close, do_close, do_info, do_map, do_map, do_map,
		do_priority, do_pin, do_pin, do_submit, do_submit, do_submit, do_submit, do_submit, do_submit,
		do_wait, do_wait, do_label, do_lab, do_raw, do_raw, do_reopen,
	};

	calls[draw(c, sizeof(calls) / sizeof(calls[0]))](c, any_file(c));
}

struct client *client_create(uint64_t seed, struct drm_vttm_lab_config config, bool may_fail)
{
	struct client *c = calloc(1, sizeof(*c));
	int i;

	c->random = seed;
	c->config = config;
	c->may_fail = may_fail;
	c->junk = open_file(c);
	for (i = 0; i < CLIENT_FILES; i++)
		c->files[i].fd = open_file(c);
	return c;
}

void client_destroy(struct client *c)
{
	int i;

	for (i = 0; i < CLIENT_FILES; i++)
		close_file(&c->files[i]);
	close(c->junk);
	free(c);
}
