// SPDX-License-Identifier: GPL-2.0-only
/*
 * fill GROUPS: hackbench's processes and sockets, with a peak that no scheduler decides.
 *
 * As hackbench has it, a group is 20 senders that write messages of 100 bytes to the sockets of 20 receivers. Here
 * senders write until each socket is full, all senders wait for each other, and only then receivers read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAIRS 20

static void check(int failed, const char *what)
{
	if (failed) {
		perror(what);
		exit(1);
	}
}

static void send_until_full(int pairs[][2])
{
	static char message[100];
	int full = 0;

	while (full < PAIRS) {
		full = 0;
		for (int i = 0; i < PAIRS; i++)
			if (send(pairs[i][0], message, sizeof(message), MSG_DONTWAIT) < 0) {
				check(errno != EAGAIN, "send");
				full++;
			}
	}
}

int main(int argc, char **argv)
{
	int groups = argc > 1 ? atoi(argv[1]) : 4, sockets = groups * PAIRS;
	int (*pairs)[2] = calloc(sockets, sizeof(*pairs)), done[2], go[2];
	char byte;

	check(!pairs || pipe(done) || pipe(go), "pipe");
	for (int i = 0; i < sockets; i++)
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), "socketpair");
	for (int i = 0; i < sockets; i++) {
		pid_t sender = fork();

		check(sender < 0, "fork");
		if (!sender) {
			close(go[1]);
			send_until_full(pairs + i / PAIRS * PAIRS);
			check(write(done[1], "", 1) != 1, "write");
			_exit(read(go[0], &byte, 1) < 0);
		}
	}
	for (int i = 0; i < sockets; i++)
		check(read(done[0], &byte, 1) != 1, "read");
	close(go[1]);
	for (int i = 0; i < sockets; i++) {
		pid_t receiver = fork();

		check(receiver < 0, "fork");
		if (!receiver) {
			char message[100];

			while (recv(pairs[i][1], message, sizeof(message), MSG_DONTWAIT) > 0)
				;
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
