"""Reads files of results, one JSON object a line (docs/results.md)."""

import functools
import json


class Refused(Exception):
    """An error that the user is told in one line."""


def read(paths, check):
    """Returns the records of all files. `check(record, where)` raises Refused for an unsuitable record."""
    records = []
    for path in paths:
        for number, record in numbered(path):
            check(record, f"{path}:{number}")
            records.append(record)
    return records


@functools.cache
def numbered(path):
    """Returns the records of a file with their line numbers. A file is read only once, since it may be a
    pipe."""
    records = []
    with open(path, encoding="utf-8") as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip():
                    records.append((number, json.loads(line)))
        except UnicodeDecodeError:
            raise Refused(f"{path}: not text") from None
        except ValueError as error:
            raise Refused(f"{path}:{number}: not JSON: {error}") from None
    return records


def having(keys, what):
    """Returns a check that demands these keys, and otherwise says that this is not a line of `what`."""

    def check(record, where):
        if not isinstance(record, dict) or not keys <= record.keys():
            raise Refused(f"{where}: not a line of {what}")

    return check


def objects(path):
    """Returns the records of a file, or none when one of them is not an object."""
    records = [record for _, record in numbered(path)]
    return records if all(isinstance(record, dict) for record in records) else []


def are_all(path, is_such):
    """Whether the file has records and `is_such(record)` holds for each of them."""
    records = objects(path)
    return bool(records) and all(is_such(record) for record in records)
