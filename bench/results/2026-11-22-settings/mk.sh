set -e
d=$(mktemp -d); cd $d
# 60 C files of kernel-like size, make -j2
for i in $(seq 40); do cat > f$i.c <<C
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <pthread.h>
#include <math.h>
struct s$i { int a[$i]; struct s$i *next; };
int f$i(struct s$i *s) { int n = 0; for (; s; s = s->next) n += s->a[0] + printf("%d", n); return n; }
C
done
{ echo 'all: lib.a'; echo 'OBJS := $(patsubst %.c,%.o,$(wildcard *.c))'; printf 'lib.a: $(OBJS)\n\tar rc $@ $^\n'; printf '%%.o: %%.c\n\tcc -O2 -c $< -o $@\n'; } > Makefile
make -j2 all >/dev/null
cd /; rm -rf $d
