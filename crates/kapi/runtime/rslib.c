// SPDX-License-Identifier: MIT OR Apache-2.0
// Reed-Solomon codes, by the textbook: syndromes, Berlekamp and Massey's locator, Chien's search for its roots, and Forney's
// values. What was decoded is only taken if the corrections have the syndromes that were found.
#include "host.h"
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/rslib.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Products of field elements: with one that is given as its logarithm, and of both as themselves. */
static inline u16 scale(const struct rs_codec *rs, u16 a, int log)
{
	log += rs->index_of[a];
	return a ? rs->alpha_to[log < rs->nn ? log : log - rs->nn] : 0;
}

static inline u16 times(const struct rs_codec *rs, u16 a, u16 b) { return b ? scale(rs, a, rs->index_of[b]) : 0; }

static u16 power(const struct rs_codec *rs, long exponent)
{
	return rs->alpha_to[(exponent % rs->nn + rs->nn) % rs->nn];
}

static u16 inverse(const struct rs_codec *rs, u16 a)
{
	int log = rs->index_of[a];

	return rs->alpha_to[log ? rs->nn - log : 0];
}

/* The value of a polynomial of @degree, lowest coefficient first. */
static u16 value(const struct rs_codec *rs, const u16 *poly, int degree, u16 x)
{
	int log = rs->index_of[x];
	u16 sum = 0;

	for (; degree >= 0; degree--)
		sum = scale(rs, sum, log) ^ poly[degree];
	return sum;
}

static bool make_field(struct rs_codec *rs)
{
	int i, element = 1;

	rs->index_of[0] = (u16)rs->nn;
	rs->alpha_to[rs->nn] = 0;
	for (i = 0; i < rs->nn; i++) {
		if (i && element <= 1)
			return false;
		rs->index_of[element] = (u16)i;
		rs->alpha_to[i] = (u16)element;
		if (rs->gfpoly) {
			element <<= 1;
			if (element >> rs->mm)
				element ^= rs->gfpoly;
			element &= rs->nn;
		} else {
			element = rs->gffunc(element);
		}
	}
	/* The powers come round: all elements but 0 were met. */
	return element == rs->alpha_to[0];
}

/* The product of (x - root) over all roots, as logarithms. */
static void make_generator(struct rs_codec *rs)
{
	int i, j;

	rs->genpoly[0] = 1;
	for (i = 0; i < rs->nroots; i++) {
		u16 root = power(rs, (long)(rs->fcr + i) * rs->prim);

		rs->genpoly[i + 1] = 1;
		for (j = i; j > 0; j--)
			rs->genpoly[j] = rs->genpoly[j - 1] ^ times(rs, rs->genpoly[j], root);
		rs->genpoly[0] = times(rs, rs->genpoly[0], root);
	}
	for (i = 0; i <= rs->nroots; i++)
		rs->genpoly[i] = rs->index_of[rs->genpoly[i]];
}

static void free_codec(struct rs_codec *codec)
{
	kfree(codec->alpha_to);
	kfree(codec->index_of);
	kfree(codec->genpoly);
	kfree(codec);
}

/* Arrays that decoding needs, each of @nroots + 1 symbols. */
enum {
	SYNDROME,
	LOCATOR,
	EARLIER,
	NEXT,
	EVALUATOR,
	VALUES,
	PLACES,
	BUFFERS
};

static u16 *buffer(struct rs_control *rs, int which) { return rs->buffers + which * (rs->codec->nroots + 1); }

static struct rs_control *create(int symsize, int gfpoly, int (*func)(int), int fcr, int prim, int nroots, gfp_t gfp)
{
	struct rs_control *rs;
	struct rs_codec *codec;

	if (symsize < 1 || symsize > 16 || fcr < 0 || fcr >= 1 << symsize || prim <= 0 || prim >= 1 << symsize || nroots < 0 ||
	    nroots >= 1 << symsize)
		return NULL;
	rs = kzalloc(sizeof(*rs) + BUFFERS * (size_t)(nroots + 1) * sizeof(u16), gfp);
	codec = kzalloc(sizeof(*codec), gfp);
	if (!rs || !codec)
		goto give_back;
	codec->mm = symsize;
	codec->nn = (1 << symsize) - 1;
	codec->nroots = nroots;
	codec->fcr = fcr;
	codec->prim = prim;
	codec->gfpoly = gfpoly;
	codec->gffunc = func;
	codec->users = 1;
	INIT_LIST_HEAD(&codec->list);
	codec->alpha_to = kcalloc(codec->nn + 1, sizeof(u16), gfp);
	codec->index_of = kcalloc(codec->nn + 1, sizeof(u16), gfp);
	codec->genpoly = kcalloc(nroots + 1, sizeof(u16), gfp);
	if (!codec->alpha_to || !codec->index_of || !codec->genpoly || !make_field(codec))
		goto give_back_codec;
	for (codec->iprim = 1; codec->iprim % prim; codec->iprim += codec->nn)
		;
	codec->iprim /= prim;
	make_generator(codec);
	rs->codec = codec;
	return rs;
give_back_codec:
	free_codec(codec);
	codec = NULL;
give_back:
	kfree(codec);
	kfree(rs);
	return NULL;
}

struct rs_control *init_rs_gfp(int symsize, int gfpoly, int fcr, int prim, int nroots, gfp_t gfp)
{
	return gfpoly ? create(symsize, gfpoly, NULL, fcr, prim, nroots, gfp) : NULL;
}

struct rs_control *init_rs_non_canonical(int symsize, int (*func)(int), int fcr, int prim, int nroots)
{
	return func ? create(symsize, 0, func, fcr, prim, nroots, GFP_KERNEL) : NULL;
}

void free_rs(struct rs_control *rs)
{
	if (!rs)
		return;
	free_codec(rs->codec);
	kfree(rs);
}

/* Symbols of eight or of sixteen bits. */
struct symbols {
	u8 *bytes;
	u16 *words;
};

static u16 symbol(const struct symbols *from, int i) { return from->bytes ? from->bytes[i] : from->words[i]; }

/* The rest of the data's polynomial over the generator; what is in @par is taken as that of earlier data. */
static int encode(struct rs_control *rsc, struct symbols data, int len, u16 *par, u16 invmsk)
{
	const struct rs_codec *rs = rsc->codec;
	int i, j, roots = rs->nroots;

	if (len < 0 || len > rs->nn - roots)
		return -ERANGE;
	for (i = 0; i < len; i++) {
		u16 feedback = (u16)((symbol(&data, i) ^ invmsk) & rs->nn) ^ par[0];

		for (j = 0; j < roots; j++) {
			u16 next = j + 1 < roots ? par[j + 1] : 0;
			int factor = rs->genpoly[roots - 1 - j];

			par[j] = next ^ (factor == rs->nn ? 0 : scale(rs, feedback, factor));
		}
	}
	return 0;
}

int encode_rs8(struct rs_control *rs, uint8_t *data, int len, uint16_t *par, uint16_t invmsk)
{
	return encode(rs, (struct symbols){ .bytes = data }, len, par, invmsk);
}

int encode_rs16(struct rs_control *rs, uint16_t *data, int len, uint16_t *par, uint16_t invmsk)
{
	return encode(rs, (struct symbols){ .words = data }, len, par, invmsk);
}

/* Return: whether anything is wrong. */
static bool find_syndromes(struct rs_control *rsc, const struct symbols *data, const u16 *par, int len, const u16 *given,
			   u16 invmsk)
{
	const struct rs_codec *rs = rsc->codec;
	u16 *syndrome = buffer(rsc, SYNDROME), any = 0;
	int i, j;

	for (i = 0; i < rs->nroots; i++) {
		int root = (int)((long)(rs->fcr + i) * rs->prim % rs->nn);
		u16 sum = 0;

		if (given) {
			sum = rs->alpha_to[given[i]];
		} else {
			for (j = 0; j < len; j++)
				sum = scale(rs, sum, root) ^ (u16)((symbol(data, j) ^ invmsk) & rs->nn);
			for (j = 0; j < rs->nroots; j++)
				sum = scale(rs, sum, root) ^ (par[j] & rs->nn);
		}
		syndrome[i] = sum;
		any |= sum;
	}
	return any;
}

/* What stands for a place in the locator: its power of the primitive root. */
static u16 locator_of(const struct rs_codec *rs, int total, int place)
{
	return power(rs, (long)rs->prim * (total - 1 - place));
}

/* Begins with the known places, then takes in what the syndromes say of others. Return: the degree. */
static int find_locator(struct rs_control *rsc, int total, int no_eras, const int *eras_pos)
{
	const struct rs_codec *rs = rsc->codec;
	u16 *syndrome = buffer(rsc, SYNDROME), *locator = buffer(rsc, LOCATOR);
	u16 *earlier = buffer(rsc, EARLIER), *next = buffer(rsc, NEXT);
	int i, r, roots = rs->nroots, bytes = (roots + 1) * (int)sizeof(u16), degree = no_eras;

	memset(locator, 0, bytes);
	locator[0] = 1;
	for (r = 0; r < no_eras; r++) {
		u16 x = locator_of(rs, total, eras_pos[r]);

		for (i = r + 1; i > 0; i--)
			locator[i] ^= times(rs, x, locator[i - 1]);
	}
	memcpy(earlier, locator, bytes);
	for (r = no_eras + 1; r <= roots; r++) {
		u16 off = 0;

		for (i = 0; i < r; i++)
			off ^= times(rs, locator[i], syndrome[r - 1 - i]);
		/* The earlier one goes up by one degree at each step. */
		memmove(earlier + 1, earlier, roots * sizeof(u16));
		earlier[0] = 0;
		if (!off)
			continue;
		for (i = 0; i <= roots; i++)
			next[i] = locator[i] ^ times(rs, off, earlier[i]);
		if (2 * degree <= r + no_eras - 1) {
			u16 by = inverse(rs, off);

			degree = r + no_eras - degree;
			for (i = 0; i <= roots; i++)
				earlier[i] = times(rs, by, locator[i]);
		}
		memcpy(locator, next, bytes);
	}
	for (degree = roots; degree > 0 && !locator[degree]; degree--)
		;
	return degree;
}

/* Places and values of what is wrong, the latter from the evaluator: the syndromes times the locator. */
static int find_values(struct rs_control *rsc, int total, int degree)
{
	const struct rs_codec *rs = rsc->codec;
	u16 *syndrome = buffer(rsc, SYNDROME), *locator = buffer(rsc, LOCATOR);
	u16 *evaluator = buffer(rsc, EVALUATOR), *values = buffer(rsc, VALUES), *places = buffer(rsc, PLACES);
	u16 step = power(rs, rs->prim), at = inverse(rs, locator_of(rs, total, 0));
	int place, i, j, count = 0;

	for (i = 0; i < degree; i++)
		for (evaluator[i] = 0, j = 0; j <= i; j++)
			evaluator[i] ^= times(rs, syndrome[i - j], locator[j]);
	for (place = 0; place < total && count < degree; place++, at = times(rs, at, step)) {
		u16 square = times(rs, at, at), slope = 0;

		if (value(rs, locator, degree, at))
			continue;
		/* Of the derivative only the odd terms are left, since the field's sums have no carry. */
		for (i = (degree - 1) | 1; i > 0; i -= 2)
			slope = times(rs, slope, square) ^ (i <= degree ? locator[i] : 0);
		if (!slope)
			return -EBADMSG;
		places[count] = (u16)place;
		values[count++] = times(rs, times(rs, value(rs, evaluator, degree - 1, at), inverse(rs, slope)),
					power(rs, (long)rs->index_of[at] * (rs->fcr - 1)));
	}
	/* Fewer roots than the degree: no such errors are possible. */
	return count == degree ? count : -EBADMSG;
}

/* Whether the corrections have the syndromes that were found: those of a word that is too far from all do not. */
static bool explain(struct rs_control *rsc, int total, int count)
{
	const struct rs_codec *rs = rsc->codec;
	const u16 *values = buffer(rsc, VALUES), *places = buffer(rsc, PLACES);
	u16 *sums = buffer(rsc, EVALUATOR);
	int i, j;

	memset(sums, 0, (rs->nroots + 1) * sizeof(*sums));
	for (j = 0; j < count; j++) {
		u16 x = locator_of(rs, total, places[j]);
		u16 term = times(rs, values[j], power(rs, (long)rs->index_of[x] * rs->fcr));

		for (i = 0; i < rs->nroots; i++, term = times(rs, term, x))
			sums[i] ^= term;
	}
	return !memcmp(sums, buffer(rsc, SYNDROME), rs->nroots * sizeof(*sums));
}

static int decode(struct rs_control *rsc, struct symbols data, u16 *par, int len, const u16 *given, int no_eras,
		  int *eras_pos, u16 invmsk, u16 *corr)
{
	const struct rs_codec *rs = rsc->codec;
	u16 *values = buffer(rsc, VALUES), *places = buffer(rsc, PLACES);
	int total = len + rs->nroots, count, i, wrong = 0;
	bool has_data = data.bytes || data.words;

	if (len < 0 || total > rs->nn)
		return -ERANGE;
	if (no_eras < 0 || no_eras > rs->nroots)
		return -EINVAL;
	if (!find_syndromes(rsc, &data, par, len, given, invmsk))
		return 0;
	count = find_locator(rsc, total, no_eras, eras_pos);
	count = count ? find_values(rsc, total, count) : -EBADMSG;
	if (count < 0 || !explain(rsc, total, count))
		return -EBADMSG;
	/* A known place may have been right after all. */
	for (i = 0; i < count; i++) {
		if (!values[i])
			continue;
		if (corr) {
			corr[wrong] = values[i];
		} else if (has_data && places[i] < len) {
			if (data.bytes)
				data.bytes[places[i]] ^= (u8)values[i];
			else
				data.words[places[i]] ^= values[i];
		} else if (has_data) {
			par[places[i] - len] ^= values[i];
		}
		if (eras_pos)
			eras_pos[wrong] = places[i];
		wrong++;
	}
	return wrong;
}

int decode_rs8(struct rs_control *rs, uint8_t *data, uint16_t *par, int len, uint16_t *s, int no_eras, int *eras_pos,
	       uint16_t invmsk, uint16_t *corr)
{
	return decode(rs, (struct symbols){ .bytes = data }, par, len, s, no_eras, eras_pos, invmsk, corr);
}

int decode_rs16(struct rs_control *rs, uint16_t *data, uint16_t *par, int len, uint16_t *s, int no_eras, int *eras_pos,
		uint16_t invmsk, uint16_t *corr)
{
	return decode(rs, (struct symbols){ .words = data }, par, len, s, no_eras, eras_pos, invmsk, corr);
}
