# One command each for what people do here; CMakeLists.txt and CMakePresets.json do the building.
.DEFAULT_GOAL := help
.PHONY: help build run check test python sanitize docs clean
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# As many as there are processors, and no more than the size has room for.
RANKS ?= $(shell n=$$(nproc); [ $$n -le 64 ] || n=64; [ $$n -ge 2 ] || n=2; echo $$n)
SIZE ?= S

help:
	@echo "make run       set up, build what it takes, and solve Himeno's problem, beside MPI where one is"
	@echo "               (RANKS=$(RANKS) SIZE=$(SIZE); GPU code where a GPU is, or with CUDA=ON)"
	@echo "make build     set up and build everything: build/release/bin/tca (CUDA=OFF leaves GPU code out)"
	@echo "make check     build what the quick tests take, and run those: for while you write"
	@echo "make test      set up, build, and run every test"
	@echo "make python    set up, build and test the Python package (pip install . installs it)"
	@echo "make sanitize  every test under the address and undefined-behaviour sanitizers,"
	@echo "               those whose ranks are threads under ThreadSanitizer"
	@echo "make docs      the pages and a reference of the headers as a site: build/docs/html"
	@echo "make clean     remove what was built"

build:
	@scripts/setup.sh build
	@scripts/build.sh --cuda AUTO release

run:
	@scripts/setup.sh build
	@scripts/build.sh --cuda GPU release tca_first
	build/release/first/tca himeno --ranks $(RANKS) --size $(SIZE) --compare
	@echo
	@echo "Next:"
	@echo "  make build                                         the rest of tca, and the examples"
	@echo "  build/release/bin/tca bench pingpong --peer mpi    messages of every size, beside MPI"
	@echo "  build/release/bin/tca bench halo --peer mpi        faces of a cube, beside MPI"
	@echo "  build/release/bin/tca run -n $(RANKS) -- build/release/examples/first    a program of one page"
	@echo "  docs/guide.md                                      how to write your own"

check:
	@scripts/build.sh --cuda CHECK release opentca_quick_tests
	@scripts/test.sh release -L quick

test:
	@scripts/setup.sh test
	@scripts/build.sh --cuda CHECK release
	@scripts/test.sh release
	@scripts/build.sh python opentca_python_tests
	@scripts/test.sh python

python:
	@scripts/setup.sh python
	@scripts/build.sh python opentca_python_tests
	@scripts/test.sh python

sanitize:
	@scripts/setup.sh test
	@scripts/build.sh asan
	@scripts/test.sh asan
	@scripts/build.sh tsan opentca_thread_tests
	@scripts/test.sh tsan

docs:
	@scripts/setup.sh docs
	@scripts/docs.sh

clean:
	rm -rf build
