/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The histories with the kernel's array, as the bench builds it. */
#include "kxa.c"
#include <stdio.h>
#include "history.h"
