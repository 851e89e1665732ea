#!/usr/bin/env python3
"""Writes the tables of README.md and docs/ that are made from records and from what programs print, in place: bench/tables.py [TCA]

A table stands between two comments, <!-- table: NAME --> and <!-- end of table -->, which the script leaves where they are;
pages/ says what is in it. bench/tables.py --check fails where a table differs from what the records in bench/results/ give."""
import re
import sys

from pages import applications, front, gpu, hosts, models
from pages.records import ROOT

PARTS = re.compile(r"(<!-- table: ([\w.-]+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

FROM_PROGRAMS = {"scorecard": models.scorecard}
FROM_RECORDS = {**models.TABLES, **gpu.TABLES, **applications.TABLES, **hosts.TABLES, **front.TABLES}


def made(name, tca):
    return FROM_RECORDS[name]() if name in FROM_RECORDS else FROM_PROGRAMS[name](tca)


def check():
    """Returns the places of tables that are not what their records give. Programs are not run."""
    wrong = []
    for page in PAGES:
        for _, name, table, _ in PARTS.findall(page.read_text(encoding="utf-8")):
            if name not in FROM_RECORDS and name not in FROM_PROGRAMS:
                wrong.append(f"{page.relative_to(ROOT)}: no table is called `{name}`; bench/pages/ has their names")
            elif name in FROM_RECORDS and table != "\n".join(made(name, None)) + "\n":
                wrong.append(f"{page.relative_to(ROOT)}: the table `{name}` is not what its records give; run bench/tables.py")
    return wrong


def main(tca=str(ROOT / "build/release/bin/tca")):
    if tca == "--check":
        wrong = check()
        print("\n".join(wrong), file=sys.stderr)
        return 1 if wrong else 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = PARTS.sub(lambda part: part[1] + "\n".join(made(part[2], tca)) + "\n" + part[4], text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"tables: {page.relative_to(ROOT)} has changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
