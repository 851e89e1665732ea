"""Reads files of results, one JSON object a line (docs/results.md)."""

import json


class Refused(Exception):
    """Told to the user in one line."""


def read(paths, check):
    """All of them. `check(record, where)` raises Refused for what is not such a record."""
    records = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            try:
                for number, line in enumerate(file, 1):
                    if not line.strip():
                        continue
                    try:
                        record = json.loads(line)
                    except ValueError as error:
                        raise Refused(f"{path}:{number}: not JSON: {error}") from None
                    check(record, f"{path}:{number}")
                    records.append(record)
            except UnicodeDecodeError:
                raise Refused(f"{path}: not text") from None
    return records


def having(keys, what):
    """A check that demands these keys, and says otherwise that this is not a line of `what`."""

    def check(record, where):
        if not isinstance(record, dict) or not keys <= record.keys():
            raise Refused(f"{where}: not a line of {what}")

    return check


def first(path):
    """The first record of a file; an empty one where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.loads(file.readline())
        return record if isinstance(record, dict) else {}
    except (OSError, ValueError):
        return {}
