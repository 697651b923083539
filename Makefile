# Shortcuts for the common commands. CMake builds everything, through the presets of CMakePresets.json, into
# build/<preset>.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
STARTED := $(shell date +%s)
COHORT := build/release/bin/cohort
MACHINE ?= $(shell uname -m)-$(shell nproc)cpus

.PHONY: help setup build demo test test-quick test-compiler test-opencl test-mpi test-mpich test-tenants test-data test-report test-long wheel bench pictures explore fuzz-compiler mutants prove docs site package format check-format lint clean
.NOTPARALLEL:  # goals run one after another; each is parallel inside
.PRECIOUS: build/%/build.ninja

help:
	@echo 'make build        build everything, optimised, into build/release'
	@echo 'make demo         traverse a graph while a renderer takes half of the workers, 25 times a second'
	@echo 'make test         all tests: optimised, then with the address and thread sanitizers'
	@echo 'make test-quick   the optimised tests only'
	@echo 'make test-compiler  the tests of cohortc, the compiler of the dialect, with those that take minutes'
	@echo 'make test-opencl  all tests of the OpenCL engine, on PoCL or what there is; make test has the quick ones'
	@echo 'make test-mpi     the apps on several ranks, by MPI (installs Open MPI)'
	@echo 'make test-mpich   the same on MPICH (installs it), in a build folder of its own'
	@echo 'make test-tenants a thousand killed tenants and engines'
	@echo 'make test-data    the apps against known answers: minutes, with the graphs in $$COHORT_DATA if that is set'
	@echo 'make test-report  the report in a real browser (installs Chromium)'
	@echo 'make test-long    these, which take too long for make test'
	@echo 'make wheel        the Python package with libcohort.so and the tool, into build/dist'
	@echo 'make pictures     the pictures and tables of README.md, from bench/results (installs Chromium)'
	@echo 'make bench        all experiments, an hour, goes on if interrupted; into bench/results/$(MACHINE)'
	@echo 'make explore      explore the protocol with fresh seeds for MINUTES=1; failing schedules go to explore-failures/'
	@echo 'make fuzz-compiler  random kernels with fresh seeds for MINUTES=1, on ENGINE=cpu or opencl; failing ones go to compiler-failures/'
	@echo 'make prove        prove the protocol for any number of groups, with z3 (installs it): see models/'
	@echo 'make mutants      break the protocol in a thousand ways, one at a time, and see whether the explorer notices'
	@echo 'make docs         the API reference, into build/docs/html'
	@echo 'make site         a site of the documentation, the API reference and a report, into build/site/html (installs mkdocs)'
	@echo 'make package      a Debian package and a tarball, into build/packages'
	@echo 'make format       format the sources in place'
	@echo 'make check-format  check format only'
	@echo 'make lint         check format and clang-tidy'
	@echo 'make setup        install missing Debian packages (every target does this first)'
	@echo 'make clean        remove build/'

setup:
	@scripts/setup

# Configures once; afterwards the build itself notices changed CMake files. Starts afresh, because another compiler in
# the presets would make CMake forget the other settings.
build/%/build.ninja: CMakePresets.json | setup
	@echo '== $*: configure'
	@cmake --fresh --preset $* > /dev/null
	@touch $@

build: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS)

demo: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target cohort
	$(COHORT) demo --out build/demo

check-%: build/%/build.ninja
	@echo '== $*: build and test'
	@cmake --build --preset $* -j $(JOBS)
	@ctest --preset $* -j $(JOBS)

test-quick: check-release

test-compiler: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target cohort cohort_compiler_tests
	@ctest --test-dir build/release -L compiler -j $(JOBS) --output-on-failure --no-tests=error

test-opencl: build
	@ctest --test-dir build/release -L opencl --output-on-failure --no-tests=error

test-mpi: build/release/build.ninja
	@scripts/setup --mpi
	@cmake --preset release > /dev/null
	@cmake --build --preset release -j $(JOBS) --target cohort mpi_network_test
	@ctest --test-dir build/release -L mpi --output-on-failure --no-tests=error

test-mpich:
	@scripts/setup --mpich
	@cmake --preset mpich > /dev/null
	@cmake --build build/mpich -j $(JOBS) --target cohort mpi_network_test
	@ctest --test-dir build/mpich -L mpi --output-on-failure --no-tests=error

test: check-release check-asan check-tsan
	@echo "== all tests passed in $$(($$(date +%s) - $(STARTED))) s"

bench: build
	$(COHORT) bench all --out bench/results/$(MACHINE)
	$(COHORT) report bench/results/$(MACHINE) --json bench/results/$(MACHINE)/summary.json

test-data: build
	@ctest --test-dir build/release -L data --output-on-failure --no-tests=error

test-report: build/release/build.ninja
	@scripts/setup --browser
	@cmake --build --preset release -j $(JOBS) --target cohort
	@tests/report/check $(COHORT) build/test-report

test-tenants: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target deaths_test
	@ctest --test-dir build/release -L tenants_long --output-on-failure --no-tests=error

test-long: test-data test-compiler test-opencl test-tenants test-report

wheel: build/wheel/build.ninja
	@cmake --build --preset wheel -j $(JOBS)
	@if grep -q '^COHORT_COMPILER:BOOL=ON' build/wheel/CMakeCache.txt; then cmake --build --preset wheel -j $(JOBS) --target cohortc; fi
	@/usr/bin/python3 scripts/wheel build/wheel build/dist

pictures: build/release/build.ninja
	@scripts/setup --browser
	@cmake --build --preset release -j $(JOBS) --target cohort
	@scripts/pictures $(COHORT)
	@scripts/figures

MINUTES ?= 1
explore: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target explore_soak
	build/release/tests/explore_soak $(MINUTES) explore-failures

ENGINE ?= cpu
FUZZ := fuzz_compiler$(if $(filter opencl,$(ENGINE)),_opencl)
fuzz-compiler: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target $(FUZZ)
	POCL_MAX_PTHREAD_COUNT=6 build/release/tests/$(FUZZ) $(MINUTES) compiler-failures $(SEED)

prove:
	@scripts/setup --prove
	@models/prove

# Runs every mutant of the protocol, and continues an interrupted run. ONLY=kill.hpp restricts it to
# one header.
MUTANTS := build/release/tests/mutants
mutants: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target mutant_runner
	@tests/mutants/campaign --runner build/release/tests/mutant_runner --list $(MUTANTS)/include/list.json \
	  --results $(MUTANTS)/results.jsonl --jobs $(JOBS) --only '$(ONLY)'

docs: setup
	@mkdir -p build
	@doxygen Doxyfile
	@echo 'the API reference is in build/docs/html/index.html'

site: build/release/build.ninja
	@scripts/setup --site
	@cmake --build --preset release -j $(JOBS) --target cohort
	@scripts/site $(COHORT) build/site

package: build
	@rm -rf build/packages
	@cpack --config build/release/CPackConfig.cmake -B build/packages
	@rm -rf build/packages/_CPack_Packages
	@ls build/packages

format: setup
	@scripts/lint --fix

check-format: setup
	@scripts/lint --format

lint: build/release/build.ninja
	@cmake --build --preset release --target cohort_commit_header
	@scripts/lint

clean:
	rm -rf build
