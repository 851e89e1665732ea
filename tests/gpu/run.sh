#!/usr/bin/env bash
# Builds for the GPU at hand, runs every test that needs one, and then a short part of them under compute-sanitizer where
# that is found; in a quarter of an hour at most, on one GPU or more:
#   tests/gpu/run.sh [CMAKE OPTIONS...]
# Ends with a line for each stage, and fails when any has failed or no time was left for it. memcheck looks at every
# access to memory; racecheck looks at shared memory only, so what ranks store into each other's memory is for the tests
# on the host under ThreadSanitizer (ctest -L thread) and for the models in verify/.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

deadline=$((SECONDS + 895))
tree=build/gpu-test
logs=$tree/logs
mkdir -p "$logs"
command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v ninja > /dev/null && export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
# Ranks that are threads share GPUs here: docs/gpu.md says what these two are for.
export CUDA_DEVICE_MAX_CONNECTIONS=32 CUDA_MODULE_LOADING=EAGER
status=0
report=()

note() { report+=("$(printf '%-36s %-8s %4s s  %s' "$1" "$2" "$3" "${4:-}")"); }

# Runs a command within a number of seconds and what is left of the quarter of an hour, its output in a file:
# stage NAME SECONDS COMMAND...
stage() {
  local name=$1 limit=$2 begin=$SECONDS left=$((deadline - SECONDS)) code=0
  shift 2
  log=$logs/${name//[^a-z0-9]/_}.log
  : > "$log"
  if [ "$left" -lt 5 ]; then
    note "$name" FAILED 0 "no time was left"
    status=1
    return 1
  fi
  echo "=== $name"
  timeout -k 5 "$((limit < left ? limit : left))" "$@" > "$log" 2>&1 < /dev/null || code=$?
  local why="exit status $code" last
  if [ "$code" = 124 ] || [ "$code" = 137 ]; then why="ran out of time $(grep -E '^\[ RUN' "$log" | tail -1)"; fi
  last=$(grep -E '^\[  (PASSED|FAILED)  \] [0-9]+ test' "$log" | head -1)
  if [ "$code" = 0 ] && [[ $last == *'] 0 tests'* ]]; then code=1 why="no test was run"; fi
  if [ "$code" = 0 ]; then
    note "$name" passed $((SECONDS - begin)) "$last"
    return 0
  fi
  grep -E 'FAILED|Failure|rror|what\(\)' -A 3 "$log" | head -40 >&2
  echo "tests/gpu/run.sh: $name failed ($why); all of it is in $log" >&2
  note "$name" FAILED $((SECONDS - begin)) "$why${last:+; $last}"
  status=1
  return 1
}

summary() {
  echo "=== all stages"
  printf '%s\n' "${report[@]}"
  exit "$status"
}

# shellcheck disable=SC2317 # bash -c calls it
build() {
  cmake -S . -B "$tree" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=native -DOPENTCA_WITH_CUDA=ON "$@" &&
    cmake --build "$tree" --parallel "$(nproc)" \
      --target gpu_threads gpu_processes gpu_starts gpu_coll gpu_cg gpu_himeno gpu_qcd example_gpu_ring example_produced rank_program failing_kernel tca xmpcc opentca_xacc &&
    { ! command -v mpirun > /dev/null || cmake --build "$tree" --parallel "$(nproc)" --target gpu_hybrid gpu_hybrid_aware; }
}
export -f build
export tree
stage build 200 bash -c 'build "$@"' build "$@" || summary

tests=$tree/tests/gpu
ring=$tree/examples/gpu_ring
produced=$tree/examples/produced
# Processes that share a GPU take turns of milliseconds. So below four GPUs there are only grids of up to two ranks, and not those of
# the suite's tests that need thousands of turns; on one GPU, four of the suite's tests and fewer grids.
processes='*' cg='*' himeno='*' qcd='*'
gpus=$(nvidia-smi -L | wc -l)
if [ "$gpus" -lt 4 ]; then
  cg='*1x1_*:*2x1_*:*1x2_*:*_1:*_2:CgOnGpus.*'
  himeno='*1x1x1_*:*2x1x1_*:*1x2x1_*:*1x1x2_*:HimenoOnGpus.*'
  qcd='*1x1x1x1_*:*2x1x1x1_*:*1x2x1x1_*:*1x1x2x1_*:*1x1x1x2_*:QcdOnGpus.*'
  processes='-*OverEveryRoute/*:*InAnyOrder/*:*InsteadOfWait/*:*BetweenStartAndWait/*:*DrivesTheOthers/*:*HundredsOfTimes/*'
fi
if [ "$gpus" -lt 2 ]; then
  processes='*.OneWay/*:*.Ring/*:*.HaloWithCorners/*:*.AWorldOfOne/*'
  cg='*1x1_*:*2x1_npb_kernel:*2x1_merged_kernel:*_1'
  himeno='*1x1x1_*:*2x1x1_*:*1x1x2_*:HimenoOnGpus.*'
  qcd='*1x1x1x1_*:*1x1x1x2_*:QcdOnGpus.*'
fi
for suite in gpu_starts gpu_coll gpu_threads; do stage "$suite" 100 "$tests/$suite"; done
stage gpu_processes 240 "$tests/gpu_processes" --gtest_filter="$processes"
stage gpu_cg 150 "$tests/gpu_cg" --gtest_filter="$cg"
stage gpu_himeno 150 "$tests/gpu_himeno" --gtest_filter="$himeno"
stage gpu_qcd 240 "$tests/gpu_qcd" --gtest_filter="$qcd"
for suite in gpu_hybrid gpu_hybrid_aware; do
  if [ -x "$tests/$suite" ]; then
    stage "$suite" 120 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
      OMPI_MCA_hwloc_base_binding_policy=none mpirun -n 5 "$tests/$suite" --gtest_brief=1
  else
    note "$suite" "not run" 0 "no MPI is on this machine"
  fi
done
stage "gpu_ring, 1 rank" 20 "$ring"
stage "tca qcd, kernel, 2 ranks" 20 "$tree/bin/tca" qcd invert --fabric cuda --small --links 12 -n 2 --threads
stage "tca tune, 2 ranks" 30 "$tree/bin/tca" tune --fabric cuda --threads --dry-run --every 40 --seconds 2
stage "ranks killed and missing" 100 env "TCA=$tree/bin/tca" "RANK_PROGRAM=$tree/tests/faults/rank_program" \
  "FAILING_KERNEL=$tests/failing_kernel" \
  PYTHONPATH=tests/faults:tests/cli python3 -B tests/gpu/fault_test.py -v
stage "compute regions of XcalableACC" 120 env "XMPCC=$tree/bin/xmpcc" "TCA=$tree/bin/tca" ACC=cuda \
  PYTHONPATH=tests/cli python3 -B tests/frontend/regions_test.py -v
stage "gpu_ring, 2 ranks" 20 "$tree/bin/tca" run -n 2 -- "$ring"
stage "produced, 2 ranks" 20 "$tree/bin/tca" run -n 2 -- "$produced"

sanitizer=
for place in "$(command -v compute-sanitizer)" "$(dirname "$(command -v nvcc)")/compute-sanitizer" \
  /usr/local/cuda/compute-sanitizer/compute-sanitizer; do
  [ -n "$sanitizer" ] || [ ! -x "$place" ] || sanitizer=$place
done

# An error that the tool has found, or none seen because the tool was not there when the ranks ran, is a failure.
# shellcheck disable=SC2317 # bash -c calls it
sanitized() {
  local tool=$1 code=0 text
  shift
  text=$("$sanitizer" --tool "$tool" --target-processes all --require-cuda-init no --report-api-errors no \
    --error-exitcode 9 --print-limit 10 "$@" 2>&1) || code=$?
  echo "$text"
  if grep -q 'SUMMARY:.*[( ][1-9][0-9]* error' <<< "$text"; then return 9; fi
  if [ "$code" = 0 ] && ! grep -q 'SUMMARY: ' <<< "$text"; then
    echo "Error: $tool has seen no kernel"
    return 1
  fi
  return "$code"
}
export -f sanitized
export sanitizer

# Ranks that are processes: the tool may run the kernels of one process one after the other, and these wait for each other.
if [ -z "$sanitizer" ]; then
  note "compute-sanitizer" "not run" 0 "it is not on this machine"
elif grep -q "Device not supported" <<< "$(timeout -k 5 30 "$sanitizer" "$ring" 100 2 2>&1)"; then
  note "compute-sanitizer" "not run" 0 "it does not support this machine's GPU"
else
  for tool in memcheck racecheck; do
    stage "$tool, gpu_ring, 2 ranks" 40 bash -c 'sanitized "$@"' sanitized "$tool" "$tree/bin/tca" run -n 2 -- "$ring" 400 20
    stage "$tool, gpu_processes" 60 bash -c 'sanitized "$@"' sanitized "$tool" "$tests/gpu_processes" --gtest_brief=1 \
      '--gtest_filter=*KernelPutsOf*:*KernelPutsTo*:*HaloWithCorners*:*AWorldOfOne*'
  done
fi
summary
