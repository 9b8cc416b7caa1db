# The developer's commands; each sets up what it needs. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

JOBS ?= 2
BUILD := build/dev
VENV := .venv
PYTHON ?= python3
BIN := $(CURDIR)/$(VENV)/bin
RUN := PATH="$(BIN):$$PATH" $(BIN)/python
CMAKE := env PATH="$(BIN):$$PATH" $(BIN)/cmake
CTEST := PATH="$(BIN):$$PATH" $(BIN)/ctest
# Tests start hundreds of programs: each would compile all of the package's sources where the
# environment says that Python writes no bytecode.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(RUN) -m pytest -q --durations 20
NONE_MATCHES = test $$? -eq 5 -a -n '$(FILTER)'
MINUTES ?= 5
MUTANTS ?= 50000
MODELS ?= 1000000
FILTER ?=
FUNCTIONS ?=
# Debian's own Python comes without what makes environments and what extensions are built with.
PYTHON_PACKAGES = $(if $(filter /usr/bin/%,$(or $(shell command -v $(PYTHON)),/usr/bin/python3)), \
    python3-venv python3-dev)

.PHONY: help setup apt apt-demo apt-bench package build demo test test-all bench bench-all gpu check fmt asan tsan \
    fuzz sweep cross docs golden reference wheel clean

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 10

# --- Setting up -----------------------------------------------------------------------------

# The environment imports composit from the build folder, so a rebuild is all that an edit needs.
# `make demo` installs what it needs itself; everything else installs what tests and checks need.
setup: apt $(VENV)/ready $(VENV)/ready-older  ## system packages, virtual environment with pinned packages

DEMO_PACKAGES = g++ graphviz ccache $(PYTHON_PACKAGES)
# Exports are built and run for other processors.
CROSS_PACKAGES = g++-aarch64-linux-gnu g++-arm-linux-gnueabihf g++-riscv64-linux-gnu qemu-user

apt-demo:
	@tools/apt.sh $(DEMO_PACKAGES)

apt:
	@tools/apt.sh $(DEMO_PACKAGES) clang cppcheck libgtest-dev mlir-16-tools ocl-icd-libopencl1 \
	    pocl-opencl-icd $(CROSS_PACKAGES)

apt-bench: apt
	@tools/apt.sh libbenchmark-dev

# install(extras…): the packages of these extras of pyproject.toml
install = $(BIN)/python tools/requirements.py $(1) > $@.txt && \
    $(BIN)/python -m pip install --quiet -c constraints.txt -r $@.txt && touch $@

$(VENV)/ready-demo: constraints.txt pyproject.toml tools/requirements.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "$(CURDIR)/$(BUILD)/python" \
	    > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/composit.pth"
	$(call install,build examples)

$(VENV)/ready: $(VENV)/ready-demo
	$(call install,build examples test check compiler)

# A release of transformers that tests compare beside the environment's own.
$(VENV)/ready-older: tests/python/flashlight/older_transformers.txt $(VENV)/ready
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(VENV)/older -r $< && touch $@

$(VENV)/ready-bench: $(VENV)/ready
	$(call install,bench)

# --- Building -------------------------------------------------------------------------------

# configure(ON or OFF): with C++ tests or without; those that were once built stay in the folder.
configure = test -f $(BUILD)/build.ninja \
    && { test $(1) = OFF || grep -q COMPOSIT_TESTS:BOOL=ON $(BUILD)/CMakeCache.txt; } \
    || $(CMAKE) --preset dev -DPython_EXECUTABLE=$(BIN)/python -DCOMPOSIT_TESTS=$(1)

package: apt-demo $(VENV)/ready-demo
	@$(call configure,OFF)
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target composit_package

build: setup  ## libcomposit.so, the Python package and the C++ tests, in build/dev
	@$(call configure,ON)
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

wheel: setup  ## dist/composit-*.whl, then install and use it in an empty environment
	@rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps -c constraints.txt -w dist .
	@$(RUN) tools/check_wheel.py dist/composit-*.whl

# --- Running --------------------------------------------------------------------------------

demo: package  ## train a network on handwritten digits
	@$(RUN) -m composit.examples.digits

# pytest(options): all Python tests, or those that match FILTER.
# tests/conftest.py says which files come first.
pytest = $(PYTEST) -n $(JOBS) --dist loadfile --no-loadscope-reorder $(1) \
    $(if $(FILTER),-k '$(FILTER)') || $(NONE_MATCHES)
ctest = COMPOSIT_OPTIMIZE=$${COMPOSIT_OPTIMIZE:-1} $(CTEST) --test-dir $(BUILD) -j $(JOBS) \
    --output-on-failure --no-tests=ignore -R '$(FILTER)'
# The long tail's share, unless SHARE=number or a FILTER says which tests to run.
SHARE ?= $(shell $(PYTHON) tools/share_of_tests.py)

test: build  ## C++ and Python tests, of the long tail a tenth; FILTER=word, SHARE=0 to 9
	@failed=0; $(if $(FILTER),,$(CMAKE) --build $(BUILD) -j $(JOBS) --target headers_alone_$(SHARE) \
	    || failed=1;) \
	$(ctest) || failed=1; \
	$(call pytest,$(if $(FILTER),,--share $(SHARE))) || failed=1; exit $$failed

test-all: build  ## all tests, kernels compiled as users' are, on OpenCL too: some hours
	@failed=0; export COMPOSIT_OPTIMIZE=3; \
	$(CMAKE) --build $(BUILD) -j $(JOBS) --target headers_alone || failed=1; \
	$(ctest) || failed=1; \
	$(call pytest) || failed=1; exit $$failed

bench: apt-bench package $(VENV)/ready-bench  ## measure against peers, about 25 minutes; FILTER=word for a part
	@$(CMAKE) --preset release -DPython_EXECUTABLE=$(BIN)/python
	@$(CMAKE) --build build/release -j $(JOBS)
	@PYTHONPATH=build/release/python $(RUN) benchmarks/python/run.py '$(FILTER)'

bench-all:  ## every row, and docs/performance.md; goes on where it was interrupted
	@$(MAKE) bench FILTER=--all

gpu:  ## build for this machine's GPU with PYTHON's packages; conformance, tests, benchmarks; STAGES='build bench' for some
	@PYTHON=$(PYTHON) tools/gpu.sh $(STAGES)

fuzz: build  ## MODELS=1000000 ONNX files, MUTANTS=50000 texts of each kind under sanitizers; random programs for MINUTES=5
	@$(CMAKE) --preset asan
	@$(CMAKE) --build build/asan -j $(JOBS) --target test_safety
	@export ASAN_OPTIONS=quarantine_size_mb=8 COMPOSIT_SEED=$${COMPOSIT_SEED:-$$RANDOM}; \
	    COMPOSIT_MUTANTS=$(MUTANTS) COMPOSIT_UNCOMPILED=$${COMPOSIT_UNCOMPILED:-2000} \
	    build/asan/tests/cpp/test_safety --gtest_filter=-MutantModels.*; \
	    COMPOSIT_MUTANTS=$(MODELS) build/asan/tests/cpp/test_safety --gtest_filter=MutantModels.*
	@COMPOSIT_FUZZ_MINUTES=$(MINUTES) $(PYTEST) tests/fuzz

sweep: build  ## errors of the library over all 2^32 float32; FUNCTIONS='exp log' for some
	@$(RUN) tests/accuracy/sweep.py $(FUNCTIONS)

reference: build  ## the C++ functions from their headers, in build/reference
	@$(BIN)/python tools/cpp_reference.py build/reference

golden: build  ## compare printed graphs and generated code; UPDATE=1 rewrites them
	@$(PYTEST) tests/golden $(if $(UPDATE),--update-golden)
	@$(if $(UPDATE),UPDATE_GOLDEN=1) $(CTEST) --test-dir $(BUILD) --output-on-failure -R CppSource
	@if test -n "$(UPDATE)"; then git diff --stat -- tests/golden; fi

cross: build  ## exports on ARM (64 and 32 bits) and RISC-V, by cross compilers and qemu
	@$(PYTEST) -n $(JOBS) tests/python/cross

docs: build  ## run every code block of docs/ and examples/
	@$(PYTEST) tests/docs

# The interpreter runs the instruction set whose kernels are watched.
asan: setup  ## C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(CMAKE) --preset asan
	@$(CMAKE) --build build/asan -j $(JOBS)
	@COMPOSIT_ISA=baseline $(CTEST) --test-dir build/asan -j $(JOBS) --output-on-failure \
	    -E headers_alone

# Of what threads share: the pool, plans, compiled functions, registries, constants, what programs
# write. The interpreter runs the instruction set whose kernels are watched, and generated code is
# compiled to be watched, by the compiler that cmake takes. Long chains of nodes belong to one thread
# and take minutes when they are watched.
tsan: KERNEL_CXX = $(if $(filter default,$(origin CXX)),c++,$(CXX))
tsan: setup  ## ThreadSanitizer: tests/cpp/{base,eager,execute,runtime,threads}, about 10 minutes
	@$(CMAKE) --preset tsan
	@$(CMAKE) --build build/tsan -j $(JOBS) --target \
	    test_base test_eager test_execute test_runtime test_threads
	@TSAN_OPTIONS="halt_on_error=1 die_after_fork=0" COMPOSIT_ISA=baseline \
	    CXX="$(KERNEL_CXX) -fsanitize=thread -g1" $(CTEST) \
	    --test-dir build/tsan -j $(JOBS) --output-on-failure \
	    -R '^test_(base|eager|execute|runtime|threads)' -E LargeGraphs

# --- Checking -------------------------------------------------------------------------------

CXX_FILES = $$(git ls-files --cached --others --exclude-standard '*.h' '*.cpp' ':!tests/golden')

check: build  ## format, lint, types, layers, sizes, targets, parity of languages, headers alone
	@failed=0; \
	step() { echo "--- $$1"; shift; "$$@" || failed=1; }; \
	step format $(BIN)/clang-format --dry-run --Werror $(CXX_FILES); \
	step ruff $(BIN)/ruff check; \
	step ruff_format $(BIN)/ruff format --check; \
	step mypy $(BIN)/mypy; \
	step layers $(BIN)/python tools/check_layers.py; \
	step sizes $(BIN)/python tools/check_sizes.py; \
	step targets $(BIN)/python tools/check_targets.py; \
	step parity env PYTHONPATH=$(BUILD)/python $(BIN)/python tools/cpp_parity.py; \
	step headers_alone $(CMAKE) --build $(BUILD) -j $(JOBS) --target headers_alone; \
	exit $$failed

fmt: setup  ## format C++ and Python
	@$(BIN)/clang-format -i $(CXX_FILES)
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format --quiet

clean:  ## remove the build folders
	rm -rf build dist
