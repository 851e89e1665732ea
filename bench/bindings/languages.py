"""C, C++ and Python, and mpi4py beside them, in turn, into a record (docs/results.md, `language`):

    languages.py --tca TCA --c-calls PROGRAM --turns N FILE
    languages.py --tca TCA --graph-steps PROGRAM --turns N FILE      on two GPUs, with what gpu_steps.py finds there

bench/bindings.sh and bench/bindings_gpu.sh build all of it and call this."""

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
SIZES = {call: size for call, size, _, _ in CALLS.values()} | {"import": 0}
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
    """Microseconds by (call, language, way of mpi4py, ranks, start), and what compiled c_calls."""
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
            add(("step", one["language"], None, one["ranks"], "host"), [ns / 1000 for ns in one["ns"]])

    def add_steps(command):
        said = json.loads(output(command))
        for name, times in said["us"].items():
            call, _, language, way = CALLS[name]
            add((call, language, way, said["ranks"], "host"), times)

    for _ in range(options.turns):
        add_calls([*two, options.c_calls, "20000", "5", "--json"])
        add_steps(["mpirun", "-n", "2", *python, "mpi4py"] if with_mpi else [*two, *python])
        add_calls([options.c_calls, "20000", "5", "--json"])
        add_steps(python)
        add(("import", "python", None, 1, "host"), [1e6 * float(output([sys.executable, "-B", "-c", IMPORT]))])
    return taken, compiler


def measure_on_gpus(options):
    """The same, and what the GPUs are."""
    two = [options.tca, "run", "-n", "2", "--"]
    python = [sys.executable, "-B", str(HERE / "gpu_steps.py"), "json"]
    taken, compiler, gpus = {}, "", ""
    for _ in range(options.turns):
        for language, command in (("c++", [options.graph_steps, "--json"]), ("python", python)):
            said = json.loads(output([*two, *command]))
            compiler, gpus = said.get("compiler", compiler), said.get("hardware", gpus)
            for one in said["times"]:
                taken.setdefault((one["call"], language, one["way"], 2, one["start"]), []).extend(one["us"])
    return taken, compiler, gpus


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


def versions(compiler, on_gpus, with_mpi):
    import numpy

    said = {
        "opentca": importlib.import_module("opentca").__version__, "compiler": compiler, "build": "Release",
        "python": sys.version.split()[0], "numpy": numpy.__version__,
    }  # fmt: skip
    if with_mpi:
        from mpi4py import MPI

        said |= {"mpi4py": importlib.metadata.version("mpi4py"), "mpi": MPI.Get_library_version().split(",")[0].strip()}
    for name in ("cupy", "torch", "nvshmem") if on_gpus else ():
        if importlib.util.find_spec(name):
            said[name] = getattr(importlib.import_module(name), "__version__", "unknown")
    return said


# Whose call it is: the fabric, the peer, and whom it is compared with, the same call of OpenTCA in Python.
def whose(call, way, on_gpus):
    if on_gpus:
        peer = {"nccl": "nccl", "nvshmem4py": "nvshmem"}.get(way)
        return peer or "cuda", peer, "cupy"
    if way:
        return "mpi", "mpi4py", None
    return "shm" if call in ("step", "halo") else "", None, None


def lines(taken, hardware, versions, command):
    for (call, language, way, ranks, start), times in taken.items():
        fabric, peer, compared = whose(call, way, "cupy" in versions)
        moves, middle = call in ("step", "halo"), quantile(times, 0.5)
        line = {
            "bench": "language", "fabric": fabric, "protocol": way or "", "start": start, "peer": peer,
            "layout": "mixed" if call == "halo" else "block", "ranks": ranks,
            "n": CELLS if call == "halo" else SIZES[call] // 8, "bytes": SIZES[call],
            "median_us": rounded(middle), "p99_us": rounded(quantile(times, 0.99)),
            "gbps": rounded(SIZES[call] / middle / 1000) if moves else None,
            "call": call, "language": language, "least_us": rounded(min(times)), "samples": len(times),
        }  # fmt: skip
        own = taken.get((call, "python", compared, ranks, start))
        if peer and own:
            ratios = [theirs / ours for theirs, ours in zip(times, own)]  # of the same moment
            for name, part in (("ratio", 0.5), ("ratio_low", 0.25), ("ratio_high", 0.75)):
                line[name] = rounded(quantile(ratios, part))
        yield line | {"hardware": hardware, "versions": versions, "commit": commit(), "command": command}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tca", required=True)
    parser.add_argument("--c-calls")
    parser.add_argument("--graph-steps")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("file")
    options = parser.parse_args()
    on_gpus = options.graph_steps is not None
    with_mpi = not on_gpus and bool(importlib.util.find_spec("mpi4py") and shutil.which("mpirun"))
    if on_gpus:
        taken, compiler, gpus = measure_on_gpus(options)
        machine, command = f"{gpus}; {hardware()}", "bench/bindings_gpu.sh"
    else:
        if not with_mpi:
            print("languages: no mpi4py or no mpirun here; nothing is measured beside OpenTCA", file=sys.stderr)
        taken, compiler = measure(options, with_mpi)
        machine, command = hardware(), "bench/bindings.sh"
    with open(options.file, "a") as record:
        for line in lines(taken, machine, versions(compiler, on_gpus, with_mpi), f"TURNS={options.turns} {command}"):
            record.write(json.dumps(line, separators=(",", ":")) + "\n")
            who = f"{line['call']}, {line['language']} {line['protocol']}".rstrip()
            ratio = f", {line['ratio']:.3g} times as long" if "ratio" in line else ""
            print(
                f"{who:25} {line['start']:6} {line['ranks']} rank(s) {line['median_us']:10.4g} us, "
                f"least {line['least_us']:.4g}{ratio}"
            )


if __name__ == "__main__":
    main()
