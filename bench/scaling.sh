#!/usr/bin/env bash
# Models the scaling of applications on clusters of 8 to 4,096 GPUs, hybrid (NVLink in a box, the network between boxes)
# and by the network alone, and writes the records: bench/scaling.sh FILE.jsonl [TCA]. Minutes on two cores.
# PROGRAMS names some of "himeno cg qcd fft", GPUS some of the numbers of GPUs.
set -eu
cd "$(dirname "$0")/.."
file=${1:?give the file to write, such as bench/results/DATE-model-scaling.jsonl}
tca=${2:-build/release/bin/tca}
export OPENTCA_MACHINES=${OPENTCA_MACHINES:-$PWD/machines}
part=$(mktemp --suffix .jsonl)
trap 'rm -f "$part"' EXIT
: > "$file"

# model PROGRAM GPUS WHAT SIZES: an iteration of each size, by both ways
model() {
  rm -f "$part"
  "$tca" model "$1" --machine h200-4096 --ranks "$2" --iterations 1 --fidelity flow --sweep "size=$4" \
    --sweep scheme=hybrid,mpi --json "$part" > /dev/null
  sed "s/^{/{\"scaling\":\"$3\",/; s#$part#scaling.jsonl#" "$part" >> "$file"
}

declare -A sizes=(
  [himeno]=64x64x64,128x64x64,256x128x128,512x256x256,1024x512x512,2048x1024x1024
  [cg]=S,A,B,C,D
  [qcd]=16x16x16x32,32x32x32x32,32x32x32x64,64x64x64x64,64x64x64x128
  [fft]=64x64x64,128x128x128,256x256x256,512x512x512
)
declare -A strong=([himeno]=1024x512x512 [cg]=D [qcd]=64x64x64x128 [fft]=512x512x512)
declare -A weak=(
  [himeno8]=512x256x256 [himeno64]=1024x512x512 [himeno512]=2048x1024x1024 [himeno4096]=4096x2048x2048
  [cg8]=32768x240 [cg64]=262144x240 [cg512]=2097152x240 [cg4096]=16777216x240
  [qcd8]=32x32x32x32 [qcd64]=64x64x64x32 [qcd512]=64x64x128x128 [qcd4096]=128x128x128x256
  [fft8]=128x128x128 [fft64]=256x256x256 [fft512]=512x512x512 [fft4096]=1024x1024x1024
)
for program in ${PROGRAMS:-himeno cg qcd fft}; do
  for gpus in ${GPUS:-8 64 512 4096}; do
    model "$program" "$gpus" strong "${strong[$program]}"
    model "$program" "$gpus" weak "${weak[$program$gpus]}"
  done
  model "$program" 64 sizes "${sizes[$program]}"
done
