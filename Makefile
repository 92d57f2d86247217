# SPDX-License-Identifier: MIT
# The front door. Every target installs what it needs (scripts/setup) and can be run alone.

BUILD ?= build
JOBS ?= $(shell nproc)
VRAMLAB = $(BUILD)/cli/vramlab
export VRAMLAB_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/vramlab

.DEFAULT_GOAL := help
.PHONY: help demo model test check check-full kernel kernel-qemu kunit matrix verify drivers guest-root igt vm-demo conform coverage cases vm-trace bench calibration tables mutants fuzz docs style format setup clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Its own build: few large compilations, hardly optimized, are the quickest way from a clone to a result.
demo: ## the main job on the model: two scenarios, all policies; tables, and a report to open: demo/report.html
	@scripts/setup model
	@NINJA_TARGETS=cli/vramlab scripts/build-model build-demo -Dunity=on -Dunity_size=24 -Dbuildtype=plain -Doptimization=1 -Ddemo=true
	@scripts/demo build-demo/cli/vramlab

model: ## build the C++ model and its command, build/cli/vramlab
	@scripts/setup model
	@scripts/build-model $(BUILD)

test: model ## unit tests and goldens of the model
	@scripts/test-model $(BUILD)

check: ## style, model, kernel, KUnit, conformance: what CI runs; ends with "N passed, N failed"
	@scripts/check

check-full: ## everything, everywhere: check, 20,000 swarm seeds, mutants, long fuzzing, bench
	@scripts/check --full

kernel: ## fetch Linux 7.3, patch it, build the um kernel with vttm (cached outside the clone)
	@scripts/setup kernel
	@scripts/kernel-tree build --target um

kernel-qemu: ## the same for the second target, a PC in QEMU; VRAMLAB_TARGET=qemu makes the scripts use it
	@scripts/setup kernel qemu
	@scripts/kernel-tree build --target qemu

kunit: kernel ## the kernel's own KUnit suites for TTM, drm_exec and gpu_buddy, on the um kernel
	@scripts/run-kunit

matrix: model kernel ## each mechanism's tests with its switch on (all pass) and off (those that it is for fail), as a table
	@scripts/check-matrix $(BUILD)

verify: ## the patch series, patch by patch: checkpatch, build, W=1, sparse, kernel-doc, boot
	@scripts/setup kernel
	@scripts/kernel-tree verify

drivers: ## amdgpu, xe, i915, nouveau and the other drivers on TTM, compiled with the series
	@scripts/setup kernel
	@scripts/kernel-tree drivers

guest-root: ## the guest's own Debian with stock IGT tests (cached outside the clone)
	@scripts/setup guest
	@scripts/guest-root build

igt: kernel guest-root ## IGT tests, stock and our own (igt-tests/), on vkms and vttm, against the committed expectations
	@scripts/build-igt build-igt
	@scripts/run-igt

vm-demo: model kernel-qemu ## a picture: drawn by vttm, shown by virtio-gpu, unharmed by evictions; pictures in demo/vm
	@scripts/vm-demo --build $(BUILD)

conform: model kernel ## model against kernel: every reproducer and 3,000 random workloads
	@scripts/run-conform $(VRAMLAB)

coverage: ## which branches of the modelled kernel functions, and of the model, conformance takes, by function (COVERAGE_SEEDS, default 300)
	@scripts/setup model kernel
	@scripts/run-coverage --missing $(or $(COVERAGE_SEEDS),300)

cases: model kernel ## the table of reproducers: what each needs to fail, verdict on model and kernel
	@$(VRAMLAB) cases --backend=model
	@$(VRAMLAB) cases --backend=kernel

vm-trace: model kernel ## a scenario (SCENARIO="FILE [OPTION]...") on the kernel, recorded by trace-cmd, for gpuvis: vm-trace/
	@scripts/vm-trace $(SCENARIO)

bench: ## speed of the model: references a second, bytes a BO, whole process
	@scripts/setup model
	@scripts/run-bench

calibration: model ## fit two scalars to what was reported, and compare the rest: writes Documentation/calibration*.txt (minutes)
	@$(VRAMLAB) calibrate -o Documentation/calibration.txt
	@$(VRAMLAB) calibrate userspace/calibration/shipped.toml --draws 0 -o Documentation/calibration-shipped.txt
	@$(VRAMLAB) calibrate --draws 0 --set device.overlap=true -o Documentation/calibration-overlap.txt
	@$(VRAMLAB) calibrate userspace/calibration/cost-aware.toml -o Documentation/calibration-cost-aware.txt

tables: model ## all scenarios under all policies beside their bounds: writes Documentation/bounds.txt (minutes)
	@$(VRAMLAB) bound userspace/scenarios/*.toml -o Documentation/bounds.txt

mutants: ## small faults planted in userspace/kmd: do tests and conformance notice?
	@scripts/setup model
	@scripts/run-mutants

fuzz: ## libFuzzer on both parsers and the executor (FUZZ_SECONDS each, default 300)
	@scripts/setup model
	@scripts/run-fuzz $(or $(FUZZ_SECONDS),300)

docs: ## build Documentation/ with Sphinx into build/docs
	@scripts/setup docs
	@sphinx-build -q -W -b html Documentation $(BUILD)/docs
	@echo "docs: $(BUILD)/docs/index.html"

style: ## format, layer, licence and shell checks
	@scripts/check-style

format: ## rewrite the C++ sources with clang-format
	@git ls-files -co --exclude-standard 'userspace/*.cc' 'userspace/*.h' | xargs clang-format -i

setup: ## install all Debian packages that any target needs
	@scripts/setup

clean: ## remove what was built in the clone (the kernel cache stays)
	@rm -rf build build-* demo vm-trace
