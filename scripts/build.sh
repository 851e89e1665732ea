#!/usr/bin/env bash
# Configures a preset and builds it: build.sh [--cuda AUTO|CHECK|GPU] PRESET [TARGET...]. Copes with a build tree from
# another place (a moved clone), for a generator that is gone, or half made. CUDA=ON or OFF in the environment says
# whether GPU code is built, and stays until it says otherwise; without, --cuda is the least that OPENTCA_WITH_CUDA asks
# for, lest `make run` after `make test` take kernels out again.
set -eu
cd "$(dirname "$0")/.."
case ${CUDA:-} in
  "" | ON | OFF | */*) ;;
  *) echo "build: CUDA=$CUDA: choose ON or OFF" >&2 && exit 2 ;;
esac
least=
if [ "$1" = --cuda ]; then
  least=$2
  shift 2
fi
preset=$1
shift
tree=build/$preset
# A compiler cache, where there is one, serves all clones: paths count from the clone. It leaves precompiled headers alone, in
# which GCC knows its sources by their dates.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
cache=$tree/CMakeCache.txt

cached() { sed -n "s/^$1:[A-Z]*=//p" "$cache"; }

stale() {
  [ "$(cached CMAKE_HOME_DIRECTORY)" != "$PWD" ] ||
    [ "$(cached CMAKE_CACHEFILE_DIR)" != "$PWD/$tree" ] ||
    ! [ -x "$(cached CMAKE_MAKE_PROGRAM)" ] ||
    ! [ -x "$(cached CMAKE_CXX_COMPILER)" ]
}

# What OPENTCA_WITH_CUDA is to be; nothing leaves it to the preset. A path in CUDA is somebody else's. Without --cuda, as for
# sanitizers, GPU code may be left out but is not asked for.
with_cuda() {
  local least=$1 had=
  if [ -z "$least" ]; then
    [ "${CUDA:-}" != OFF ] || echo OFF
    return 0
  fi
  if [ -e "$cache" ]; then had=$(cached OPENTCA_WITH_CUDA); fi
  case "${CUDA:-} $had $least" in
    ON\ * | OFF\ *) echo "$CUDA" ;;
    *\ ON\ * | *\ OFF\ * | *\ AUTO\ * | *\ CHECK\ GPU) echo "$had" ;;
    *) echo "$least" ;;
  esac
}

# The objects that are still to be made. A dry run of ninja would end where CMake looks for new files.
missing_objects() {
  local object program
  program=$(cached CMAKE_MAKE_PROGRAM)
  if [ -e "$tree/build.ninja" ]; then
    "$program" -C "$tree" -t commands "$@" | { grep -o ' -o [^ ]*\.\(cpp\|cxx\|cu\)\.o' || true; } |
      while read -r _ object; do [ -e "$tree/$object" ] || echo "$object"; done
  else
    "$program" -C "$tree" -n "$@" | grep -o 'Building C[A-Z]* object .*\.o' || true
  fi
}

# On a core of 2022 a compiler takes about 10 s for a source, and 30 s for one of kernels.
say_how_long() {
  local objects kernels all seconds
  objects=$(missing_objects "$@" 2> /dev/null) || return 0
  all=$(grep -c . <<< "$objects" || true)
  kernels=$(grep -c '\.cu\.o' <<< "$objects" || true)
  seconds=$(((all * 10 + kernels * 20) / $(scripts/jobs.sh)))
  [ "$seconds" -ge 30 ] || return 0
  echo "build: $all sources to compile, which takes about $(((seconds + 59) / 60)) min here"
}

if [ -e "$cache" ] && stale; then
  echo "build: $tree was configured for another place or other tools; starting it afresh"
  rm -rf "$tree"
fi
if ! [ -e "$cache" ] && command -v ninja > /dev/null; then
  export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
fi
cuda=$(with_cuda "$least")

# Every time: packages may have come or gone since the last.
mkdir -p "$tree"
configure() { cmake "$@" --preset "$preset" ${cuda:+"-DOPENTCA_WITH_CUDA=$cuda"} > "$tree/configure.log" 2>&1; }
if ! configure; then
  if ! [ -e "$tree/.configured" ] || ! configure --fresh; then
    cat "$tree/configure.log" >&2
    exit 1
  fi
fi
touch "$tree/.configured"
sed -n '/^-- OpenTCA/,/^-- Configuring done/{/^-- Configuring done/!p}' "$tree/configure.log"

say_how_long "$@"
cmake --build "$tree" --parallel "$(scripts/jobs.sh)" ${1:+--target "$@"}
