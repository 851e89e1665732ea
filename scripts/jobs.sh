#!/usr/bin/env bash
# How many compilers to run at once: one a core, as far as memory goes (1.5 GiB each, containers' limits included).
set -eu
kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
if limit=$(cat /sys/fs/cgroup/memory.max 2> /dev/null) && [ "$limit" != max ]; then
  [ "$((limit / 1024))" -ge "$kib" ] || kib=$((limit / 1024))
fi
jobs=$((kib / 1572864))
cores=$(nproc)
[ "$jobs" -le "$cores" ] || jobs=$cores
[ "$jobs" -ge 1 ] || jobs=1
echo "$jobs"
