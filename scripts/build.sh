#!/usr/bin/env bash
# Configures a preset and builds it: build.sh PRESET [TARGET...]. Copes with a build tree from another place (a moved
# clone), for a generator that is gone, or half made.
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
tree=build/$preset
cache=$tree/CMakeCache.txt

cached() { sed -n "s/^$1:[A-Z]*=//p" "$cache"; }

stale() {
  [ "$(cached CMAKE_HOME_DIRECTORY)" != "$PWD" ] ||
    [ "$(cached CMAKE_CACHEFILE_DIR)" != "$PWD/$tree" ] ||
    ! [ -x "$(cached CMAKE_MAKE_PROGRAM)" ] ||
    ! [ -x "$(cached CMAKE_CXX_COMPILER)" ]
}

if [ -e "$cache" ] && stale; then
  echo "build: $tree was configured for another place or other tools; starting it afresh"
  rm -rf "$tree"
fi
if ! [ -e "$cache" ] && command -v ninja > /dev/null; then
  export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
fi

# Every time: packages may have come or gone since the last.
mkdir -p "$tree"
if ! cmake --preset "$preset" > "$tree/configure.log" 2>&1; then
  if ! [ -e "$tree/.configured" ] || ! cmake --fresh --preset "$preset" > "$tree/configure.log" 2>&1; then
    cat "$tree/configure.log" >&2
    exit 1
  fi
fi
touch "$tree/.configured"
sed -n '/^-- OpenTCA/,/^-- Configuring done/{/^-- Configuring done/!p}' "$tree/configure.log"

cmake --build "$tree" --parallel "$(scripts/jobs.sh)" ${1:+--target "$@"}
