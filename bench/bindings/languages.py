"""C, C++ and Python, and mpi4py beside them, in turn, into a record (docs/results.md, `language`):

    languages.py --tca TCA --c-calls PROGRAM --turns N FILE

bench/bindings.sh builds all of it and calls this. PYTHON's package opentca is measured; mpi4py where it is there too."""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CELLS = 256
# What steps.py calls them: the call, how many bytes a rank sends, and whose it is.
CALLS = {
    "step": ("step", 8, "python", None),
    "halo": ("halo", 4 * CELLS * 8, "python", None),
    "declare": ("declare", CELLS * 8, "python", None),
    "loop": ("loop", 0, "python", None),
    "step, mpi4py Sendrecv": ("step", 8, "python", "sendrecv"),
    "step, mpi4py persistent": ("step", 8, "python", "persistent"),
    "halo, mpi4py Sendrecv": ("halo", 4 * CELLS * 8, "python", "sendrecv"),
    "halo, mpi4py persistent": ("halo", 4 * CELLS * 8, "python", "persistent"),
}
IMPORT = "import time; begin = time.perf_counter(); import opentca; print(time.perf_counter() - begin)"


def output(command):
    # Root may start ranks, as in containers.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **allowed}).stdout


def quantile(times, part):
    """Linear between the two nearest."""
    times = sorted(times)
    at = part * (len(times) - 1)
    low = int(at)
    high = min(low + 1, len(times) - 1)
    return times[low] + (at - low) * (times[high] - times[low])


def measure(options, with_mpi):
    """Microseconds by (call, language, way of mpi4py, ranks), and what c_calls says of itself."""
    python = [sys.executable, "-B", str(HERE / "steps.py"), "json"]
    two = [options.tca, "run", "-n", "2", "--"]
    taken, compiler = {}, ""

    def add(key, times):
        taken.setdefault(key, []).extend(times)

    def add_calls(command):
        nonlocal compiler
        said = json.loads(output(command))
        compiler = said["compiler"]
        for one in said["times"]:
            add(("step", one["language"], None, one["ranks"]), [ns / 1000 for ns in one["ns"]])

    def add_steps(command):
        said = json.loads(output(command))
        for name, times in said["us"].items():
            call, _, language, way = CALLS[name]
            add((call, language, way, said["ranks"]), times)

    for _ in range(options.turns):
        add_calls([*two, options.c_calls, "20000", "5", "--json"])
        add_steps(["mpirun", "-n", "2", *python, "mpi4py"] if with_mpi else [*two, *python])
        add_calls([options.c_calls, "20000", "5", "--json"])
        add_steps(python)
        add(("import", "python", None, 1), [1e6 * float(output([sys.executable, "-B", "-c", IMPORT]))])
    return taken, compiler


def commit():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        return "unknown"
    name = output(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]).strip()
    changed = output(["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no"]).strip()
    return name + ("-dirty" if changed else "")


def hardware():
    text = Path("/proc/cpuinfo").read_text()
    name = next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name"))
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def rounded(number):
    return float(f"{number:.4g}")


def lines(taken, compiler, with_mpi):
    import numpy

    versions = {
        "opentca": importlib.import_module("opentca").__version__, "compiler": compiler, "build": "Release",
        "python": sys.version.split()[0], "numpy": numpy.__version__,
    }  # fmt: skip
    if with_mpi:
        from mpi4py import MPI

        versions |= {"mpi4py": importlib.metadata.version("mpi4py"), "mpi": MPI.Get_library_version().split(",")[0].strip()}
    sizes = {call: size for call, size, _, _ in CALLS.values()} | {"import": 0}
    for (call, language, way, ranks), times in taken.items():
        moves = call in ("step", "halo")
        middle = quantile(times, 0.5)
        line = {
            "bench": "language", "fabric": "mpi" if way else "shm" if moves else "", "protocol": way or "",
            "start": "host", "peer": "mpi4py" if way else None, "layout": "mixed" if call == "halo" else "block",
            "ranks": ranks, "n": CELLS if call == "halo" else sizes[call] // 8, "bytes": sizes[call],
            "median_us": rounded(middle), "p99_us": rounded(quantile(times, 0.99)),
            "gbps": rounded(sizes[call] / middle / 1000) if moves else None,
            "call": call, "language": language, "least_us": rounded(min(times)), "samples": len(times),
        }  # fmt: skip
        own = taken.get((call, language, None, ranks))
        if way and own:
            ratios = [theirs / ours for theirs, ours in zip(times, own)]  # of the same moment
            for name, part in (("ratio", 0.5), ("ratio_low", 0.25), ("ratio_high", 0.75)):
                line[name] = rounded(quantile(ratios, part))
        yield line | {"hardware": hardware(), "versions": versions, "commit": commit(),
                      "command": "bench/bindings.sh"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tca", required=True)
    parser.add_argument("--c-calls", required=True)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("file")
    options = parser.parse_args()
    with_mpi = bool(importlib.util.find_spec("mpi4py") and shutil.which("mpirun"))
    if not with_mpi:
        print("languages: no mpi4py or no mpirun here; nothing is measured beside OpenTCA", file=sys.stderr)
    taken, compiler = measure(options, with_mpi)
    with open(options.file, "a") as record:
        for line in lines(taken, compiler, with_mpi):
            record.write(json.dumps(line, separators=(",", ":")) + "\n")
            who = f"{line['call']}, " + (f"mpi4py {line['protocol']}" if line["peer"] else line["language"])
            ratio = f", {line['ratio']:.3g} times as long" if "ratio" in line else ""
            print(f"{who:25} {line['ranks']} rank(s) {line['median_us']:10.4g} us, least {line['least_us']:.4g}{ratio}")


if __name__ == "__main__":
    main()
