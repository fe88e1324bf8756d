/* Every macro of memory: pages, caches, areas, per-CPU copies, pools, RCU. */
#include <linux/cpumask.h>
#include <linux/highmem.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/mmdebug.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

struct record {
	int value;
	char name[12];
	struct rcu_head rcu;
};
static unsigned long sum;

void pages(void)
{
	struct page *page = alloc_page(GFP_KERNEL);
	unsigned long address = __get_free_page(GFP_KERNEL), pfn;
	void *at = (void *)address;

	free_page(get_free_page(GFP_KERNEL));
	free_page(__get_dma_pages(GFP_KERNEL, 0));
	pfn = page_to_pfn(page);
	sum += pfn_to_page(pfn) == page && pfn_valid(pfn) && virt_to_page(at) == virt_to_head_page(at);
	sum += page_to_phys(page) + page_to_nid(page) + page_private(page) + page_ref_count(page);
	sum += page_address(page) == lowmem_page_address(page) && page_to_virt(page) == pfn_to_virt(pfn);
	sum += nth_page(page, 1) - page + untagged_addr(address) + PageHighMem(page);
	sum += totalram_pages() + totalhigh_pages();
	set_page_private(page, 5);
	mem_map_reserve(page);
	mem_map_unreserve(page);
	page_cache_get(page);
	page_cache_release(page);
	set_page_count(page, 1);
	sum += PAGE_ALIGN(5) + PAGE_ALIGN_DOWN(5) + PAGE_ALIGNED(4096) + offset_in_page(at);
	sum += PFN_UP(5) + PFN_DOWN(5000) + PFN_PHYS(5) + PHYS_PFN(5000) + __phys_to_pfn(5000UL);
	sum += __pa(at) + virt_to_bus(at) + virt_to_pfn(at) + __pgprot(5).pgprot;
	sum += __va(__pa(at)) == bus_to_virt(virt_to_bus(at));
	clear_page(at);
	copy_page(at, page_address(page));
	clear_highpage(page);
	kunmap_atomic(kmap_atomic(page));
	kunmap_local(kmap_local_page(page));
	sum += kmap(page) == page_address(page);
	kunmap(page);
	might_alloc(GFP_KERNEL);
	VM_BUG_ON(0);
	VM_BUG_ON_PAGE(0, page);
	VM_WARN_ON(0);
	VM_WARN_ON_ONCE(0);
	__free_page(page);
	free_page(address);
}

void blocks(void)
{
	struct kmem_cache *cache = KMEM_CACHE(record, 0), *other;
	mempool_t *pool;

	other = KMEM_CACHE_USERCOPY(record, 0, name);
	kmem_cache_destroy(other);
	other = kmem_cache_create("five", 64, 0, 0, NULL);
	kmem_cache_destroy(other);
	other = kmem_cache_create("six", 64, 0, 0, NULL, NULL);
	kmem_cache_destroy(other);
	other = kmem_cache_create_usercopy("usercopy", 64, 0, 0, 0, 64, NULL);
	kmem_cache_destroy(other);
	pool = mempool_create_slab_pool(2, cache);
	mempool_destroy(pool);
	pool = mempool_create_kmalloc_pool(2, 100);
	mempool_destroy(pool);
	pool = mempool_create_page_pool(2, 0);
	mempool_destroy(pool);
	kmem_cache_destroy(cache);
	kfree(__kmalloc(100, GFP_KERNEL));
	kfree(kmalloc_array_node(10, 10, GFP_KERNEL, 0));
	kzfree(kzalloc_node(100, GFP_KERNEL, 0));
	kvfree(kvzalloc(100, GFP_KERNEL));
	kvfree(kvcalloc(10, 10, GFP_KERNEL));
	kvfree(kvzalloc_node(100, GFP_KERNEL, 0));
	vfree(vcalloc(10, 10));
	vfree(vmalloc_array(10, 10));
	vfree(__vmalloc(100, GFP_KERNEL));
	vfree(__vmalloc(100, GFP_KERNEL, PAGE_KERNEL));
	vfree(__vmalloc_node(100, 1, GFP_KERNEL, 0, NULL));
	sum += ZERO_OR_NULL_PTR(kmalloc(0, GFP_KERNEL));
	sum += kmalloc_array_node(SIZE_MAX, 2, GFP_KERNEL | __GFP_NOWARN, 0) == NULL;
	sum += vmalloc_array(SIZE_MAX, 2) == NULL;
}

static DEFINE_PER_CPU(int, counter);
DECLARE_PER_CPU(long, aligned);
DEFINE_PER_CPU_SHARED_ALIGNED(long, aligned);
EXPORT_PER_CPU_SYMBOL(aligned);
EXPORT_PER_CPU_SYMBOL_GPL(aligned);

void copies(void)
{
	int *own = alloc_percpu(int), *other = alloc_percpu_gfp(int, GFP_KERNEL);
	unsigned int cpu;
	cpumask_t mask = { { 1 } };

	for_each_cpu(cpu, &mask)
		per_cpu(counter, cpu) = 1;
	for_each_online_cpu(cpu)
		*per_cpu_ptr(own, cpu) = 2;
	for_each_possible_cpu(cpu)
		sum += cpu_online(cpu) + cpu_possible(cpu) + cpu_present(cpu);
	for_each_present_cpu(cpu)
		sum++;
	sum += num_online_cpus() + num_possible_cpus() + num_present_cpus() + num_active_cpus();
	sum += get_cpu_var(counter)++;
	put_cpu_var(counter);
	sum += *get_cpu_ptr(own);
	put_cpu_ptr(own);
	sum += *raw_cpu_ptr(own) + *this_cpu_ptr(other) + __get_cpu_var(counter);
	this_cpu_write(counter, 5);
	__this_cpu_write(counter, 5);
	this_cpu_add(counter, 2);
	__this_cpu_add(counter, 2);
	this_cpu_sub(counter, 1);
	__this_cpu_sub(counter, 1);
	this_cpu_inc(counter);
	__this_cpu_inc(counter);
	this_cpu_dec(counter);
	__this_cpu_dec(counter);
	sum += this_cpu_read(counter) + __this_cpu_read(counter);
	sum += this_cpu_inc_return(counter) + __this_cpu_inc_return(counter);
	sum += this_cpu_add_return(counter, 3) + __this_cpu_add_return(counter, 3);
	sum += this_cpu_sub_return(counter, 3) + __this_cpu_sub_return(counter, 3);
	sum += this_cpu_dec_return(counter) + numa_mem_id();
	sum += get_cpu() + raw_smp_processor_id() + __smp_processor_id();
	put_cpu();
	free_percpu(own);
	free_percpu(other);
}

static void freed(struct rcu_head *head)
{
	kfree(container_of(head, struct record, rcu));
}

void readers(void)
{
	static struct record __rcu *current_record;
	struct record *record = kzalloc(sizeof(*record), GFP_KERNEL), *old;

	init_rcu_head(&record->rcu);
	destroy_rcu_head(&record->rcu);
	RCU_INIT_POINTER(current_record, NULL);
	rcu_assign_pointer(current_record, record);
	rcu_read_lock();
	sum += rcu_dereference(current_record)->value + rcu_dereference_check(current_record, 1)->value;
	sum += rcu_dereference_raw(current_record)->value + rcu_dereference_raw_check(current_record)->value;
	sum += rcu_dereference_bh(current_record)->value + rcu_pointer_handoff(record)->value;
	sum += rcu_access_pointer(current_record) != NULL && rcu_read_lock_held() && rcu_read_lock_any_held();
	rcu_read_unlock();
	rcu_read_lock_bh();
	rcu_read_unlock_bh();
	rcu_read_lock_sched();
	rcu_read_unlock_sched();
	RCU_LOCKDEP_WARN(1, "never");
	sum += rcu_dereference_protected(current_record, 1)->value;
	old = rcu_replace_pointer(current_record, NULL, 1);
	synchronize_sched();
	synchronize_net();
	synchronize_kernel();
	synchronize_rcu_expedited();
	call_rcu_bh(&old->rcu, freed);
	record = kzalloc(sizeof(*record), GFP_KERNEL);
	call_rcu_sched(&record->rcu, freed);
	record = RCU_INITIALIZER(kzalloc(sizeof(*record), GFP_KERNEL));
	kfree_rcu(record, rcu);
	kfree_rcu(old);
	record = kzalloc(sizeof(*record), GFP_KERNEL);
	kvfree_rcu(record, rcu);
	kfree_rcu_mightsleep(kmalloc(5, GFP_KERNEL));
	kvfree_rcu_mightsleep(kmalloc(5, GFP_KERNEL));
}

void users(void)
{
	char text[16] = "", other[16] = "text";
	char __user *from = other;
	int value, *ptr = &value;

	sum += access_ok(from, 5) + access_ok(VERIFY_READ, from, 5);
	set_fs(KERNEL_DS);
	sum += __copy_to_user(from, text, 5) + __copy_from_user(text, from, 5);
	sum += put_user(5, ptr) + get_user(value, ptr) + __put_user(5, ptr) + __get_user(value, ptr);
	sum += strncpy_from_user(text, from, sizeof(text)) + strnlen_user(from, 16);
	set_fs(USER_DS);
}

static int __init every_init(void)
{
	pages();
	blocks();
	copies();
	return 0;
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
