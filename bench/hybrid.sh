#!/usr/bin/env bash
# Measures every figure that docs/performance-hosts.md gives for two sub-clusters with MPI between them,
# beside MPI alone, and for collectives within one sub-cluster. Needs a host with a core for each of sixteen
# ranks, and takes about four minutes:
#   bench/hybrid.sh [FILE]     default bench/results/<date>-hybrid.jsonl, which must not exist yet
# The variable TCA names a tca to use instead of building one. Needs MPI, and a machine that does nothing else
# meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results/$(date +%F)-hybrid.jsonl}
[ ! -e "$out" ] || { echo "$out is there already; name another file or remove it" >&2; exit 1; }
tca=${TCA:-build/release/bin/tca}
[ -n "${TCA:-}" ] || scripts/build.sh release tca

kinds="barrier bcast allgather allreduce reduce_scatter alltoall"
for ranks in 8 16; do
  for what in $kinds; do
    "$tca" bench "$what" --fabric shm+mpi --ranks "$ranks" --sub-cluster $((ranks / 2)) --rounds 5 --placements 3 --peer mpi \
      --json "$out"
  done
done
"$tca" himeno --fabric shm+mpi --ranks 16 --sub-cluster 8 --grid 2x8x1 --size S --compare --json "$out"
"$tca" himeno --fabric shm+mpi --ranks 8 --sub-cluster 4 --grid 2x4x1 --size M --compare --json "$out"
for ranks in 2 4 8 16; do
  for what in $kinds; do
    "$tca" bench "$what" --ranks "$ranks" --rounds 5 --placements 3 --peer mpi --json "$out"
  done
done
