#!/usr/bin/env python3
"""Counts and names what ctest ran: summary.py TITLE RESULTS.xml (JUnit, from ctest --output-junit). With --failed before
them, the end of what each failed test said."""
import re
import sys
import xml.etree.ElementTree as ElementTree

LINES_OF_A_FAILURE = 40


def was_skipped(case):
    """Whether the test itself said so; ctest does not run what it cannot find either."""
    skipped = case.find("skipped")
    return case.get("status") == "disabled" or (skipped is not None and skipped.get("message").startswith("SKIP_"))


def reason(case):
    """What a skipped test said, when it said why."""
    output = case.findtext("system-out") or ""
    match = re.search(r"SKIPPED: (.*)|Skipped\n(.*)", output)
    return f": {(match.group(1) or match.group(2)).strip()}" if match else ""


def tell_failures(title, cases):
    for case in cases:
        print(f"--- {title}: {case.get('name')} failed")
        print(*(case.findtext("system-out") or "").splitlines()[-LINES_OF_A_FAILURE:], sep="\n")


def main():
    title, path = sys.argv[-2:]
    passed, failed, skipped = [], [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.get("status") == "run":
            passed.append(case)
        elif was_skipped(case):
            skipped.append(case)
        else:
            failed.append(case)
    if sys.argv[1] == "--failed":
        return tell_failures(title, failed)
    for word, cases in (("skipped", skipped), ("FAILED", failed)):
        for case in cases:
            print(f"  {word}  {case.get('name')}{reason(case) if cases is skipped else ''}")
    print(f"{title}: {len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
