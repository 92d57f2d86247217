/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_FDINFO_H_
#define _VTTM_FDINFO_H_

struct drm_file;
struct drm_printer;

void vttm_show_fdinfo(struct drm_printer *p, struct drm_file *file);

#endif
