#!/usr/bin/env bash
# Measures every figure that docs/performance-hosts.md gives of languages: a step from C++, C and Python, what Python
# declares, imports and weighs, and mpi4py beside it. About two minutes once it is built:
#   bench/bindings.sh [FILE]     default bench/results/<date>-host-languages.jsonl, which must not exist yet
# Needs the environment of scripts/setup.sh python (build/venv), and for the comparison mpirun and mpi4py in it. TURNS (7)
# says how often all of it is measured. The size of the wheel is that of scripts/wheels.sh, where it has been run.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results/$(date +%F)-host-languages.jsonl}
[ ! -e "$out" ] || { echo "$out is there already; name another file or remove it" >&2; exit 1; }
scripts/build.sh release tca c_calls
scripts/build.sh python opentca_python_tests
PYTHONPATH=build/python/bindings/python build/venv/bin/python -B bench/bindings/languages.py --tca build/release/bin/tca \
  --c-calls build/release/bench/c_calls --turns "${TURNS:-7}" "$out"
for wheel in build/wheels/opentca-*.whl; do
  [ ! -e "$wheel" ] || echo "$wheel: $(($(stat -c %s "$wheel") / 1000)) kB"
done
