// SPDX-License-Identifier: MIT OR Apache-2.0
// Patterns of the shell, after glob(7): of the stars only the last has to be tried again.
#include <linux/glob.h>

/* Whether `c` is in the set that begins behind a bracket; `end` gets what is behind it, NULL if nothing closes it. */
static bool in_set(const char *set, unsigned char c, const char **end)
{
	bool not = *set == '!', found = false;
	const char *at = set + not;

	*end = NULL;
	do {
		unsigned char from = (unsigned char)*at++, to = from;

		if (!from)
			return false;
		if (at[0] == '-' && at[1] && at[1] != ']') {
			to = (unsigned char)at[1];
			at += 2;
		}
		found = found || (from <= c && c <= to);
	} while (*at != ']');
	*end = at + 1;
	return found != not;
}

bool glob_match(const char *pat, const char *str)
{
	const char *star = NULL, *begin = NULL;

	for (;;) {
		const char *next = pat + 1, *end;
		bool same;

		if (*pat == '*') {
			star = pat = next;
			begin = str;
			continue;
		}
		if (!*str && !*pat)
			return true;
		same = *str && (*pat == '?' || *pat == *str);
		if (*str && *pat == '[') {
			bool found = in_set(next, (unsigned char)*str, &end);

			/* A bracket that nothing closes is a bracket. */
			same = end ? found : *str == '[';
			next = end ?: next;
		} else if (*str && *pat == '\\') {
			same = pat[1] == *str;
			next = pat + 2;
		}
		if (same) {
			pat = next;
			str++;
		} else if (star && *begin) {
			pat = star;
			str = ++begin;
		} else {
			return false;
		}
	}
}
