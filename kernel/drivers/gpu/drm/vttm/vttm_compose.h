/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_COMPOSE_H_
#define _VTTM_COMPOSE_H_

struct work_struct;

void vttm_compose_work(struct work_struct *work);

#endif
