#!/usr/bin/env python3
"""Fits the numbers of a machine file that nothing else determines to the published point-to-point rows: a
developer's tool, with SciPy (docs/model.md, "Fitting").

    tools/fit/fit.py ha-pacs-tca --write
"""
import argparse
import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNEE = 0.03  # of the loss: quadratic below, linear above, so that rows out of reach do not spoil the others
STEP = 0.02  # of a logarithm, for derivatives: large, since the model moves in packets
REACH = 4  # the factor by which a number may move
SIZES = ("B", "KiB", "MiB", "GiB")


def refuse(text):
    sys.exit(f"fit.py: {text}")


class Number:
    """A number whose source begins with "fit: ", and where its digits stand in the file."""

    def __init__(self, key, table, line, span):
        self.key, self.line, self.span = key, line, span
        self.value, self.unit, self.source = table["value"], table.get("unit", ""), table.get("fitted", "")
        follows = re.match(r"fit: same as ([^\s,;]+)", self.source)
        self.leader = follows and follows[1]

    def is_free(self):
        # Counts and sizes change in steps, which derivatives do not see.
        smooth = self.unit not in SIZES and (self.unit or self.value < 1)
        moved = self.source.startswith("fit: ") and not self.source.startswith("fit: a choice")
        return moved and not self.leader and smooth and self.value > 0


def keys_of(tree, path=()):
    for key, value in tree.items():
        yield from keys_of(value, (*path, key)) if isinstance(value, dict) and value else [(*path, key)]


def numbers_in(lines):
    path = ()
    for at, line in enumerate(lines):
        code = re.sub(r'"[^"]*"', lambda text: '"' + "_" * (len(text[0]) - 2) + '"', line)  # same columns, no words
        if re.fullmatch(r"\s*\[[^\[\],]+\]\s*(#.*)?", code):
            (path,) = keys_of(tomllib.loads(line))
        digits = re.search(r"[{,]\s*value\s*=\s*([-+.\w]+)", code)
        if not digits or not re.match(r"\s*[\w-]+\s*=", code):
            continue
        ((key, table),) = tomllib.loads(line).items()
        yield Number("/".join((*path, key)), table, at, digits.span(1))


class Fit:
    def __init__(self, options, folder):
        self.tca, self.figures, self.folder = options.tca, options.figures, Path(folder)
        given = Path(options.machine)
        self.file = given if given.suffix == ".toml" else Path(options.machines) / f"{given}.toml"
        if not self.file.exists():
            refuse(f"there is no machine `{options.machine}`: {self.file} is not there")
        for machine in (*Path(options.machines).glob("*.toml"), *self.file.parent.glob("*.toml")):
            shutil.copy(machine, self.folder)
        self.lines = self.file.read_text().split("\n")
        self.numbers = list(numbers_in(self.lines))
        self.free = [number for number in self.numbers if number.is_free() and options.only in number.key]
        if not self.free:
            refuse(f'{self.file} has no numbers to fit: none with `{options.only}` in its key whose source begins with "fit: "')

    def text(self, values):
        """The file with these values of the free numbers, and of those that follow them."""
        found = {number.key: value for number, value in zip(self.free, values)}
        lines = list(self.lines)
        for number in self.numbers:
            value = found.get(number.leader or number.key)
            if value is not None:
                first, last = number.span
                lines[number.line] = lines[number.line][:first] + f"{value:.6g}" + lines[number.line][last:]
        return "\n".join(lines)

    def rows(self, values):
        (self.folder / self.file.name).write_text(self.text(values))
        done = subprocess.run(
            [self.tca, "scorecard", "--json", "--use", "fitted", "--of", self.file.stem, "--figures", self.figures],
            capture_output=True,
            text=True,
            env={**os.environ, "OPENTCA_MACHINES": str(self.folder)},
        )
        if done.returncode != 0:
            refuse(done.stderr.strip())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def errors(self, logarithms):
        return [math.inf if row["error"] is None else row["error"] for row in self.rows(map(math.exp, logarithms))]

    def solve(self, rounds):
        import numpy
        from scipy.optimize import least_squares

        start = numpy.log([number.value for number in self.free])

        def slopes(at):
            here = numpy.array(self.errors(at))
            moved = (at + STEP * one for one in numpy.eye(len(at)))
            return numpy.column_stack([(numpy.array(self.errors(there)) - here) / STEP for there in moved])

        reach = math.log(REACH)
        found = least_squares(
            lambda at: numpy.array(self.errors(at)), start, jac=slopes, bounds=(start - reach, start + reach),
            loss="huber", f_scale=KNEE, xtol=1e-4, ftol=1e-4, max_nfev=rounds,
        )  # fmt: skip
        return [float(f"{value:.3g}") for value in numpy.exp(found.x)]  # the rows do not determine more

    def report(self, before, after, values):
        print(f"{'number':<44}{'before':>12}{'after':>12}  unit")
        for number, value in zip(self.free, values):
            print(f"{number.key:<44}{number.value:>12.4g}{value:>12.4g}  {number.unit}")
        print(f"\n{'row':<70}{'published':>14}{'after':>12}{'before %':>10}{'after %':>10}")
        for was, now in zip(before, after):
            point, said, _ = now["config"].partition("; ")
            name = f"{now['source']} {now['figure']} {point if said else ''}"
            print(f"{name:<70}{now['published']:>14}{now['model']:>12.4g}{was['error'] * 100:>+10.1f}{now['error'] * 100:>+10.1f}")

    def write(self, values):
        """Leaves every other letter of the file as it is, and the file whole whatever happens."""
        draft = self.file.with_name(self.file.name + ".unfinished")
        try:
            draft.write_text(self.text(values))
            shutil.copymode(self.file, draft)
            draft.replace(self.file)
        except OSError as error:
            with contextlib.suppress(OSError):
                draft.unlink()
            refuse(f"{self.file}: cannot be written: {error.strerror}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", help="machine to fit: the name or the path of a machine file")
    parser.add_argument("--only", default="", help="fit only numbers whose key contains this text, such as mpi/")
    parser.add_argument("--rounds", type=int, default=12, help="greatest number of rounds (default %(default)s)")
    parser.add_argument("--machines", default=ROOT / "machines", help="folder of the machine files")
    parser.add_argument("--figures", default=ROOT / "machines/published", help="folder of the published figures")
    parser.add_argument("--tca", default=ROOT / "build/release/bin/tca", help="command line to run")
    parser.add_argument("--write", action="store_true", help="write the fitted values into the machine file")
    options = parser.parse_args()
    try:
        import scipy  # noqa: F401
    except ImportError:
        refuse("it needs SciPy (Debian, Ubuntu: apt-get install python3-scipy)")
    with tempfile.TemporaryDirectory() as folder:
        fit = Fit(options, folder)
        before = fit.rows([number.value for number in fit.free])
        if not before:
            refuse(f"no figure that may be fitted to names {fit.file.stem}")
        values = fit.solve(options.rounds)
        fit.report(before, fit.rows(values), values)
        if options.write:
            fit.write(values)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        refuse(f"{error.filename}: {error.strerror}")
