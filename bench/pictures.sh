#!/usr/bin/env bash
# Draws the pictures of docs/ from the records in bench/results/: bench/pictures.sh [TCA]. (docs/overview.svg is drawn by hand.)
set -eu
cd "$(dirname "$0")/.."
tca=${1:-build/release/bin/tca}
scratch=$(mktemp --suffix .jsonl)
trap 'rm -f "$scratch"' EXIT

# draw PICTURE TITLE REGEX RECORD...: the lines of the records that match
draw() {
  local picture=$1 title=$2 lines=$3
  shift 3
  (cd bench/results && cat "$@") | grep -E "$lines" > "$scratch"
  "$tca" plot "$scratch" -o "docs/$picture.svg" --title "$title"
}

draw performance "Messages, faces and sums between two cores of an EPYC" \
  '"fabric":"(shm|mpi)".*"ranks":2.*"command":"tca bench (pingpong|halo --extent|allreduce) [^"]*--peer mpi' \
  2026-11-27-host-epyc.jsonl
draw performance-gpu-peers "Messages, faces and sums in kernels of four H200s" \
  '"bench":"(pingpong|halo|allreduce)","fabric":"(cuda|nccl|nvshmem)".*"start":"kernel".*"guarded":true' \
  2026-11-28-gpu-4xh200.jsonl
draw performance-gpu "Messages, faces and sums of four H100s" \
  '"bench":"(pingpong|halo|allreduce)".*"command":"[^"]*--(start kernel|layout block-stride)' 2026-11-27-gpu-4xh100.jsonl
draw performance-gpu-collectives "Collectives of four H100s, in a graph" \
  '"bench":"(bcast|all|reduce)[^"]*","fabric":"(cuda|nccl)".*"start":"graph"' 2026-11-27-gpu-4xh100.jsonl
draw performance-gpu-qcd "Conjugate gradients: the same lattice on more H100s" \
  '"bench":"qcd_cg"' 2026-11-27-gpu-4xh100.jsonl

"$tca" plot bench/results/2026-11-28-model-scaling.jsonl -o docs/scaling.svg
"$tca" scorecard --json > "$scratch"
"$tca" plot "$scratch" -o docs/scorecard.svg
