#!/usr/bin/env bash
# Measures on this machine's cores how much faster two ranks are than one in the spin glass, Fourier transforms,
# particle-in-cell and the trigger (about two minutes):
#   bench/applications.sh [FILE]     default bench/results/<date>-host-applications.jsonl, which must not exist yet
# One rank and two take turns. Needs two cores, for the trigger four as each detector wants its own, and a machine that does
# nothing else meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results/$(date +%F)-host-applications.jsonl}
[ ! -e "$out" ] || { echo "$out is there already; name another file or remove it" >&2; exit 1; }
scripts/build.sh release tca
tca=build/release/bin/tca

for _ in 1 2 3; do
  for ranks in 1 2; do
    "$tca" spin --ranks "$ranks" --extent 64 --json "$out"
    "$tca" fft --ranks "$ranks" --extent 64 --json "$out"
    "$tca" fft --ranks "$ranks" --extent 128 --json "$out"
    "$tca" pic --ranks "$ranks" --extent 64x64 --check-every 1000 --json "$out"
    "$tca" pic --ranks "$ranks" --extent 16x16x32 --check-every 1000 --steps 200 --json "$out"
    "$tca" trigger --ranks "$ranks" --events 100000 --rate $((20000 * ranks)) --json "$out"
  done
done
python3 - "$out" << 'END'
import collections, json, statistics, sys

medians = collections.defaultdict(list)
for record in map(json.loads, open(sys.argv[1])):
    medians[record["bench"], str(record.get("extents", record["n"])), record["ranks"]].append(record["median_us"])
for bench, what, ranks in sorted(medians):
    if ranks == 1 and (bench, what, 2) in medians and bench != "trigger":
        one, two = (statistics.median(medians[bench, what, ranks]) for ranks in (1, 2))
        print(f"{bench:<24}{what:<16}{one:>12.1f}{two:>12.1f} us{one / two:>8.2f} times as fast")
END
