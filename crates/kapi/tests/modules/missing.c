/* Asks for two functions that do not exist: one is declared nowhere, one by the module itself. */
#include <linux/module.h>
#include <linux/fs.h>

extern int frobnicate_the_kernel(int);

int init_module(void)
{
	return frobnicate_the_kernel(1);
}
MODULE_LICENSE("GPL");
