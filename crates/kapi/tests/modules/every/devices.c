/* Every macro of devices, of what goes with them and of memory for them. */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/genalloc.h>
#include <linux/irq_work.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "check.h"

static ssize_t rw_show(struct device *dev, struct device_attribute *attr, char *buf) { return sysfs_emit(buf, "1\n"); }
static ssize_t rw_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t n) { return (ssize_t)n; }
#define ro_show rw_show
#define wo_store rw_store
static DEVICE_ATTR(plain, 0644, rw_show, rw_store);
static DEVICE_ATTR_RW(rw);
static DEVICE_ATTR_RO(ro);
static DEVICE_ATTR_WO(wo);

static int released;
static void release(struct device *dev, void *res) { released += *(int *)res; }

static void printed(struct device *dev)
{
	dev_printk(KERN_INFO, dev, "any\n");
	dev_emerg(dev, "emergency\n");
	dev_alert(dev, "alert\n");
	dev_crit(dev, "critical\n");
	dev_err(dev, "error\n");
	dev_warn(dev, "warning\n");
	dev_notice(dev, "notice\n");
	dev_info(dev, "text\n");
	dev_dbg(dev, "nothing\n");
	dev_WARN(dev, "as asked\n");
	IS(dev_WARN_ONCE(dev, dev == NULL, "never\n"), 0);
}

static void managed(struct device *dev)
{
	int *res = devres_alloc(release, sizeof(*res), GFP_KERNEL);
	int *node = devres_alloc_node(release, sizeof(*node), GFP_KERNEL, NUMA_NO_NODE);
	int __percpu *counts = devm_alloc_percpu(dev, int);
	int *array = devm_kcalloc(dev, 4, sizeof(*array), GFP_KERNEL);

	*res = 1;
	*node = 2;
	devres_add(dev, res);
	devres_add(dev, node);
	IS(counts != NULL, 1);
	IS(devm_kzalloc(dev, 8, GFP_KERNEL) != NULL, 1);
	IS(devm_kmalloc_array(dev, SIZE_MAX, 2, GFP_KERNEL | __GFP_NOWARN), NULL);
	array = devm_krealloc_array(dev, array, 8, sizeof(*array), GFP_KERNEL);
	IS(array[3], 0);
	IS(((int *)devm_kmemdup_array(dev, array, 2, sizeof(*array), GFP_KERNEL))[1], 0);
	IS(strcmp(devm_kstrdup_const(dev, "text", GFP_KERNEL), "text"), 0);
}

static void memory(struct device *dev)
{
	struct dma_pool *pool = dma_pool_create_node("node", dev, 20, 8, 0, NUMA_NO_NODE);
	struct gen_pool *gen = gen_pool_create(3, NUMA_NO_NODE);
	dma_addr_t at, mapped;
	void *cpu, *block;

	IS(DMA_BIT_MASK(64), ~0ULL);
	IS(dma_coerce_mask_and_coherent(dev, DMA_BIT_MASK(32)), 0);
	block = dma_pool_zalloc(pool, GFP_KERNEL, &at);
	IS(*(int *)block, 0);
	dma_pool_free(pool, block, at);
	dma_pool_destroy(pool);
	cpu = dma_alloc_attrs(dev, 100, &at, GFP_KERNEL, 0);
	IS(virt_to_phys(cpu), at);
	mapped = dma_map_single(dev, cpu, 10, DMA_TO_DEVICE);
	IS(mapped, at);
	dma_unmap_single(dev, mapped, 10, DMA_TO_DEVICE);
	dma_unmap_single_attrs(dev, mapped, 10, DMA_TO_DEVICE, 0);
	mapped = dma_map_page(dev, virt_to_page(cpu), 5, 10, DMA_FROM_DEVICE);
	IS(mapped, at + 5);
	dma_unmap_page(dev, mapped, 10, DMA_FROM_DEVICE);
	dma_free_attrs(dev, 100, cpu, at, 0);
	cpu = dma_alloc_wc(dev, 100, &at, GFP_KERNEL);
	dma_free_wc(dev, 100, cpu, at);
	cpu = dmam_alloc_attrs(dev, 100, &at, GFP_KERNEL, 0);
	IS(cpu != NULL, 1);
	IS(gen_pool_add(gen, 0x10000, 64, NUMA_NO_NODE), 0);
	IS(gen_pool_add_virt(gen, 0x20000, 0x5000, 64, NUMA_NO_NODE), 0);
	IS(gen_pool_virt_to_phys(gen, 0x20008), 0x5008);
	gen_pool_destroy(gen);
}

static void done(struct irq_work *work) { }
static DEFINE_IRQ_WORK(later, done);
static struct irq_work lazy = IRQ_WORK_INIT_LAZY(done), hard = IRQ_WORK_INIT_HARD(done), plain = IRQ_WORK_INIT(done);
static int probe(struct platform_device *pdev)
{
	platform_set_drvdata(pdev, pdev);
	IS(platform_get_drvdata(pdev), pdev);
	IS(platform_get_device_id(pdev), NULL);
	IS(to_platform_device(&pdev->dev), pdev);
	IS(kobj_to_dev(&pdev->dev.kobj), &pdev->dev);
	device_create_file(&pdev->dev, &dev_attr_plain);
	device_create_file(&pdev->dev, &dev_attr_rw);
	device_create_file(&pdev->dev, &dev_attr_ro);
	device_create_file(&pdev->dev, &dev_attr_wo);
	printed(&pdev->dev);
	managed(&pdev->dev);
	memory(&pdev->dev);
	irq_work_queue_on(&later, 0);
	irq_work_sync(&later);
	irq_work_sync(&lazy);
	irq_work_sync(&hard);
	irq_work_sync(&plain);
	IS(irq_work_is_pending(&later), 0);
	return 0;
}

static struct platform_driver driver = { .probe = probe, .driver = { .name = "every" } };
static struct class class = { .name = "every" };
static struct resource ranges[] = { DEFINE_RES_MEM(0x100, 16), DEFINE_RES_MEM_NAMED(0x200, 16, "regs"),
				    DEFINE_RES_NAMED(5, 1, "irq", IORESOURCE_IRQ) };

static int start(struct platform_driver *unused)
{
	struct platform_device *one, *two, *three;
	struct class *made = class_create("made");

	IS(platform_driver_register(&driver), 0);
	one = platform_device_register_simple("every", 0, ranges, 3);
	two = platform_device_register_data(NULL, "every", 1, "data", 5);
	three = platform_device_register_resndata(NULL, "other", PLATFORM_DEVID_AUTO, NULL, 0, NULL, 0);
	IS(platform_get_resource(one, IORESOURCE_MEM, 1)->start, 0x200);
	IS(strcmp(dev_get_platdata(&two->dev), "data"), 0);
	IS(three->dev.driver, NULL);
	platform_device_unregister(one);
	platform_device_unregister(two);
	platform_device_unregister(three);
	platform_driver_unregister(&driver);
	IS(released, 6);
	IS(class_register(&class), 0);
	class_unregister(&class);
	class_destroy(made);
	return result();
}
static void stop(struct platform_driver *unused) { }

module_driver(driver, start, stop);
MODULE_LICENSE("GPL");
