#!/usr/bin/env bash
# Runs the tests of a built preset, in parallel, and ends with what passed, failed and was skipped:
# test.sh PRESET [CTEST OPTIONS...].
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift

# ThreadSanitizer of GCC 12 and 13 gives up when addresses are randomised as widely as new kernels do.
runner=()
if setarch -R true 2> /dev/null; then runner=(setarch -R); fi

status=0
"${runner[@]}" ctest --preset "$preset" --parallel "$(nproc)" --no-tests=error --output-junit results.xml "$@" ||
  status=$?
if command -v python3 > /dev/null; then
  python3 scripts/summary.py "$preset" "build/$preset/results.xml" || [ "$status" != 0 ] || status=1
fi
exit "$status"
