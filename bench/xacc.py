#!/usr/bin/env python3
"""Measures programs with directives beside the applications that do the same by hand, and appends a line of JSON for each:

    bench/xacc.py [--ranks 2] [--rounds 15] [--threads 1] [--build build/release] [--json FILE]
    bench/xacc.py --ranks 8 --only halves               beside itself over MPI alone; wants a core for each rank
    bench/xacc.py --acc cuda --start graph --only "cg S"   on GPUs, beside an application whose steps a graph starts

A round runs the application and the program one after the other, in turns the one or the other first, so that what else a
machine does comes to both. A time is the median over a run's iterations or steps, a ratio that of a round; what is printed is
the median over the rounds, and between which ratios half of them lie. `halves` runs Himeno in two sub-clusters of half the
ranks each, with MPI between them, and over MPI alone. The translation of a file of 1,000 lines and
`reflect_do` beside a halo's run (bench/bindings/xacc_reflect.cpp) are measured too. Standard library only."""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
# What the program is built with, what the application is told, and how the program is called. The application's sweep of
# Himeno has AVX2 as well; its product of CG adds in four chains by hand, which a compiler may do with gathers alone.
AVX2, NATIVE = ["-mavx2"], ["-march=native"]
CASES = {
    "himeno S": ("himeno.c", AVX2, ["himeno", "--size", "S", "--iterations", "200", "--no-check"], ["200"]),
    "himeno M": ("himeno.c", [*AVX2, "-DMI=128", "-DMJ=128", "-DMK=256"], ["himeno", "--size", "M", "--iterations", "40", "--no-check"], ["40"]),
    "cg S": ("cg.c", NATIVE, ["cg", "--class", "S"], []),
    "cg W": ("cg.c", [*NATIVE, "-DCLASS=W"], ["cg", "--class", "W"], []),
    "cg A": ("cg.c", [*NATIVE, "-DCLASS=A"], ["cg", "--class", "A"], []),
}

# Programs with directives, and what applications have by hand in their place.
COUNTED = {
    "himeno.c": ["examples/xacc/himeno.c"],
    "himeno: who has what, MPI": [f"apps/himeno/{file}" for file in ("partition.cpp", "partition.hpp", "exchange.hpp", "mpi_exchange.cpp")],
    "himeno: CUDA and NCCL": [f"apps/himeno/gpu/{file}" for file in ("nccl_exchange.cpp", "nccl_pack.cu", "nccl_pack.hpp", "sweep.cu", "cells.cuh", "kernels.hpp",
                                                                     "solver.cpp", "solver.hpp")],
    "cg.c": ["examples/xacc/cg.c"],
    "cg: who has what, MPI": [f"apps/cg/{file}" for file in ("partition.cpp", "partition.hpp", "exchange.hpp", "exchange.cpp", "mpi_exchange.cpp")],
    "cg: CUDA and NCCL": [f"apps/cg/{file}" for file in ("peers/nccl_exchange.cpp", "gpu/steps.cu", "gpu/step_way.cpp", "gpu/kernels.hpp", "gpu/matrix.cpp", "gpu/matrix.hpp",
                                                         "gpu/messages.cpp", "gpu/messages.hpp")],
    "ring.c": ["examples/xacc/ring.c"],
}  # fmt: skip


def grid_of(application, ranks):
    return ["--grid", f"{ranks}x1x1" if application == "himeno" else f"{ranks}x1"]


class Bench:
    def __init__(self, options):
        self.options = options
        self.bin = (SOURCE / options.build / "bin").resolve()
        self.tca, self.xmpcc = str(self.bin / "tca"), str(self.bin / "xmpcc")
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}

    def run(self, *words):
        return subprocess.run(words, check=True, capture_output=True, text=True, env=self.environment).stdout

    def application(self, words):
        record = self.folder / "record.json"
        record.unlink(missing_ok=True)
        gpus = ["--fabric", "cuda", "--start", self.options.start] if self.options.acc == "cuda" else []
        self.run(self.tca, *words, *gpus, "--ranks", str(self.options.ranks), "--json", str(record))
        return json.loads(record.read_text().splitlines()[0])

    def program(self, file, arguments, *where):
        said = self.run(self.tca, "run", "-n", str(self.options.ranks), *where, "--", str(file), *arguments)
        return float(re.search(r"median ([0-9.]+) us", said)[1])

    def compiled(self, name, *more):
        source, flags, _, _ = CASES[name]
        file = self.folder / name.replace(" ", "_")
        threads = ["--no-openmp"] if self.options.threads == 1 else []
        self.run(self.xmpcc, "--acc", self.options.acc, "-O3", "-fno-math-errno", *threads, *flags, *more, str(SOURCE / "examples/xacc" / source), "-o", str(file), "-lm")
        return file

    def halves(self):
        """Sub-clusters share out the first dimension and their ranks the second one, so that rows cross between these."""
        half = self.options.ranks // 2
        over = {"both": ["--fabric", "shm+mpi", "--sub-cluster", str(half)], "mpi": ["--fabric", "mpi"]}
        for name in ("himeno S", "himeno M"):
            _, _, words, arguments = CASES[name]
            file = self.compiled(name, f"-DNJ={half}")
            record = self.application([*words, *over["both"], "--grid", f"2x{half}x1"])
            times = {way: [] for way in over}
            for turn in range(self.options.rounds):
                for way in list(over) if turn % 2 == 0 else reversed(list(over)):
                    times[way].append(self.program(file, arguments, *over[way]))
            print(f"tca himeno: {record['median_us']:.2f} us; ", end="")
            self.report(name, "two sub-clusters", times["both"], "over MPI alone", times["mpi"], record)

    def case(self, name):
        _, _, words, arguments = CASES[name]
        file = self.compiled(name)
        theirs, ours, record = [], [], None
        for turn in range(self.options.rounds):
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                if which == 0:
                    record = self.application([*words, *grid_of(words[0], self.options.ranks)])
                    theirs.append(record["median_us"])
                else:
                    ours.append(self.program(file, arguments))
        self.report(name, "directives", ours, "tca " + words[0], theirs, record)

    def report(self, name, what, ours, peer, theirs, record):
        ratios = [our / their for our, their in zip(ours, theirs)]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        best = min(ours) / min(theirs)
        print(f"{name}, {self.options.ranks} ranks: {what} {statistics.median(ours):.2f} us, {peer} {statistics.median(theirs):.2f} us; ratio {middle:.3f} ({low:.3f} to {high:.3f}), of the fastest {best:.3f}", flush=True)
        if not self.options.json:
            return
        kept = {key: record[key] for key in ("fabric", "ranks", "n", "layout", "hardware", "versions", "commit")}
        line = {"bench": "xacc", "program": name, "peer": peer, **kept, "start": self.options.start, "rounds": len(ratios), "median_us": statistics.median(ours),
                "peer_us": statistics.median(theirs), "ratio": round(middle, 4), "ratio_low": round(low, 4), "ratio_high": round(high, 4),
                "ratio_of_fastest": round(best, 4), "command": " ".join(["bench/xacc.py", *sys.argv[1:]]), "date": datetime.date.today().isoformat()}  # fmt: skip
        with open(self.options.json, "a") as file:
            file.write(json.dumps(line) + "\n")

    def translation(self):
        """Of a file of 1,000 lines: loops over distributed arrays, one after the other."""
        head = "double a[512], b[512];\n#pragma xmp nodes p[*]\n#pragma xmp template t[512]\n#pragma xmp distribute t[block] onto p\n#pragma xmp align [i] with t[i] :: a, b\n#pragma xmp shadow a[1]\nvoid f(void) {\n"
        loop = "#pragma xmp reflect (a)\n#pragma xmp loop on t[i]\n#pragma acc parallel loop\n  for (int i = 1; i < 511; i++) {\n    b[i] = a[i - 1] + a[i + 1];\n  }\n"
        file = self.folder / "long.c"
        file.write_text(head + loop * ((1000 - 8) // 6) + "}\n")
        times = []
        for _ in range(self.options.rounds):
            begin = time.monotonic()
            self.run(self.xmpcc, "--emit", str(file), "-o", str(self.folder / "long.out"))
            times.append(time.monotonic() - begin)
        print(f"translation of {len(file.read_text().splitlines())} lines: {statistics.median(times):.3f} s, at best {min(times):.3f}", flush=True)

    def reflect(self):
        program = SOURCE / self.options.build / "bench" / "xacc_reflect"
        if program.exists():
            print(self.run(self.tca, "run", "-n", str(self.options.ranks), "--", str(program)).strip(), flush=True)

    def lines(self):
        """Lines that are neither empty nor comments alone; directives are counted as lines, and by themselves as well."""
        for what, files in COUNTED.items():
            texts = [re.sub(r"/\*.*?\*/|//[^\n]*", "", (SOURCE / file).read_text(), flags=re.DOTALL) for file in files]
            lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
            directives = sum(line.startswith(("#pragma xmp", "#pragma acc")) for line in lines)
            print(f"{what}: {len(lines)} lines, {directives} of them directives")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--acc", choices=["cpu", "cuda"], default="cpu", help="where compute regions and applications run")
    parser.add_argument("--start", choices=["host", "graph", "kernel"], default="host", help="what starts an application's steps on GPUs")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--only", choices=[*CASES, "halves", "translation", "reflect", "lines"], action="append")
    parser.add_argument("--json")
    bench = Bench(parser.parse_args())
    for name in bench.options.only or [*CASES, "translation", "reflect", "lines"]:
        others = {"halves": bench.halves, "translation": bench.translation, "reflect": bench.reflect, "lines": bench.lines}
        others.get(name, lambda: bench.case(name))()


if __name__ == "__main__":
    main()
