// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes and closes pipes without end: twelve events of the slab allocator each, with little work between them.
#include <unistd.h>

int main(void)
{
	int ends[2];

	while (!pipe(ends)) {
		close(ends[0]);
		close(ends[1]);
	}
	return 1;
}
