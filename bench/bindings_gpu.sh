#!/usr/bin/env bash
# Measures what a step takes on two GPUs from Python, on streams and in graphs of CuPy and torch, beside a graph of C++'s,
# NCCL by torch.distributed and nvshmem4py, as far as they are installed for PYTHON (python3). A few minutes once built:
#   bench/bindings_gpu.sh [FILE]     default bench/results/<date>-gpu-languages.jsonl, which must not exist yet
# PYTHON has nanobind, NumPy and CuPy too. TURNS (5) says how often all of it is measured.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results/$(date +%F)-gpu-languages.jsonl}
[ ! -e "$out" ] || { echo "$out is there already; name another file or remove it" >&2; exit 1; }
python=${PYTHON:-python3}
scripts/build.sh --cuda GPU release tca graph_steps
cmake --preset python -DOPENTCA_WITH_CUDA=ON -DPython_EXECUTABLE="$(command -v "$python")" -DOPENTCA_PYTHON=ON > /dev/null
cmake --build build/python --parallel "$(scripts/jobs.sh)" --target opentca_python
PYTHONPATH=build/python/bindings/python "$python" -B bench/bindings/languages.py --tca build/release/bin/tca \
  --graph-steps build/release/bench/gpu/graph_steps --turns "${TURNS:-5}" "$out"
