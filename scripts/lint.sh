#!/usr/bin/env bash
# Looks for faults of form and of substance: lint.sh [format|tidy|fix]. `format` (seconds) checks all sources against
# .clang-format, `tidy` (minutes) src/ and the headers that it includes against .clang-tidy; `fix` formats what differs.
#
# clang-tidy takes the sources as the preset `release` puts them together, since most of its time goes into the headers that
# they share: a third of what it takes one by one.
set -eu
cd "$(dirname "$0")/.."
what=${1:-all}
jobs=$(scripts/jobs.sh)

format() {
  find . -path ./build -prune -o -regex '.*\.\(c\|h\|cpp\|hpp\|cu\|cuh\)' -print0 |
    xargs -0 -P "$jobs" -n 40 clang-format-14 "$@"
}

tidy() {
  local tree=build/release
  [ -e $tree/compile_commands.json ] || cmake --preset release > /dev/null
  grep -q 'src/fabric/cuda/' $tree/compile_commands.json || echo "lint: $tree has no GPU code, so none of it is looked at"
  # Warnings of GCC's that Clang has none of are no errors.
  grep -o "\"file\": \"$PWD/$tree/\(src\|bindings\)/[^\"]*\.cxx\"" $tree/compile_commands.json | cut -d '"' -f 4 |
    xargs -P "$jobs" -n 1 clang-tidy-14 -p $tree --quiet --extra-arg=-Wno-unknown-warning-option
}

case $what in
  format) format --dry-run --Werror ;;
  tidy) tidy ;;
  fix) format -i ;;
  all) format --dry-run --Werror && tidy ;;
  *) echo "usage: lint.sh [format|tidy|fix]" >&2 && exit 2 ;;
esac
