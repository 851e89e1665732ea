"""Records of bench/results/, and how their figures are written in tables."""

import functools
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def records(name):
    text = (ROOT / "bench/results" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def chosen(names, **fields):
    """The records of one or several files that have these fields; a field may be given as several values."""

    def has(record):
        return all(
            record.get(key) in value if isinstance(value, (tuple, list)) else record.get(key) == value
            for key, value in fields.items()
        )

    return [record for name in ([names] if isinstance(names, str) else names) for record in records(name) if has(record)]


def fastest(found):
    """Of some records that with the least median, or None."""
    return min(found, key=lambda record: record["median_us"], default=None)


def row(*cells):
    return re.sub(r"(?<=\|)  (?=\|)", " ", f"| {' | '.join(map(str, cells))} |")


def rule(columns):
    return "|" + "---|" * columns


def number(value):
    """Three digits, as far as they say something."""
    if value >= 9999.5:
        return f"{value:,.0f}"
    places = 0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value >= 0.3 else 3
    return f"{value:.{places}f}"


def us(record, digits=number):
    return "" if record is None else digits(record["median_us"])


def size(count):
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def ratio(peer, own):
    """A peer's time over OpenTCA's: by rounds where both were measured in turn, otherwise of the medians."""
    in_turn = peer.get("ratio") if peer["command"] == own["command"] else None
    return in_turn if in_turn is not None else peer["median_us"] / own["median_us"]


def turns(name, bench, **fields):
    """OpenTCA's records of a benchmark, each with those of the peers that were measured in turn with it."""
    found = []
    for record in records(name):
        if record["bench"] != bench:
            continue
        if record["peer"] is None:
            found.append((record, []))
        elif found:
            found[-1][1].append(record)
    return [(own, peers) for own, peers in found if all(own.get(key) == value for key, value in fields.items())]


def in_words(peer, own):
    """The ratio to a peer, or that the two are not told apart (docs/results.md)."""
    if "ratio_low" in peer and peer["ratio_low"] <= 1 <= peer["ratio_high"]:
        return "the same"
    return f"{ratio(peer, own):.1f}"
