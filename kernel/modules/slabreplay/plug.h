/* SPDX-License-Identifier: GPL-2.0-only */
/* Where caches share pages: the trace gets pages that nobody else has objects in. For slabreplay.c alone. */
/*
 * Objects that take the room in pages that are there. The smallest object of each list of pages takes what room any other
 * of that list could have: SLOB's lists are for objects below 256 and 1024 bytes and beyond, SLMB's twelve of every CPU
 * for those up to 8, 16, ... bytes.
 */
#ifdef CONFIG_SLMB
static const unsigned int plug_sizes[] = { 8, 10, 18, 26, 34, 42, 50, 58, 66, 98, 130, 258, 1026 };
#else
static const unsigned int plug_sizes[] = { 8, 256, 1024 };
#endif
#define PLUGS_MAX (1U << 20)

static struct kmem_cache *plug_caches[ARRAY_SIZE(plug_sizes)];
static void **plugs;
/* Those before plug_ends[i] are of the sizes up to i. */
static unsigned int nr_plugs, plug_ends[ARRAY_SIZE(plug_sizes) * NR_CPUS], nr_plug_ends;

/* Takes objects until a page was filled from its begin to its end: no other page had room. */
static int plug_here(void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(plug_sizes); i++) {
		unsigned int stride = ALIGN(plug_sizes[i], sizeof(long)), run = 0;
		void *last = NULL;

		while (run < PAGE_SIZE / stride && nr_plugs < PLUGS_MAX) {
			void *object = kmem_cache_alloc(plug_caches[i], GFP_KERNEL | __GFP_NOWARN);

			if (!object)
				return -ENOMEM;
			plugs[nr_plugs++] = object;
			run = offset_in_page(object) ? (object == last + stride && run ? run + 1 : 0) : 1;
			last = object;
			if (!(nr_plugs % 256))
				cond_resched();
		}
		plug_ends[nr_plug_ends++] = nr_plugs;
	}
	return nr_plugs < PLUGS_MAX ? 0 : -ENOMEM;
}

static int plug(void)
{
	unsigned int i, cpu;
	int error = 0;

	if (!CACHES_SHARE_PAGES || plugs)
		return 0;
	/* What waits to be freed would make room again. */
	settle();
	vm_unmap_aliases();
	plugs = vzalloc(array_size(PLUGS_MAX, sizeof(*plugs)));
	for (i = 0; plugs && i < ARRAY_SIZE(plug_sizes); i++) {
		plug_caches[i] = kmem_cache_create("plug", plug_sizes[i], 0, 0, NULL);
		if (!plug_caches[i])
			return -ENOMEM;
	}
	for (cpu = 0; plugs && cpu < nr_cpus && !error; cpu++)
		error = smp_call_on_cpu(cpu, plug_here, NULL, false);
	return plugs ? error : -ENOMEM;
}

static void unplug(void)
{
	unsigned int end, i = 0;

	for (end = 0; end < nr_plug_ends; end++)
		for (; i < plug_ends[end]; i++)
			kmem_cache_free(plug_caches[end % ARRAY_SIZE(plug_sizes)], plugs[i]);
	/* Those of a size that ran out of memory half-way. */
	for (; i < nr_plugs; i++)
		kmem_cache_free(plug_caches[nr_plug_ends % ARRAY_SIZE(plug_sizes)], plugs[i]);
	for (i = 0; i < ARRAY_SIZE(plug_sizes); i++)
		kmem_cache_destroy(plug_caches[i]);
	vfree(plugs);
}
