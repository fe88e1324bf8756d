/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reed-Solomon codes: symbols of up to 16 bits, and as many roots as symbols of parity. A code of r roots mends e errors at
 * places that nobody knows and f at known ones, as long as 2e + f <= r.
 *
 * Linux counterpart: include/linux/rslib.h @ 6.12.
 */
#ifndef _LINUX_RSLIB_H
#define _LINUX_RSLIB_H

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/types.h>

/*
 * @mm, @nn: bits of a symbol, and symbols of a whole block, 2^mm - 1
 * @alpha_to, @index_of: powers of the field's generator, and logarithms; that of 0 is @nn
 * @genpoly: the generator polynomial, as logarithms
 * @nroots, @fcr, @prim, @iprim: number of roots, the first in steps, the step, and what it is times 1
 */
struct rs_codec {
	int mm;
	int nn;
	uint16_t *alpha_to;
	uint16_t *index_of;
	uint16_t *genpoly;
	int nroots;
	int fcr;
	int prim;
	int iprim;
	int gfpoly;
	int (*gffunc)(int);
	int users;
	struct list_head list;
};

/* A code and room to decode in, of one user at a time. */
struct rs_control {
	struct rs_codec *codec;
	uint16_t buffers[];
};

extern struct rs_control *init_rs_gfp(int symsize, int gfpoly, int fcr, int prim, int nroots, gfp_t gfp);
/* For a field that @func makes: the element behind another one. */
extern struct rs_control *init_rs_non_canonical(int symsize, int (*func)(int), int fcr, int prim, int nroots);
extern void free_rs(struct rs_control *rs);

/* @par: parity, zero for new data. @invmsk: what data is XORed with. */
extern int encode_rs8(struct rs_control *rs, uint8_t *data, int len, uint16_t *par, uint16_t invmsk);
extern int encode_rs16(struct rs_control *rs, uint16_t *data, int len, uint16_t *par, uint16_t invmsk);
/*
 * @s: logarithms of the syndrome, or NULL. @eras_pos: places of @no_eras erasures, then those of what was wrong.
 * @corr: where to put corrections, NULL to correct @data.
 * Return: errors that were found, -EBADMSG if there were too many.
 */
extern int decode_rs8(struct rs_control *rs, uint8_t *data, uint16_t *par, int len, uint16_t *s, int no_eras,
		      int *eras_pos, uint16_t invmsk, uint16_t *corr);
extern int decode_rs16(struct rs_control *rs, uint16_t *data, uint16_t *par, int len, uint16_t *s, int no_eras,
		       int *eras_pos, uint16_t invmsk, uint16_t *corr);

static inline struct rs_control *init_rs(int symsize, int gfpoly, int fcr, int prim, int nroots)
{
	return init_rs_gfp(symsize, gfpoly, fcr, prim, nroots, GFP_KERNEL);
}

/* The rest of a logarithm: without a division, as 2^mm is 1 more than @nn. */
static inline int rs_modnn(struct rs_codec *rs, int x)
{
	while (x >= rs->nn)
		x = ((x - rs->nn) >> rs->mm) + ((x - rs->nn) & rs->nn);
	return x;
}

#endif
