/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace in parts, and what its live objects hold after each, where nobody else counts. For slabreplay.c alone. */
/* What "parts" counted, as text. */
static char *told;
static size_t told_len, told_size;
/* Slabs of each cache, and bytes of these. */
struct held {
	unsigned int slabs;
	u64 bytes;
};

static __printf(1, 2) void tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	told_len += vscnprintf(told + told_len, told_size - told_len, format, args);
	va_end(args);
}

/* Returns the live object that an event allocated, or NULL. */
static __maybe_unused void *live_object(unsigned int event)
{
	void *object = is_alloc(&events[event]) ? slots[le32_to_cpu(events[event].object)] : NULL;

	return object == FAILED ? NULL : object;
}

/* Returns what the page of an object takes: of a cache without slabs, all of its own. */
static __maybe_unused u64 bytes_of(const struct page *head, const struct trace_event *event)
{
	unsigned int order = compound_order((struct page *)head);

	if (CACHES_SHARE_PAGES && caches[cache_of(event)] && !order)
		order = get_order(le32_to_cpu(traced[cache_of(event)].size));
	return PAGE_SIZE << order;
}

/* Page frames, of which those beyond are nobody's objects. */
static unsigned long nr_frames(void)
{
	return PHYS_PFN(__pa(high_memory - 1)) + 1;
}

#ifdef CONFIG_SLUB_DENSE
/* Counts the slabs of the trace's caches, those that only magazines keep among them. */
static void count_slabs(struct held *held, unsigned long *seen)
{
	unsigned long pfn, frames = nr_frames();
	unsigned int i;

	for (pfn = 0; pfn < frames; pfn++) {
		struct page *page = pfn_to_online_page(pfn);
		struct kmem_cache *cache;

		if (!(pfn % 4096))
			cond_resched();
		if (!page || PageTail(page) || !PageSlab(page))
			continue;
		/* struct slab is mm's own; its second word is the cache. */
		cache = ((struct kmem_cache **)page)[1];
		for (i = 0; i < nr_caches; i++)
			if (cache && caches[i] == cache) {
				held[i].slabs++;
				held[i].bytes += PAGE_SIZE << compound_order(page);
			}
	}
}
#else
/* Counts the slabs of live objects, each once. */
static void count_slabs(struct held *held, unsigned long *seen)
{
	unsigned int i;

	bitmap_zero(seen, nr_frames());
	for (i = 0; i < next_event; i++) {
		void *object = live_object(i);
		struct page *head = object ? virt_to_head_page(object) : NULL;
		struct held *of = &held[CACHES_SHARE_PAGES ? 0 : cache_of(&events[i])];

		if (object && !__test_and_set_bit(page_to_pfn(head), seen)) {
			of->slabs++;
			of->bytes += bytes_of(head, &events[i]);
		}
		if (!(i % 4096))
			cond_resched();
	}
}
#endif

/* Tells what is held. Allocates nothing, which could take a trace's page. */
static void count_held(struct held *held, unsigned long *seen)
{
	unsigned int i;

	memset(held, 0, array_size(nr_caches + 1, sizeof(*held)));
	count_slabs(held, seen);
	tell("moment %u\n", next_event);
	if (CACHES_SHARE_PAGES)
		tell("pages %llu\n", held[0].bytes);
	for (i = 0; !CACHES_SHARE_PAGES && i < nr_caches; i++)
		if (caches[i] && held[i].slabs)
			tell("rp_%u %u %llu\n", i, held[i].slabs, held[i].bytes);
}

static int replay_parts(unsigned int parts)
{
	unsigned long *seen;
	struct held *held;
	unsigned int i;
	int error = 0;

	if (!parts || parts > 1024 || told)
		return -EINVAL;
	held = vzalloc(array_size(nr_caches + 1, sizeof(*held)));
	told_size = array_size(parts, (nr_caches + 2) * 40);
	told = vzalloc(told_size);
	seen = vzalloc(BITS_TO_LONGS(nr_frames()) * sizeof(long));
	if (!held || !told || !seen)
		error = -ENOMEM;
	if (!error)
		error = plug();
	for (i = 1; i <= parts && !error; i++) {
		unsigned int end = (u64)nr_events * i / parts;

		/* A trace of fewer events than parts has as many moments as events. */
		if (end <= next_event)
			continue;
		error = replay_ordered(end);
		if (!error) {
			settle();
			count_held(held, seen);
		}
	}
	vfree(seen);
	vfree(held);
	return error;
}
