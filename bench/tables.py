#!/usr/bin/env python3
"""Writes the tables of docs/ that are made from what programs print, in place: bench/tables.py [TCA]

A table stands between two comments, <!-- table: NAME --> and <!-- end of table -->, which the script leaves where they are."""
import itertools
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = re.compile(r"(<!-- table: ([\w-]+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)


def percent(value):
    return f"{100 * value:+.1f} %"


def row(*cells):
    return f"| {' | '.join(map(str, cells))} |".replace("|  |", "| |")


def is_number(score):
    return not isinstance(score["published"], str)


def said(score):
    """A figure's own line. A published range has no error: it is right where the model is inside."""
    unit = {"ratio": "", "us": " µs"}.get(score["unit"], f" {score['unit']}")
    published = f"{score['published']:.6g}" if is_number(score) else score["published"]
    error = percent(score["error"]) if is_number(score) or score["error"] else "right"
    return row(score["source"], score["figure"], score["use"], published + unit, f"{score['model']:.4g}", error)


def of_several(scores):
    """The line of a figure with several points."""
    errors = [abs(score["error"]) for score in scores]
    first = scores[0]
    spread = f"median {100 * statistics.median(errors):.1f} %, greatest {100 * max(errors):.0f} %"
    return row(first["source"], first["figure"], first["use"], f"{len(scores)} numbers", "", spread)


def summary(scores, use):
    ranges = [score for score in scores if score["use"] == use and not is_number(score)]
    errors = [abs(score["error"]) for score in scores if score["use"] == use and is_number(score)]
    right = f"{sum(not score['error'] for score in ranges)} of {len(ranges)}" if ranges else "none is fitted"
    beyond = sum(error > 0.3 for error in errors)
    return row(use, len(errors), f"{100 * statistics.median(errors):.1f} %", f"{100 * max(errors):.1f} %", beyond, right)


def scorecard(tca):
    printed = subprocess.run([tca, "scorecard", "--json"], check=True, capture_output=True, text=True).stdout
    scores = [score for score in map(json.loads, printed.splitlines()) if score["use"] != "unusable"]
    yield row("use", "numbers", "median error", "greatest", "beyond 30 %", "ranges, bounds and crossovers that are right")
    yield "|---|---|---|---|---|---|"
    yield summary(scores, "fitted")
    yield summary(scores, "predicted")
    yield ""
    yield row("source", "figure", "use", "published", "model", "error")
    yield "|---|---|---|---|---|---|"
    for _, figure in itertools.groupby(scores, lambda score: (score["source"], score["figure"])):
        points = list(figure)
        yield said(points[0]) if len(points) == 1 else of_several(points)


TABLES = {"scorecard": scorecard}


def main(tca=str(ROOT / "build/release/bin/tca")):
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        made = PARTS.sub(lambda part: part[1] + "\n".join(TABLES[part[2]](tca)) + "\n" + part[4], text)
        if made != text:
            page.write_text(made, encoding="utf-8")
            print(f"tables: {page.relative_to(ROOT)} has changed")


if __name__ == "__main__":
    main(*sys.argv[1:])
