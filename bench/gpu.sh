#!/usr/bin/env bash
# Measures every figure that docs/performance-gpu.md gives for GPUs, on this machine, in one go. It takes some ten
# minutes, the build included:
#   bench/gpu.sh GPUS [FILE [PART...]]     default bench/results/<date>-gpu.jsonl, which must not exist yet, and all parts:
#     messages sums collectives puts overlap hybrid himeno qcd cg
# The variable TCA names a tca to use instead of building one; ROUNDS and PLACEMENTS say how often each contender is measured.
# Needs CUDA 12 or later, a C++20 compiler, CMake 3.25, fmt, nlohmann-json, toml++ and CLI11, and a machine that does
# nothing else meanwhile. MPI, NCCL, NVSHMEM and MSCCL++ take part where they are installed (CMAKE_PREFIX_PATH leads to what is
# not among the system's packages), each in the ways that its documentation recommends for short times: NCCL by its ordinary
# calls in a graph, by the same on symmetric windows, by copy engines, and by its device API in kernels; NVSHMEM by puts with
# signals in kernels; MSCCL++ by packets and by puts in kernels. Multicast is off for all.
set -euo pipefail
cd "$(dirname "$0")/.."
gpus=${1:?how many GPUs? bench/gpu.sh GPUS [FILE [PART...]]}
out=${2:-bench/results/$(date +%F)-gpu.jsonl}
parts=" ${*:3} "
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

# Reads all of what these print first: at its first match grep would close a pipe into which they still write.
linked=$(ldd "$tca")
called=$(nm -D "$tca")
takes_part() {
  case $1 in
    copy) return 0 ;;
    nccl-*) grep -q ncclDevCommCreate <<< "$called"; return ;;  # NCCL 2.28 on
  esac
  grep -q "lib$1[._]" <<< "$linked" || return 1
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
  set -- bench "$@" --fabric "$fabric" --rounds "${ROUNDS:-25}" --placements "${PLACEMENTS:-2}"
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

everyone=$(peers nccl nccl-windows nvshmem mscclpp mpi)
in_kernels=$(peers nccl nccl-device nvshmem mscclpp mpi)
nccls=$(peers nccl nccl-windows)
echo "beside ${everyone:-no peers}"
messages() {
  bench "$in_kernels" pingpong --ranks 2 --start kernel --bytes 8,4096,65536,1048576
  bench "$(peers nccl-windows)" pingpong --ranks 2 --start graph --bytes 8,4096,65536,1048576
  bench "" pingpong --ranks 2 --start engine --bytes 8
  bench "$in_kernels" halo --ranks "$gpus" --start kernel --layout block-stride --extent 64,128,256
  bench "--peer produced" pingpong --ranks 2 --start kernel --bytes 8,4096,65536,1048576
  bench "--peer produced" halo --ranks "$gpus" --start kernel --layout block-stride --extent 64,128,256
  bench "$everyone" halo --ranks "$gpus" --start graph --layout block-stride --extent 64,128,256
}
sums() {
  bench "$in_kernels" allreduce --ranks "$gpus" --start kernel --bytes 8,1024
  bench "$everyone" allreduce --ranks "$gpus" --start graph --bytes 1024
}
# Collectives of one kernel each, from a few bytes to as many as fill the links.
collectives() {
  local what blocks=8,1024,8192,65536,1048576,16777216
  bench "$nccls" barrier --ranks "$gpus" --start graph
  for what in bcast allreduce; do bench "$nccls" "$what" --ranks "$gpus" --start graph --bytes "$blocks,67108864"; done
  bench "$nccls" reduce_scatter --ranks "$gpus" --start graph --bytes "$blocks"
  bench "$(peers nccl nccl-windows nccl-copy-engine)" allgather --ranks "$gpus" --start graph --bytes "$blocks"
  bench "$(peers nccl nccl-windows nccl-copy-engine nccl-device)" alltoall --ranks "$gpus" --start graph --bytes "$blocks"
}
puts() {
  local large="put --ranks 2 --start graph,host --bytes 268435456"
  # shellcheck disable=SC2086
  bench "$(peers copy nccl nccl-windows)" $large --layout block
  # shellcheck disable=SC2086
  bench "$(peers copy)" $large --layout block-stride --rows 256,1024,4096
}
# What a computation loses while an exchange goes by.
overlap() {
  bench "$(peers nccl nccl-windows nccl-copy-engine)" overlap --ranks "$gpus" --start graph,host \
    --bytes 1048576,4194304,16777216,67108864
}
# Two sub-clusters with MPI between them.
hybrid() {
  local what with halves
  with=$(peers mpi)
  [ -n "$with" ] || return 0
  fabric=cuda+mpi
  halves="--ranks $gpus --sub-cluster $((gpus / 2)) --start graph"
  # shellcheck disable=SC2086
  bench "$with" pingpong $halves --bytes 8,4096,65536,1048576
  # shellcheck disable=SC2086
  bench "$with" halo $halves --extent 32,64,128
  # shellcheck disable=SC2086
  for what in bcast allgather; do bench "$with" "$what" $halves --bytes 8,1024,8192,65536,1048576; done
  fabric=cuda
}
# Runs an application within some seconds.
application() {
  local limit=$1
  shift
  echo "tca $*"
  try "$limit" "$all" "$@" --fabric cuda && return
  echo "bench/gpu.sh: that failed" >&2
  failed=1
}
# The halved sizes give each of two GPUs as many cells as the whole ones give each of four.
himeno() {
  local size
  for size in S M 32x64x128 64x128x256; do
    application 60 himeno --ranks "$gpus" --seconds 1 --size "$size" --start kernel ${everyone:+--compare}
    application 60 himeno --ranks "$gpus" --seconds 1 --size "$size" --start graph
  done
}
beside_nccl=
if [[ $everyone == *nccl* ]]; then beside_nccl=--compare; fi
# Conjugate gradients at the extents and numbers of GPUs at which QUDA was measured. The runs on all GPUs are
# compared with NCCL.
qcd() {
  local extent solve start ranks
  for extent in 8 16 32; do
    solve="qcd invert --lattice $extent --links 12 --tolerance 1e-12 --kappa 0.12"
    for start in kernel graph; do
      for ranks in 1 2 4 8; do
        # shellcheck disable=SC2086
        [ "$ranks" -ge "$gpus" ] || application 40 $solve --ranks "$ranks" --started-by "$start"
      done
    done
    # shellcheck disable=SC2086
    application 40 $solve --ranks "$gpus" --started-by kernel $beside_nccl
    # shellcheck disable=SC2086
    application 40 $solve --ranks "$gpus" --started-by graph
    application 40 qcd dslash --lattice "$extent" --links 12 --ranks "$gpus" --seconds 0.3
  done
}
# The conjugate gradients of the NAS Parallel Benchmarks, on one GPU beside several.
cg() {
  local class ranks
  for class in S A B C; do
    for ranks in 1 2 4 8; do
      [ "$ranks" -gt "$gpus" ] || application 60 cg --class "$class" --ranks "$ranks"
      # shellcheck disable=SC2086
      [ "$ranks" -gt "$gpus" ] || [ "$ranks" = 1 ] || application 60 cg --class "$class" --ranks "$ranks" --order merged $beside_nccl
    done
  done
}
wanted() { [ "$parts" = "  " ] || [[ $parts == *" $1 "* ]]; }
if wanted messages; then messages; fi
if wanted sums; then sums; fi
if wanted collectives; then collectives; fi
if wanted puts; then puts; fi
if wanted overlap; then overlap; fi
if wanted hybrid; then hybrid; fi
if wanted himeno; then himeno; fi
if wanted qcd; then qcd; fi
if wanted cg; then cg; fi
echo "written: $out"
exit "$failed"
