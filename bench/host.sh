#!/usr/bin/env bash
# Measures every figure that docs/performance-hosts.md gives for shared memory, and for computing beside an
# exchange over MPI, on this machine, in one go (about twenty-five minutes):
#   bench/host.sh [FILE]     default bench/results/<date>-host.jsonl, which must not exist yet
# Needs MPI for the comparisons, and a machine that does nothing else meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results/$(date +%F)-host.jsonl}
[ ! -e "$out" ] || { echo "$out is there already; name another file or remove it" >&2; exit 1; }
scripts/build.sh release tca
tca=build/release/bin/tca

"$tca" bench pingpong --bytes 8 --rounds 31 --peer mpi,hand --json "$out"
"$tca" bench pingpong --bytes 64,512,4096,32768,262144,2097152,8388608 --peer mpi,hand --json "$out"
# A virtual machine's cores move. The flag's time before each measurement and after the last shows how far
# apart they were.
distance() { "$tca" bench pingpong --bytes 8 --rounds 3 --peer hand --json "$out"; }
for extent in 32 64 128; do
  distance
  "$tca" bench halo --extent "$extent" --peer mpi,hand --json "$out"
done
distance
"$tca" bench halo --unguarded --peer mpi,hand --json "$out"
for channel in direct pull staged; do
  "$tca" bench halo --channel "$channel" --peer hand --json "$out"
done
"$tca" bench halo --ranks 16 --extent 32,64 --peer mpi --json "$out"
for ranks in 2 4 8; do
  for what in barrier bcast allgather allreduce reduce_scatter alltoall; do
    "$tca" bench "$what" --ranks "$ranks" --rounds 5 --placements 3 --peer mpi --json "$out"
  done
done
for fabric in shm+mpi mpi; do
  "$tca" bench overlap --fabric "$fabric" --sub-cluster 1 --peer mpi --json "$out"
  "$tca" bench overlap --fabric "$fabric" --sub-cluster 1 --progress thread --json "$out"
done
"$tca" himeno --ranks 2 --size S --compare --json "$out"
