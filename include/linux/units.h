/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Powers of ten by their names.
 *
 * Linux counterpart: include/linux/units.h @ 6.12, but for temperatures.
 */
#ifndef _LINUX_UNITS_H
#define _LINUX_UNITS_H

#include <linux/bits.h>

#define PETA 1000000000000000ULL
#define TERA 1000000000000ULL
#define GIGA 1000000000UL
#define MEGA 1000000UL
#define KILO 1000UL
#define HECTO 100UL
#define DECA 10UL
#define DECI 10UL
#define CENTI 100UL
#define MILLI 1000UL
#define MICRO 1000000UL
#define NANO 1000000000UL
#define PICO 1000000000000ULL
#define NANOHZ_PER_HZ 1000000000UL
#define MICROHZ_PER_HZ 1000000UL
#define MILLIHZ_PER_HZ 1000UL
#define HZ_PER_KHZ 1000UL
#define HZ_PER_MHZ 1000000UL
#define KHZ_PER_MHZ 1000UL
#define KHZ_PER_GHZ 1000000UL

#endif
