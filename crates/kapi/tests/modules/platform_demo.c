/* A platform driver whose memory goes with its device: blocks, texts, DMA pools, an allocator over pages. */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/genalloc.h>
#include <linux/version.h>
struct priv { int x; char *name; u32 *table; struct dma_pool *pool; void *coh; dma_addr_t dma; };
static int fail; module_param(fail, int, 0);
static void my_action(void *data) { pr_info("action %s\n", (char *)data); }
static ssize_t x_show(struct device *dev, struct device_attribute *a, char *buf)
{ struct priv *p = dev_get_drvdata(dev); return sysfs_emit(buf, "%d\n", p->x); }
static ssize_t x_store(struct device *dev, struct device_attribute *a, const char *buf, size_t n)
{ struct priv *p = dev_get_drvdata(dev); int e = kstrtoint(buf, 0, &p->x); return e ?: n; }
static DEVICE_ATTR_RW(x);
static struct attribute *my_attrs[] = { &dev_attr_x.attr, NULL };
ATTRIBUTE_GROUPS(my);
static int my_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct priv *p = devm_kzalloc(dev, sizeof(*p), GFP_KERNEL);
	struct gen_pool *gp;
	unsigned long sram, a;
	dma_addr_t h;
	void *blk;
	if (!p) return -ENOMEM;
	p->x = 7;
	p->name = devm_kasprintf(dev, GFP_KERNEL, "%s-%d", "unit", pdev->id);
	p->table = devm_kcalloc(dev, 100, sizeof(u32), GFP_KERNEL);
	if (!p->name || !p->table) return -ENOMEM;
	if (devm_add_action_or_reset(dev, my_action, p->name)) return -ENOMEM;
	p->coh = dmam_alloc_coherent(dev, 5000, &p->dma, GFP_KERNEL);
	p->pool = dmam_pool_create("blocks", dev, 48, 64, 0);
	if (!p->coh || !p->pool) return -ENOMEM;
	blk = dma_pool_zalloc(p->pool, GFP_KERNEL, &h);
	dev_info(dev, "block %d %d\n", IS_ALIGNED((unsigned long)blk, 64), h == virt_to_phys(blk));
	dma_pool_free(p->pool, blk, h);
	sram = devm_get_free_pages(dev, GFP_KERNEL, 1);
	gp = devm_gen_pool_create(dev, 6, -1, NULL);
	if (IS_ERR(gp)) return PTR_ERR(gp);
	gen_pool_add(gp, sram, 8192, -1);
	a = gen_pool_alloc(gp, 100);
	dev_info(dev, "sram %lu avail %zu of %zu\n", a - sram, gen_pool_avail(gp), gen_pool_size(gp));
	gen_pool_free(gp, a, 100);
	platform_set_drvdata(pdev, p);
	dev_info(dev, "probed %s %pad\n", p->name, &h);
	if (fail) return -EIO;
	return 0;
}
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static int my_remove(struct platform_device *pdev) { dev_info(&pdev->dev, "removed\n"); return 0; }
#else
static void my_remove(struct platform_device *pdev) { dev_info(&pdev->dev, "removed\n"); }
#endif
static struct platform_driver my_driver = { .probe = my_probe, .remove = my_remove,
	.driver = { .name = "unit", .dev_groups = my_groups } };
static struct platform_device *pdev;
static int __init my_init(void)
{
	int err = platform_driver_register(&my_driver);
	if (err) return err;
	pdev = platform_device_register_simple("unit", 3, NULL, 0);
	if (IS_ERR(pdev)) { platform_driver_unregister(&my_driver); return PTR_ERR(pdev); }
	return 0;
}
static void __exit my_exit(void) { platform_device_unregister(pdev); platform_driver_unregister(&my_driver); }
module_init(my_init); module_exit(my_exit);
MODULE_LICENSE("GPL");
