#!/usr/bin/env bash
# The manual pages are roff without warnings and complete, and the completion completes: check_pages.sh PREFIX
set -eu
prefix=$1
fail() { echo "$*"; exit 1; }

for page in "$prefix"/share/man/man1/*.1; do
  for section in NAME SYNOPSIS OPTIONS; do
    grep -q "^.SH $section" "$page" || [ "$section" = OPTIONS ] || fail "$page has no $section"
  done
  if command -v groff > /dev/null; then
    warnings=$(groff -man -Tascii -ww -z "$page" 2>&1)
    [ -z "$warnings" ] || fail "$page: $warnings"
  fi
done
grep -q '^.B \\-n, \\-\\-ranks N$' "$prefix/share/man/man1/tca-run.1" || fail "tca-run.1 has no --ranks"
grep -q '^.SH OPTIONS OF invert$' "$prefix/share/man/man1/tca-qcd.1" || fail "tca-qcd.1 has nothing of invert"
grep -q '^.B OPENTCA_TIME_LIMIT$' "$prefix/share/man/man1/tca.1" || fail "tca.1 has no variables"

. "$prefix/share/bash-completion/completions/tca"
# completes EXPECTED WORDS...: of a command line whose last word is being typed
completes() {
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _tca
  [ "${COMPREPLY[*]}" = "$expected" ] || fail "completion of '$*' is '${COMPREPLY[*]}', not '$expected'"
}
completes "himeno" tca hi
completes "--fabric" tca himeno --fab
completes "shm shm+mpi sim" tca himeno --fabric s
completes "--kappa" tca qcd invert --kap
completes "invert" tca qcd inv
completes "kernel,graph" tca bench put --start kernel,gr
completes "pingpong put" tca bench p
completes "" tca run -n 2 -- --fab
completes "" tca himeno --json --fab
