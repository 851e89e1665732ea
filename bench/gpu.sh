#!/usr/bin/env bash
# Measures every figure that docs/performance-gpu.md gives for GPUs, on this machine, in one go. It takes less
# than five minutes, the build included:
#   bench/gpu.sh GPUS [FILE]     default bench/results/<date>-gpu.jsonl, which must not exist yet
# The variable TCA names a tca to use instead of building one. Needs CUDA 12 or later, a C++20 compiler, CMake
# 3.25, fmt, nlohmann-json, toml++ and CLI11, and a machine that does nothing else meanwhile. MPI, NCCL,
# NVSHMEM and MSCCL++ take part where they are installed (CMAKE_PREFIX_PATH leads to what is not among the
# system's packages).
set -euo pipefail
cd "$(dirname "$0")/.."
gpus=${1:?how many GPUs? bench/gpu.sh GPUS [FILE]}
out=${2:-bench/results/$(date +%F)-gpu.jsonl}
[ ! -e "$out" ] || { echo "$out is there already; name another file or remove it" >&2; exit 1; }
[ "$gpus" -ge 2 ] || { echo "puts go from one GPU to another: at least 2 are needed" >&2; exit 1; }

build() {
  local tree=build/gpu-bench
  command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
  command -v ninja > /dev/null && export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
  mkdir -p build
  cmake -S . -B "$tree" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=native -DOPENTCA_WITH_CUDA=ON \
    -DOPENTCA_BUILD_TESTS=OFF -DOPENTCA_BUILD_EXAMPLES=OFF > "$tree.log" 2>&1 || { cat "$tree.log" >&2; exit 1; }
  cmake --build "$tree" --parallel "$(nproc)" --target tca > "$tree.log" 2>&1 || { tail -40 "$tree.log" >&2; exit 1; }
  tca=$tree/bin/tca
}
tca=${TCA:-}
[ -n "$tca" ] || build

# Reads all of ldd's output first: at its first match grep would close a pipe into which ldd still writes.
linked=$(ldd "$tca")
takes_part() {
  [ "$1" = copy ] || grep -q "lib$1[._]" <<< "$linked" || return 1
  [ "$1" != mpi ] || command -v mpirun > /dev/null
}
# Prints the option for those of the named peers that this build can be compared with.
peers() {
  local peer list=
  for peer; do
    if takes_part "$peer"; then list+=${list:+,}$peer; fi
  done
  echo "${list:+--peer $list}"
}

# Runs tca with a time limit. Once it has succeeded its lines are kept, except those that match the pattern:
#   try SECONDS PATTERN ARGUMENTS...
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
try() {
  local limit=$1 pattern=$2
  shift 2
  : > "$lines"
  timeout -k 5 "$limit" "$tca" "$@" --json "$lines" || return 1
  grep -v "$pattern" "$lines" >> "$out" || true  # nothing is left
}
all='^$' of_peers='"peer":null'

# When a peer fails or hangs, only its own figures are lost, not OpenTCA's or the other peers'.
failed=0
fabric=cuda
bench() {
  local with=$1 names name
  shift
  set -- bench "$@" --fabric "$fabric" --rounds 25 --placements 2
  echo "tca $* $with"
  IFS=, read -ra names <<< "${with#--peer }"
  # shellcheck disable=SC2086
  try $((40 + 20 * ${#names[@]})) "$all" "$@" $with && return
  failed=1
  if [ -z "$with" ]; then
    echo "bench/gpu.sh: that failed" >&2
    return
  fi
  echo "bench/gpu.sh: that failed; once more without peers, and with each of several by itself" >&2
  try 40 "$all" "$@" || true
  [ "${#names[@]}" -gt 1 ] || return 0
  for name in "${names[@]}"; do try 60 "$of_peers" "$@" --peer "$name" || true; done
}

everyone=$(peers nccl nvshmem mscclpp mpi)
echo "beside ${everyone:-no peers}"
bench "$everyone" pingpong --ranks 2 --start kernel --bytes 8,4096,65536,1048576
bench "" pingpong --ranks 2 --start engine --bytes 8
bench "$everyone" halo --ranks "$gpus" --start kernel --layout block-stride --extent 64,128,256
bench "--peer produced" halo --ranks "$gpus" --start kernel --layout block-stride --extent 64
bench "$everyone" halo --ranks "$gpus" --start graph --layout block-stride --extent 64,128,256
bench "$everyone" allreduce --ranks "$gpus" --start kernel --bytes 8,1024
bench "$everyone" allreduce --ranks "$gpus" --start graph --bytes 1024
# Collectives of one kernel each, from a few bytes to as many as fill the links.
blocks=8,1024,8192,65536,1048576,16777216
with=$(peers nccl)
bench "$with" barrier --ranks "$gpus" --start graph
for what in bcast allreduce; do bench "$with" "$what" --ranks "$gpus" --start graph --bytes "$blocks,67108864"; done
for what in allgather reduce_scatter alltoall; do bench "$with" "$what" --ranks "$gpus" --start graph --bytes "$blocks"; done
large="put --ranks 2 --start graph,host --bytes 268435456"
# shellcheck disable=SC2086
bench "$(peers copy nccl)" $large --layout block
# shellcheck disable=SC2086
bench "$(peers copy)" $large --layout block-stride --rows 256,1024,4096
# Two sub-clusters with MPI between them.
with=$(peers mpi)
if [ -n "$with" ]; then
  fabric=cuda+mpi
  halves="--ranks $gpus --sub-cluster $((gpus / 2)) --start graph"
  # shellcheck disable=SC2086
  bench "$with" pingpong $halves --bytes 8,4096,65536,1048576
  # shellcheck disable=SC2086
  bench "$with" halo $halves --extent 32,64,128
  # shellcheck disable=SC2086
  for what in bcast allgather; do bench "$with" "$what" $halves --bytes 8,1024,8192,65536,1048576; done
fi
himeno() {
  echo "tca himeno $*"
  try 60 "$all" himeno --ranks "$gpus" --fabric cuda --seconds 1 "$@" && return
  echo "bench/gpu.sh: that failed" >&2
  failed=1
}
# The halved sizes give each of two GPUs as many cells as the whole ones give each of four.
for size in S M 32x64x128 64x128x256; do
  himeno --size "$size" --start kernel ${everyone:+--compare}
  himeno --size "$size" --start graph
done
# Conjugate gradients at the extents and numbers of GPUs at which QUDA was measured. The runs on all GPUs are
# compared with NCCL.
qcd() {
  echo "tca qcd $*"
  try 40 "$all" qcd "$@" --fabric cuda --links 12 && return
  echo "bench/gpu.sh: that failed" >&2
  failed=1
}
nccl=
if [[ $everyone == *nccl* ]]; then nccl=--compare; fi
for extent in 8 16 32; do
  solve="invert --lattice $extent --tolerance 1e-12 --kappa 0.12"
  for start in kernel graph; do
    for ranks in 1 2 4 8; do
      # shellcheck disable=SC2086
      [ "$ranks" -ge "$gpus" ] || qcd $solve --ranks "$ranks" --started-by "$start"
    done
  done
  # shellcheck disable=SC2086
  qcd $solve --ranks "$gpus" --started-by kernel $nccl
  # shellcheck disable=SC2086
  qcd $solve --ranks "$gpus" --started-by graph
  qcd dslash --lattice "$extent" --ranks "$gpus" --seconds 0.3
done
# The conjugate gradients of the NAS Parallel Benchmarks, on one GPU beside several.
cg() {
  echo "tca cg $*"
  try 60 "$all" cg "$@" --fabric cuda && return
  echo "bench/gpu.sh: that failed" >&2
  failed=1
}
for class in S A B C; do
  for ranks in 1 2 4 8; do
    [ "$ranks" -gt "$gpus" ] || cg --class "$class" --ranks "$ranks"
    # shellcheck disable=SC2086
    [ "$ranks" -gt "$gpus" ] || [ "$ranks" = 1 ] || cg --class "$class" --ranks "$ranks" --order merged $nccl
  done
done
echo "written: $out"
exit "$failed"
