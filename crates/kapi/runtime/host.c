// SPDX-License-Identifier: MIT OR Apache-2.0
// What the host sets before anything runs, and jiffies all the time. Every other file may read it.
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/timex.h>

volatile unsigned long jiffies;
unsigned int nr_cpu_ids = 1;
struct cpumask kapi_all_cpus;
unsigned int cpu_khz, tsc_khz;
unsigned long kapi_page_offset, kapi_vmalloc_start, kapi_vmalloc_end;
unsigned long max_mapnr, max_pfn, num_physpages, totalram_pages;
struct page *mem_map;
void *high_memory;
int oops_in_progress, panic_timeout;
unsigned int kapi_check, kapi_exits;
