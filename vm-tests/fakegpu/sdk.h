/* SPDX-License-Identifier: GPL-2.0 */
/* NVIDIA's published headers of control calls, which name a field as the kernel names its macro. */
#ifndef SDK_H
#define SDK_H

#include <linux/sched.h>

#pragma push_macro("current")
#undef current
#include <ctrl/ctrl2080.h>
#pragma pop_macro("current")

#endif
