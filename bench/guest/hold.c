// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * hold KIND N: makes N objects of the kernel, and leaves a process behind that holds them.
 *
 * A load for `slablab lab run patch`: slab memory is read while the objects are there. KIND is eventfd, timerfd, epoll, or
 * messages, whose sizes differ.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int make_message(int i)
{
	static struct {
		long type;
		char text[2048];
	} message = { .type = 1 };
	static int queue = -1;
	static int left;
	const size_t bytes = 40 + i % 20 * 90;

	/* A queue takes 16 KiB. */
	if (left < (int)bytes) {
		queue = msgget(IPC_PRIVATE, 0600);
		left = 16384;
	}
	left -= bytes;
	return queue < 0 ? -1 : msgsnd(queue, &message, bytes, IPC_NOWAIT);
}

static int make(const char *kind, int i)
{
	if (!strcmp(kind, "eventfd"))
		return eventfd(0, 0);
	if (!strcmp(kind, "timerfd"))
		return timerfd_create(CLOCK_MONOTONIC, 0);
	if (!strcmp(kind, "epoll"))
		return epoll_create1(0);
	if (!strcmp(kind, "messages"))
		return make_message(i);
	fprintf(stderr, "hold: %s: there are eventfd, timerfd, epoll, messages\n", kind);
	exit(2);
}

int main(int argc, char **argv)
{
	int made[2];
	char ok = 0;

	if (argc != 3 || atoi(argv[2]) < 1) {
		fprintf(stderr, "hold KIND N\n");
		return 2;
	}
	const int n = atoi(argv[2]);
	const struct rlimit files = { n + 64, n + 64 };
	if (setrlimit(RLIMIT_NOFILE, &files) || pipe(made)) {
		perror("hold");
		return 1;
	}
	switch (fork()) {
	case -1:
		perror("hold: fork");
		return 1;
	case 0:
		close(made[0]);
		for (int i = 0; i < n; i++) {
			if (make(argv[1], i) < 0) {
				perror("hold");
				_exit(1);
			}
		}
		if (write(made[1], "y", 1) != 1)
			_exit(1);
		close(made[1]);
		for (int i = 0; i < 3; i++)
			close(i);
		for (;;)
			pause();
	}
	close(made[1]);
	return read(made[0], &ok, 1) == 1 && ok == 'y' ? 0 : 1;
}
