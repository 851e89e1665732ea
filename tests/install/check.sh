#!/usr/bin/env bash
# Builds and runs the consumer in an empty folder: check.sh find_package|add_subdirectory BUILD_DIR [CMAKE OPTIONS...]
# What only OpenTCA's own tools and tests need is hidden from it.
set -eu
way=$1
build=$2
shift 2
source=$(cd "$(dirname "$0")" && pwd -P)
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT

options=("$@" "-DOPENTCA_SOURCE=$source/../.." -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
for package in CLI11 GTest rapidcheck MPI PkgConfig; do
  options+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
if [ "$way" = find_package ]; then
  cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
  for file in include/tca/tca.hpp include/tca/{tca,tca_mpi}.h bin/tca share/opentca/{plot.py,gdb/opentca.py} share/opentca/machines/ha-pacs-tca.toml \
      share/opentca/machines/published/nakao-peach2.toml share/doc/OpenTCA/{LICENSE,README.md,docs/guide.md} \
      share/doc/OpenTCA/examples/{CMakeLists.txt,first.cpp,c/heat.c,fortran/heat.f90} share/opentca/fortran/opentca.F90 share/man/man1/{tca,tca-run,tca-qcd}.1 \
      share/bash-completion/completions/tca; do
    [ -e "$work/prefix/$file" ] || { echo "$file is not installed"; cat "$work/install.log"; exit 1; }
  done
  "$source/check_pages.sh" "$work/prefix"
  "$source/check_pkg_config.sh" "$work/prefix" "$@"
  "$work/prefix/bin/tca" --version
  if command -v cc > /dev/null; then
    "$work/prefix/bin/tca" xacc cc "$source/../../examples/xacc/ring.c" -o "$work/ring"
    "$work/prefix/bin/tca" run -n 2 -- "$work/ring"
  fi
  # Its own data first, those of the sources last.
  told=$("$work/prefix/bin/tca" model pingpong --machine nowhere 2>&1 || true)
  [[ $told == *" in $work/prefix/share/opentca/machines, "*", ${source%/tests/install}/machines ("* ]] ||
    { echo "data is searched for elsewhere: $told"; exit 1; }
  options+=("-DCMAKE_PREFIX_PATH=$work/prefix" -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
fi

cmake -S "$source/$way" -B "$work/build" --no-warn-unused-cli "${options[@]}"
cmake --build "$work/build" --parallel "$("$source/../../scripts/jobs.sh")"
"$work/build/consumer"
if [ "$way" = find_package ] && command -v cc > /dev/null; then
  cmake -S "$source/find_package_c" -B "$work/build_c" --no-warn-unused-cli "${options[@]}"
  cmake --build "$work/build_c"
  "$work/build_c/consumer"
fi
if [ "$way" = find_package ] && command -v gfortran > /dev/null; then
  cmake -S "$source/find_package_fortran" -B "$work/build_fortran" --no-warn-unused-cli "${options[@]}"
  cmake --build "$work/build_fortran"
  "$work/build_fortran/consumer"
fi
if [ "$way" = add_subdirectory ] && command -v cc > /dev/null; then
  "$work/build/consumer_c"
fi
if [ "$way" = add_subdirectory ] && command -v python3 > /dev/null; then
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$work/build/CMakeCache.txt")
  python3 "$source/check_symbols.py" "$work/build/opentca/src/libopentca.so" "$source/../../include/tca" "$compiler"
fi
