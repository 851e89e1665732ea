# One command each for what people do here; CMakeLists.txt and CMakePresets.json do the building.
.DEFAULT_GOAL := help
.PHONY: help build run test sanitize clean
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# As many as there are processors, and no more than the size has room for.
RANKS ?= $(shell n=$$(nproc); [ $$n -le 64 ] || n=64; [ $$n -ge 2 ] || n=2; echo $$n)
SIZE ?= S

help:
	@echo "make run       set up, build, and solve Himeno's problem, beside MPI where one is (RANKS=$(RANKS) SIZE=$(SIZE))"
	@echo "make test      set up, build, and run every test"
	@echo "make sanitize  every test under the address and undefined-behaviour sanitizers,"
	@echo "               those whose ranks are threads under ThreadSanitizer"
	@echo "make build     set up and build only: build/release/bin/tca"
	@echo "make clean     remove what was built"

build:
	@scripts/setup.sh build
	@scripts/build.sh release

run:
	@scripts/setup.sh build
	@scripts/build.sh release tca
	build/release/bin/tca himeno --ranks $(RANKS) --size $(SIZE) --compare
	@echo
	@echo "Next:"
	@echo "  build/release/bin/tca bench pingpong --peer mpi    messages of every size, beside MPI"
	@echo "  build/release/bin/tca bench halo --peer mpi        faces of a cube, beside MPI"
	@echo "  build/release/bin/tca run -n $(RANKS) -- build/release/examples/first    a program of one page (after make build)"
	@echo "  docs/guide.md                                      how to write your own"

test:
	@scripts/setup.sh test
	@scripts/build.sh release
	@scripts/test.sh release

sanitize:
	@scripts/setup.sh test
	@scripts/build.sh asan
	@scripts/test.sh asan
	@scripts/build.sh tsan opentca_thread_tests
	@scripts/test.sh tsan

clean:
	rm -rf build
