#!/usr/bin/env python3
"""Counts and names what ctest ran: summary.py TITLE RESULTS.xml (JUnit, from ctest --output-junit)."""
import re
import sys
import xml.etree.ElementTree as ElementTree


def reason(case):
    """What a skipped test said, when it said why."""
    output = case.findtext("system-out") or ""
    match = re.search(r"SKIPPED: (.*)|Skipped\n(.*)", output)
    return f": {(match.group(1) or match.group(2)).strip()}" if match else ""


def main():
    title, path = sys.argv[1:]
    passed, failed, skipped = [], [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        {"run": passed, "fail": failed}.get(status, skipped).append(case)
    for word, cases in (("skipped", skipped), ("FAILED", failed)):
        for case in cases:
            print(f"  {word}  {case.get('name')}{reason(case) if cases is skipped else ''}")
    print(f"{title}: {len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
