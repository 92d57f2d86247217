/* SPDX-License-Identifier: MIT */
/*
 * What our tests use of libigt, declared anew: Debian ships the library and no
 * headers. Names and meanings are libigt's, so that the tests build in an IGT
 * tree as well, with its igt.h in the place of this one. Checked against
 * libigt.so.0 of igt-gpu-tools 2.5.
 */
#ifndef IGT_H
#define IGT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct option;

#define IGT_EXIT_SKIP		77
#define IGT_EXIT_SUCCESS	0
#define IGT_EXIT_FAILURE	98

#define IGT_OPT_HANDLER_SUCCESS	0
#define IGT_OPT_HANDLER_ERROR	(-2)

enum igt_log_level {
	IGT_LOG_DEBUG,
	IGT_LOG_INFO,
	IGT_LOG_WARN,
	IGT_LOG_CRITICAL,
	IGT_LOG_NONE,
};

typedef int (*igt_opt_handler_t)(int opt, int opt_index, void *data);

/* Where a subtest or fixture goes back to when it fails or skips. */
extern jmp_buf igt_subtest_jmpbuf;

int igt_subtest_init_parse_opts(int *argc, char **argv, const char *extra_short_opts,
				const struct option *extra_long_opts, const char *help_str,
				igt_opt_handler_t extra_opt_handler, void *handler_data);
void igt_exit(void) __attribute__((noreturn));

bool __igt_fixture(void);
void __igt_fixture_complete(void);
bool __igt_run_subtest(const char *name, const char *file, int line);
void igt_success(void);
void igt_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void __igt_skip_check(const char *file, int line, const char *func, const char *check,
		      const char *format, ...)
	__attribute__((noreturn, format(printf, 5, 6)));
void __igt_fail_assert(const char *domain, const char *file, int line, const char *func,
		       const char *assertion, const char *format, ...)
	__attribute__((noreturn, format(printf, 6, 7)));
void igt_describe_f(const char *format, ...) __attribute__((format(printf, 1, 2)));
void igt_log(const char *domain, enum igt_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Children of a subtest; a child that fails an assertion fails it. */
bool __igt_fork(void);
void igt_waitchildren(void);

/* A file of the DRM device in debugfs, or -1. */
int igt_debugfs_open(int fd, const char *filename, int mode);

/* The string that --help-description prints; libigt looks for it by name. */
#define IGT_TEST_DESCRIPTION(text) const char *__igt_test_description = text

#define __igt_cat2(a, b)	a##b
#define __igt_cat(a, b)		__igt_cat2(a, b)
#define __igt_name(prefix)	__igt_cat(__igt_##prefix##_, __LINE__)

/* "int igt_main() { fixtures and subtests }" */
#define igt_main_args(short_opts, long_opts, help_str, handler, data)			\
	main(int argc, char **argv)							\
	{										\
		void __igt_real_main(void);						\
		igt_subtest_init_parse_opts(&argc, argv, short_opts, long_opts,		\
					    help_str, handler, data);			\
		__igt_real_main();							\
		igt_exit();								\
	}										\
	void __igt_real_main(void)
#define igt_main() igt_main_args(NULL, NULL, NULL, NULL, NULL)

#define igt_fixture()									\
	for (volatile int __igt_name(done) = 0;						\
	     !__igt_name(done) && __igt_fixture() &&					\
	     !sigsetjmp(igt_subtest_jmpbuf, 1);						\
	     __igt_name(done) = 1, __igt_fixture_complete())

#define igt_subtest(name)								\
	for (; __igt_run_subtest((name), __FILE__, __LINE__) &&				\
	       !sigsetjmp(igt_subtest_jmpbuf, 1);					\
	     igt_success())

#define __igt_subtest_f(buf, format...)							\
	for (char buf[256]; snprintf(buf, sizeof(buf), format),				\
	     __igt_run_subtest(buf, __FILE__, __LINE__) &&				\
	     !sigsetjmp(igt_subtest_jmpbuf, 1);						\
	     igt_success())
#define igt_subtest_f(format...) __igt_subtest_f(__igt_name(buf), format)

#define igt_describe(text) igt_describe_f("%s", text)

#define igt_fork(child, num)								\
	for (int child = 0; child < (num); child++)					\
		for (; __igt_fork(); exit(0))

#define igt_fail_assert(text, format...) \
	__igt_fail_assert(NULL, __FILE__, __LINE__, __func__, text, format)
#define igt_assert(expr) \
	do { if (!(expr)) igt_fail_assert(#expr, NULL); } while (0)
#define igt_assert_f(expr, format...) \
	do { if (!(expr)) igt_fail_assert(#expr, format); } while (0)

#define __igt_assert_cmp(type, conversion, a, cmp, not_cmp, b) do {			\
	type __a = (a), __b = (b);							\
	if (!(__a cmp __b))								\
		igt_fail_assert(#a " " #cmp " " #b, "error: " conversion " " #not_cmp	\
				" " conversion "\n", __a, __b);				\
} while (0)
#define igt_assert_eq(a, b)	__igt_assert_cmp(int, "%d", a, ==, !=, b)
#define igt_assert_neq(a, b)	__igt_assert_cmp(int, "%d", a, !=, ==, b)
#define igt_assert_lt(a, b)	__igt_assert_cmp(int, "%d", a, <, >=, b)
#define igt_assert_lte(a, b)	__igt_assert_cmp(int, "%d", a, <=, >, b)
#define igt_assert_eq_u32(a, b)	__igt_assert_cmp(uint32_t, "%#x", a, ==, !=, b)
#define igt_assert_eq_u64(a, b)	__igt_assert_cmp(unsigned long long, "%#llx", a, ==, !=, b)
#define igt_assert_lte_u64(a, b) __igt_assert_cmp(unsigned long long, "%#llx", a, <=, >, b)
#define igt_assert_fd(fd)	igt_assert_lte(0, fd)

#define igt_require(expr) do {								\
	if (!(expr))									\
		__igt_skip_check(__FILE__, __LINE__, __func__, #expr, NULL);		\
} while (0)
#define igt_require_f(expr, format...) do {						\
	if (!(expr))									\
		__igt_skip_check(__FILE__, __LINE__, __func__, #expr, format);		\
} while (0)

#define igt_debug(format...)	igt_log(NULL, IGT_LOG_DEBUG, format)
#define igt_info(format...)	igt_log(NULL, IGT_LOG_INFO, format)
#define igt_warn(format...)	igt_log(NULL, IGT_LOG_WARN, format)

#endif
