# What OpenTCA is built from, as the packages of Debian and Ubuntu; sourced by setup.sh.
# A word is a package, or command=package where any program of that name will do.
build_packages="g++=g++ cmake=cmake make=make libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev zlib1g-dev"
test_packages="python3=python3 gcc=gcc spin=spin strace=strace libgtest-dev librapidcheck-dev"
mpi_packages="mpirun=openmpi-bin mpicc=libopenmpi-dev"
optional_packages="pkg-config=pkg-config libhwloc-dev libbenchmark-dev python3-matplotlib"
