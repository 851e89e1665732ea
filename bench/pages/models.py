"""The model against published figures, and four applications on modelled clusters."""

import itertools
import json
import statistics
import subprocess

from pages.records import records, row


def percent(value):
    return f"{100 * value:+.1f} %"


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


SCALING = "2026-11-28-model-scaling"
PROGRAMS = {"himeno": "Himeno", "cg": "CG", "qcd": "lattice QCD", "fft": "FFT"}


def both_ways(kind):
    """Pairs of records, hybrid and by the network alone, of one program, size and number of GPUs."""
    of_kind = [record for record in records(SCALING) if record["scaling"] == kind]
    for _, pair in itertools.groupby(of_kind, lambda r: (r["bench"], r["ranks"], r["point"].split()[0])):
        hybrid, alone = sorted(pair, key=lambda r: r["protocol"] != "hybrid")
        yield hybrid, alone


def size_of(record):
    return record["point"].split()[0].removeprefix("size=")


def scaling():
    yield row("application", "problem", "GPUs", "size", "grid", "hybrid, µs", "network alone, µs", "ratio")
    yield "|---|---|---|---|---|---|---|---|"
    pairs = [(kind, *pair) for kind in ("strong", "weak") for pair in both_ways(kind)]
    for kind, hybrid, alone in sorted(pairs, key=lambda p: (list(PROGRAMS).index(p[1]["bench"]), p[0], p[1]["ranks"])):
        times = hybrid["mean_us"], alone["mean_us"]
        yield row(PROGRAMS[hybrid["bench"]], kind, hybrid["ranks"], size_of(hybrid), hybrid["layout"],
                  *(f"{us:.4g}" for us in times), f"{times[1] / times[0]:.2f}")  # fmt: skip


def scaling_sizes():
    yield row("application", "sizes and ratios, 64 GPUs")
    yield "|---|---|"
    for program, pairs in itertools.groupby(both_ways("sizes"), lambda pair: pair[0]["bench"]):
        yield row(PROGRAMS[program], ", ".join(f"{size_of(a)}: {b['mean_us'] / a['mean_us']:.2f}" for a, b in pairs))


TABLES = {"scaling": scaling, "scaling-sizes": scaling_sizes}
