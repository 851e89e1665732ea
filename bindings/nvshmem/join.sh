#!/bin/sh
# join.sh OUTPUT OBJECT...: joins objects of the host into one, of which nobody sees more than the names of NVSHMEM's calls and of
# the functions behind them. LD, OBJCOPY and NM name the tools.
set -e
output=$1
shift
"$LD" -r --force-group-allocation -o "$output" "$@"
# objcopy hides weak names but no unique ones (static variables of inline functions), so these are made weak first.
"$NM" --defined-only "$output" | sed -n 's/^[0-9a-f]* u //p' > "$output.unique"
"$OBJCOPY" --weaken-symbols="$output.unique" "$output"
rm "$output.unique"
"$OBJCOPY" --wildcard --keep-global-symbol='tca_nvshmem*' --keep-global-symbol='_ZN3tca7nvshmem*' "$output"
