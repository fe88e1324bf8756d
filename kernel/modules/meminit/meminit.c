// SPDX-License-Identifier: GPL-2.0-only
/*
 * meminit: Linux's own lib/test_meminit.c, for kernels built without it
 *
 * The configuration has it in the flavour "debug" only, whose kernels are built
 * apart. It needs nothing that modules have not, so each tree's own is compiled
 * here, found next to its headers.
 */
#include <../lib/test_meminit.c>
