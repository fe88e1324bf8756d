/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The cheapest read side there is: readers pass quiescent states of their own accord (liburcu QSBR). */
#ifndef BENCH_RCUPDATE_H
#define BENCH_RCUPDATE_H

#include <urcu-qsbr.h>

#define rcu_dereference_raw(p) rcu_dereference(p)
#define rcu_dereference_protected(p, cond) rcu_dereference(p)
#define rcu_dereference_check(p, cond) rcu_dereference(p)
#define RCU_INIT_POINTER(p, v) do { (p) = (v); } while (0)

#endif
