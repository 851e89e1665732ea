#!/usr/bin/env bash
# Programs build by what pkg-config says: check_pkg_config.sh PREFIX [CMAKE OPTIONS...]
set -eu
prefix=$1
shift
source=$(cd "$(dirname "$0")" && pwd -P)
command -v pkg-config > /dev/null || exit 0
compiler=c++ flags=
for option; do
  case $option in
    -DCMAKE_CXX_COMPILER=*) compiler=${option#*=} ;;
    -DCMAKE_CXX_FLAGS=*) flags=${option#*=} ;;
  esac
done
files=("$prefix"/lib*/pkgconfig "$prefix"/lib/*/pkgconfig)
export PKG_CONFIG_PATH=${files[0]}:${files[1]}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}

# Without --static as well as with it.
# shellcheck disable=SC2046,SC2086
"$compiler" -std=c++20 $flags "$source/consumer.cpp" $(pkg-config --cflags --libs opentca) -o "$prefix/consumer"
"$prefix/consumer"
# A C compiler links programs in C, also with a static library of C++.
if command -v cc > /dev/null; then
  # shellcheck disable=SC2046,SC2086
  cc -std=c11 -Wall -Wextra -pedantic -Werror $flags "$source/consumer.c" $(pkg-config --cflags --libs opentca) \
    -o "$prefix/consumer_c"
  "$prefix/consumer_c"
  # The libraries of other interfaces, by their calls that need no world.
  echo '#include <tca-api.h>
int main(void) { return tcaGetErrorString(TCA_SUCCESS) == 0; }' > "$prefix/for_tca.c"
  echo '#include <apelib.h>
int main(void) { return ape_close(0) == APELINK_SUCCESS; }' > "$prefix/for_apelink.c"
  for library in tca apelink; do
    # shellcheck disable=SC2046,SC2086
    cc -std=c11 -Wall -Wextra -pedantic -Werror $flags "$prefix/for_$library.c" $(pkg-config --cflags --libs $library) \
      -o "$prefix/for_$library"
    "$prefix/for_$library"
  done
fi
# A Fortran compiler compiles the module with the program.
if command -v gfortran > /dev/null; then
  # shellcheck disable=SC2046,SC2086
  gfortran $flags -J "$prefix" $(pkg-config --variable=fortran opentca) "$source/consumer.f90" \
    $(pkg-config --libs opentca) -o "$prefix/consumer_fortran"
  "$prefix/consumer_fortran"
fi
pkg-config --static --libs opentca > /dev/null
if pkg-config --exists opentca-mpi; then
  # shellcheck disable=SC2046,SC2086
  "$compiler" -std=c++20 $flags "$source/../../examples/within_mpi.cpp" $(pkg-config --cflags --libs opentca-mpi) \
    -o "$prefix/within_mpi"
fi
