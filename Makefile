# Thin: each target installs what a fresh Debian machine with Rust lacks (tools/need), then does its job.
#   make demo    replay a real kernel trace under the allocators and print the comparison
#   make check   what one runs before a commit: style, and the tests that take seconds
#   make test    everything CI runs
#   make test-full  make test, recorders killed 200 times, torture in guests, and the release's own tests: hours, as root
#   make bench   the measurements under bench/, side by side with the peers; make bench-smoke runs each of them once, briefly
#   make release the static command as a tarball and a Debian package; make release-arm64 for arm64, as root
#   make test-reproducible  the release, made twice in two places, has the same bytes
#   make test-cargo-install  the command installed from packages alone, as `cargo install slablab` does
#   make install the command, its man pages and completions under PREFIX (/usr/local); make uninstall removes them
CARGO ?= cargo
.DEFAULT_GOAL := help
.PHONY: help check test-full demo build install uninstall release test-release release-arm64 test-release-arm64 test-reproducible test-package test-cargo-install rust test bench bench-smoke fmt-check clippy test-rust test-rcu test-xarray-kernel test-xarray-races test-maple test-patches test-kmem test-cluster test-bisect test-killed test-leaks test-torture test-torture-debug bench-marathon bench-scale

help:
	@sed -n 's/^#   //p' $(firstword $(MAKEFILE_LIST))

demo: rust
	@command -v cc >/dev/null || tools/need gcc libc6-dev
	$(CARGO) build --profile quick --package slablab
	@target/quick/slablab replay traces/hackbench.parquet --report target/demo.html
	@echo
	@echo "The same with plots, for a browser: target/demo.html"
	@echo "That was a recorded kernel. Yours, as root:"
	@echo "  target/quick/slablab record -o t.parquet -- make -j4"
	@echo "  target/quick/slablab replay t.parquet"

# zstd and the linker want a C compiler.
build: rust
	@command -v cc >/dev/null || tools/need gcc libc6-dev
	$(CARGO) build --release --package slablab --features slablab/manual

PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
install: build
	install -D target/release/slablab $(DESTDIR)$(PREFIX)/bin/slablab
	target/release/slablab generate $(SHARE)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/slablab $(SHARE)/man/man1/slablab.1 $(SHARE)/man/man1/slablab-*.1 \
		$(SHARE)/bash-completion/completions/slablab.bash $(SHARE)/zsh/site-functions/_slablab \
		$(SHARE)/fish/vendor_completions.d/slablab.fish $(SHARE)/slablab/schemas/slablab.*.json
	rmdir $(SHARE)/slablab/schemas $(SHARE)/slablab 2>/dev/null || true

# The static command as a tarball and a Debian package; test-release tries the package in a clean root (as root).
release: rust
	@command -v cc >/dev/null || tools/need gcc libc6-dev
	tools/release
test-release: release
	tools/release-test target/release-files/slablab_*_$(shell dpkg --print-architecture).deb

# The demo trace on the arm64 command, emulated: the same JSON to the byte.
release-arm64: rust
	tools/release arm64
test-release-arm64: build release-arm64
	tools/need qemu-user-static
	target/release/slablab replay traces/hackbench.parquet --format json > target/native.json
	qemu-aarch64-static target/cross/aarch64-unknown-linux-gnu/dist/slablab replay traces/hackbench.parquet --format json | cmp - target/native.json
	@echo "test-release-arm64: the command for arm64 gives the same JSON as this machine's, to the byte"

# For an idle machine: two builds of everything, ten minutes on two cores.
test-reproducible: rust
	@command -v cc >/dev/null || tools/need gcc libc6-dev
	tools/release-reproducible

# What would be published on crates.io; test-cargo-install takes some minutes, as it builds all dependencies anew.
test-package: rust
	tools/package-test
test-cargo-install: rust
	tools/package-test --install

rust:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it by https://rustup.rs" >&2; exit 2; }

# The tests of single files, and those across crates that take seconds.
CHECKED = first_screen hostile import limits readme replay rooms schemas snapshots sweep tidy tune whatif
check: fmt-check clippy test-xarray-c test-xarray-kernel test-maple
	$(CARGO) test --workspace --features slablab/manual --quiet --lib --bins $(CHECKED:%=--test %)

test-full: test test-killed test-bisect test-leaks test-torture test-torture-debug test-cargo-install test-release test-release-arm64 test-reproducible

# Cargo is always asked for the whole workspace: features of dependencies depend on which packages are chosen, and other
# features are built anew.
test: fmt-check clippy test-rust test-rcu test-kmem test-xarray-c test-xarray-kernel test-xarray-races test-maple test-patches test-cluster test-package test-boot bench-smoke

# The backends are modules by a macro, which cargo fmt does not follow.
fmt-check: rust
	$(CARGO) fmt --all --check
	rustfmt --edition 2024 --check crates/kmem/src/backend/*/*.rs

clippy:
	$(CARGO) clippy --workspace --all-targets --features slablab/manual --quiet -- -D warnings
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) check --quiet --tests -p slablab-kmem -p slablab-rcu -p slablab-xarray

# What it takes to build a kernel and to boot it.
BOOT_PACKAGES = util-linux tar xz-utils patch make gcc binutils flex bison bc perl libelf-dev libc6-dev \
	linux-source-6.1 qemu-system-x86 qemu-system-arm busybox-static rt-tests linux-perf dwarves

# All packages before the first test: none should wait for another's that are being installed.
test-rust:
	tools/need linux-perf trace-cmd tmux
	@tools/need $(BOOT_PACKAGES) chromium chromium-driver || echo "test-rust: what needs those will say so" >&2
	$(CARGO) test --workspace --features slablab/manual --no-fail-fast

# The allocators without std, their hand-overs in every interleaving (loom), all tests under AddressSanitizer,
# those of threads under ThreadSanitizer, and 60 seconds of model fuzzing for each backend, two at a time.
test-kmem:
	$(CARGO) check --quiet -p slablab-kmem --no-default-features
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) test --quiet --release -p slablab-kmem --lib --test loom --test loom_pages
	crates/kmem/tests/asan.sh
	crates/kmem/tests/tsan.sh
	SLABLAB_FUZZ_SECONDS=60 $(CARGO) test --quiet --release -p slablab-kmem --test model

# Each measurement together with its peer's, an hour in all; for a quiet machine. Recording needs root, and is left out with a line where
# tracefs cannot be had.
RESULTS = bench/results/$(shell date +%F)
BENCH = $(CARGO) run --release --manifest-path bench/Cargo.toml --bin
bench: build
	tools/need linux-perf util-linux python3 gcc make xz-utils linux-source-6.1 liburcu-dev libjudy-dev
	bench/record/run.py -o $(RESULTS)-record
	$(BENCH) bench-replay -- -o $(RESULTS)-replay
	mkdir -p $(RESULTS)-kmem $(RESULTS)-kapi
	$(BENCH) bench-kmem -- --rounds 5 > $(RESULTS)-kmem/results.csv
	bench/kapi/locality.py target/release/slablab > $(RESULTS)-kapi/locality.txt
	bench/xarray/run.sh $(RESULTS)-xarray
	$(CARGO) build --release --manifest-path bench/Cargo.toml --bin machine
	bench/scale/run.py target/release/slablab bench/target/release/machine target/scale

# What each command takes on a machine of 512 CPUs, 100,000 call sites and 5 million live objects: an hour, and 4 GiB of disk.
bench-scale: build
	$(CARGO) build --release --manifest-path bench/Cargo.toml --bin machine
	bench/scale/run.py target/release/slablab bench/target/release/machine target/scale --reference

# Every measurement once with the smallest parameters, so that none rots: minutes, with the command of the tests' profile.
bench-smoke: rust
	-@tools/need linux-perf util-linux python3 gcc libc6-dev
	$(CARGO) build --quiet --workspace --features slablab/manual --bins
	bench/smoke.sh target/debug/slablab

# Eight threads and a billion operations on each backend; ten minutes of model fuzzing on each.
bench-marathon:
	$(CARGO) test --release -p slablab-kmem --lib marathon -- --ignored --nocapture --test-threads=1
	SLABLAB_FUZZ_SECONDS=600 $(CARGO) test --release -p slablab-kmem --test model -- --nocapture --test-threads=2

# C programs on our array by way of include/linux.
test-xarray-c:
	crates/xarray/tests/c/run.sh

# Linux's own tests of its array, and of ids on it, on ours.
test-xarray-kernel:
	crates/xarray/tests/kernel/run.sh

# Grace periods in every interleaving (loom); real threads under ThreadSanitizer and AddressSanitizer.
test-rcu:
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) test --quiet --release -p slablab-rcu --lib
	tools/tsan -p slablab-rcu --tests
	tools/asan -p slablab-rcu --tests

# The protocol of the array's buckets in every interleaving; the array and the probe tables under both sanitizers.
test-xarray-races:
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) test --quiet --release -p slablab-xarray --test loom
	crates/xarray/tests/tsan.sh
	crates/xarray/tests/asan.sh

# Readers of the maple tree beside writers, in both kinds of trees, under ThreadSanitizer.
test-maple:
	@dir=$$(mktemp -d) && crates/kapi/tests/maple/build.sh races $$dir/races -fsanitize=thread && $$dir/races && $$dir/races plain; \
	status=$$?; rm -rf $$dir; exit $$status

# Every patch applies, in order and without fuzz, and is clean under the kernel's checkpatch.pl.
test-patches:
	@if tools/need linux-source-6.1 tar xz-utils patch perl; then \
		kernel/patches/check.sh; \
	else \
		echo "test-patches: NOT RUN, no patch was checked: this machine lacks the packages named above" >&2; \
	fi

# A recorder killed at 200 random moments, as root: what it had is recovered; a quarter of an hour.
test-killed: rust
	SLABLAB_KILLS=200 $(CARGO) test --workspace --test record_killed -- --nocapture

# The commit that moves slab memory among sixteen, in two trees of Linux 6.12 that are built for it: an hour.
test-bisect:
	tools/need $(BOOT_PACKAGES) linux-source-6.12 git
	$(CARGO) test --workspace --test bisect -- --ignored --nocapture sixteen
	$(CARGO) test --workspace --test patch -- --ignored --nocapture

# Planted leaks are hunted for two minutes each beside a load, and a load without any, as root: a quarter of an hour.
test-leaks: rust
	$(CARGO) test --workspace --test leaks -- --ignored --nocapture --test-threads=1
	$(CARGO) test --workspace --test guest_bpf -- other_releases --ignored --nocapture

# The allocators of the patches under torture, memory pressure and CPU hotplug, and each planted bug, as root: an hour, kernels
# not counted. JOBS and so on choose: see the script.
test-torture: build
	tools/need $(BOOT_PACKAGES)
	kernel/patches/torture.sh

# The same on kernels that watch locks, RCU and pages while requests fail and memory is short, and Linux's own test of SLUB.
test-torture-debug: build
	tools/need $(BOOT_PACKAGES)
	JOBS="meminit zones debug kunit" kernel/patches/torture.sh build:6.12/slub_dense+debug build:7.3/slub_dense+debug

# A sweep on a real Slurm: a controller and two nodes on this machine, in a temporary folder; half a minute.
test-cluster:
	@if tools/need slurmctld slurmd slurm-client munge; then \
		$(CARGO) test --workspace --features slablab/manual --test cluster -- --ignored; \
	else \
		echo "test-cluster: NOT RUN, no sweep ran on Slurm: this machine lacks the packages named above" >&2; \
	fi

# One real kernel for each allocator, built, booted in QEMU and used; a stock kernel of each generation of SLUB and of
# a foreign machine; and guests that panic, hang or fail on request. From nothing it takes two idle cores about a quarter
# of an hour, afterwards two minutes: the kernels are kept in ~/.cache/slablab.
test-boot:
	@if tools/need $(BOOT_PACKAGES); then \
		$(CARGO) test --workspace --features slablab/manual --test bisect --test boot --test guest --test guest_bpf --test guest_census --test readme -- \
			--ignored --skip sixteen --skip other_releases --test-threads=1 --nocapture; \
	else \
		echo "test-boot: NOT RUN, no kernel was booted: this machine lacks the packages named above" >&2; \
	fi
