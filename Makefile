# Thin: each target installs what a fresh Debian machine with Rust lacks (tools/need), then does its job.
#   make demo    replay a real kernel trace under the allocators and print the comparison
#   make test    everything CI runs
#   make bench   the measurements under bench/, side by side with the peers
CARGO ?= cargo
.DEFAULT_GOAL := help
.PHONY: help demo build rust test bench kernel fmt-check clippy test-rust test-xarray-kernel

help:
	@sed -n 's/^#   //p' $(firstword $(MAKEFILE_LIST))

demo: build
	@target/release/slablab replay traces/hackbench.parquet
	@echo
	@echo "That was a recorded kernel. Yours, as root:"
	@echo "  target/release/slablab record -o t.parquet -- make -j4"
	@echo "  target/release/slablab replay t.parquet"

# zstd and the linker want a C compiler.
build: rust
	tools/need gcc libc6-dev
	$(CARGO) build --release --package slablab

rust:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it by https://rustup.rs" >&2; exit 2; }

test: fmt-check clippy test-rust test-xarray-kernel

fmt-check: rust
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

test-rust:
	tools/need linux-perf trace-cmd
	$(CARGO) test --workspace

# Linux's own lib/test_xarray.c on our array.
test-xarray-kernel:
	crates/xarray/tests/kernel/run.sh
