//! Real kernels: source, patches, config, build cache, QEMU boot, guest results.
