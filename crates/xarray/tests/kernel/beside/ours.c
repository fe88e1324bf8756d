/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The histories with our array. */
#include <linux/xarray.h>
#include <stdlib.h>
#include "history.h"
