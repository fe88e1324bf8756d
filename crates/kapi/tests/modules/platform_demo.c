/* A platform driver whose memory goes with its device: blocks, texts, DMA pools, an allocator over pages. */
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/genalloc.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/version.h>

struct priv {
	int x;
	char *name;
	u32 *table;
	struct dma_pool *pool;
	void *coherent;
	dma_addr_t dma;
};

static int fail;
module_param(fail, int, 0);

static void my_action(void *data) { pr_info("action %s\n", (char *)data); }

static ssize_t x_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct priv *priv = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%d\n", priv->x);
}

static ssize_t x_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t n)
{
	struct priv *priv = dev_get_drvdata(dev);
	int error = kstrtoint(buf, 0, &priv->x);

	return error ?: n;
}

static DEVICE_ATTR_RW(x);
static struct attribute *my_attrs[] = { &dev_attr_x.attr, NULL };
ATTRIBUTE_GROUPS(my);

static int use_blocks(struct device *dev, struct priv *priv)
{
	dma_addr_t handle;
	void *block = dma_pool_zalloc(priv->pool, GFP_KERNEL, &handle);

	if (!block)
		return -ENOMEM;
	dev_info(dev, "block %d %d\n", IS_ALIGNED((unsigned long)block, 64), handle == virt_to_phys(block));
	dma_pool_free(priv->pool, block, handle);
	return 0;
}

static int use_sram(struct device *dev)
{
	unsigned long sram = devm_get_free_pages(dev, GFP_KERNEL, 1), part;
	struct gen_pool *pool = devm_gen_pool_create(dev, 6, -1, NULL);

	if (!sram)
		return -ENOMEM;
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	gen_pool_add(pool, sram, 8192, -1);
	part = gen_pool_alloc(pool, 100);
	dev_info(dev, "sram %lu avail %zu of %zu\n", part - sram, gen_pool_avail(pool), gen_pool_size(pool));
	gen_pool_free(pool, part, 100);
	return 0;
}

static int my_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct priv *priv = devm_kzalloc(dev, sizeof(*priv), GFP_KERNEL);
	int error;

	if (!priv)
		return -ENOMEM;
	priv->x = 7;
	priv->name = devm_kasprintf(dev, GFP_KERNEL, "%s-%d", "unit", pdev->id);
	priv->table = devm_kcalloc(dev, 100, sizeof(u32), GFP_KERNEL);
	if (!priv->name || !priv->table)
		return -ENOMEM;
	error = devm_add_action_or_reset(dev, my_action, priv->name);
	if (error)
		return error;
	priv->coherent = dmam_alloc_coherent(dev, 5000, &priv->dma, GFP_KERNEL);
	priv->pool = dmam_pool_create("blocks", dev, 48, 64, 0);
	if (!priv->coherent || !priv->pool)
		return -ENOMEM;
	error = use_blocks(dev, priv) ?: use_sram(dev);
	if (error)
		return error;
	platform_set_drvdata(pdev, priv);
	dev_info(dev, "probed %s %pad\n", priv->name, &priv->dma);
	return fail ? -EIO : 0;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static int my_remove(struct platform_device *pdev)
{
	dev_info(&pdev->dev, "removed\n");
	return 0;
}
#else
static void my_remove(struct platform_device *pdev) { dev_info(&pdev->dev, "removed\n"); }
#endif

static struct platform_driver my_driver = {
	.probe = my_probe,
	.remove = my_remove,
	.driver = { .name = "unit", .dev_groups = my_groups },
};
static struct platform_device *pdev;

static int __init my_init(void)
{
	int error = platform_driver_register(&my_driver);

	if (error)
		return error;
	pdev = platform_device_register_simple("unit", 3, NULL, 0);
	if (IS_ERR(pdev)) {
		platform_driver_unregister(&my_driver);
		return PTR_ERR(pdev);
	}
	return 0;
}

static void __exit my_exit(void)
{
	platform_device_unregister(pdev);
	platform_driver_unregister(&my_driver);
}
module_init(my_init);
module_exit(my_exit);
MODULE_LICENSE("GPL");
