"""What the pages show is there, README.md, docs/ and the rooms' own: docs.py SOURCE_DIR

- Every link within the repository leads to a file, and to a heading of it where one is named.
- Every picture of docs/ is shown by a page, with a caption below it (a paragraph in italics).
- A code block that names a file (```cpp FILE) is a part of it; one that names two (```diff OLD NEW) is a part of what
  turns one into the other.
- Every record of bench/results/ that a page names is there. The commits of records and of captions are in this
  repository's history, but for the records that docs/results.md lists. Shallow clones, trees without git and those with
  another history cannot tell.
"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap
import urllib.parse

source = pathlib.Path(sys.argv[1])
rooms = [page for folder in ("src", "apps", "cli", "tools", "bench", "tests", "examples", "verify", "bindings", "frontend", "rtl") for page in (source / folder).rglob("*.md")]
pages = sorted([*source.glob("*.md"), *(source / "docs").glob("*.md"), *rooms])
errors = []


def complain(page, what):
    errors.append(f"{page.relative_to(source)}: {what}")


def without_code(text):
    """Links in code are none."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Returns the names by which GitHub knows the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    return found


def check_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            complain(page, f"{target} leads nowhere")
        elif anchor and anchor not in anchors(file):
            complain(page, f"{target}: {file.name} has no such heading")


def check_pictures():
    captions = {}
    for page in pages:
        for picture, below in re.findall(r"^!\[[^]]*\]\(([^)]+)\)\n\n?(.*)", page.read_text(), re.MULTILINE):
            captions[(page.parent / picture).resolve()] = (page, below)
    for picture in sorted((source / "docs").glob("*.svg")):
        if picture.resolve() not in captions:
            complain(picture, "no page shows it")
        elif not captions[picture.resolve()][1].startswith("*"):
            complain(captions[picture.resolve()][0], f"{picture.name} has no caption below it")


def holds(file, lines, indented):
    """Whether the lines stand in a file, one below the other; indented alike, or as they are."""
    text = "\n".join(lines)
    if indented:
        text = textwrap.dedent(text)
        number = len(text.splitlines())
        rows = file.read_text().splitlines()
        parts = ("\n".join(rows[first : first + number]) for first in range(len(rows) - number + 1))
        return any(textwrap.dedent(part) == text for part in parts)
    return f"\n{text}\n" in f"\n{file.read_text()}\n"


def check_code(page):
    for language, names, block in re.findall(r"^```(\w+) ([\w./ ]+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        files = [source / name for name in names.split()]
        lines = block.splitlines()
        if missing := [file for file in files if not file.exists()]:
            complain(page, f"a code block names {missing[0].relative_to(source)}, which is not there")
        elif language != "diff":
            if not holds(files[0], lines, True):
                complain(page, f"this is not in {names}:\n{block}")
        else:
            for hunk in re.split(r"^@@.*\n", block, flags=re.MULTILINE):
                old = [line[1:] for line in hunk.splitlines() if line[:1] != "+"]
                new = [line[1:] for line in hunk.splitlines() if line[:1] != "-"]
                for file, part in zip(files, (old, new)):
                    if part and not holds(file, part, False):
                        complain(page, f"this change does not fit {file.name}:\n{hunk}")


def git(*arguments):
    try:
        done = subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commits_of(record):
    lines = [json.loads(line) for line in record.read_text().splitlines() if line]
    return {line["commit"].removesuffix("-dirty") for line in lines} - {"unknown"}


def check_records():
    results = source / "bench/results"
    for page in pages:
        for name in set(re.findall(r"\b\d{4}-\d\d-\d\d-[\w-]+\.jsonl", page.read_text())):
            if not (results / name).exists():
                complain(page, f"there is no record {name}")
    if git("rev-parse", "--is-shallow-repository") != "false":
        return
    outside = {}
    for record in results.glob("*.jsonl"):
        outside[record.name] = [commit for commit in commits_of(record) if git("cat-file", "-e", commit + "^{commit}") is None]
    if all(outside.values()):  # another history
        return
    for page in pages:
        for caption in re.findall(r"^!\[.*\n\n(\*(?:.+\n)+)", page.read_text(), re.MULTILINE):
            for commit in re.findall(r"\bcommit\s([0-9a-f]{7,40})\b", caption):
                if git("cat-file", "-e", commit + "^{commit}") is None:
                    complain(page, f"a caption names commit {commit}, which is not in this history")
    page = source / "docs/results.md"
    section = re.search(r"^## Records from outside this history$(.*?)(?=^## |\Z)", page.read_text(), re.DOTALL | re.MULTILINE)
    listed = set(re.findall(r"`([\w-]+\.jsonl)`", section[1])) if section else set()
    for name in sorted({name for name in outside if outside[name]} - listed):
        complain(page, f"{name} is of {', '.join(outside[name])}, which is not in this history, and is not listed")
    for name in sorted(listed - {name for name in outside if outside[name]}):
        complain(page, f"lists {name}, which is in this history, or not there")


for page in pages:
    check_links(page)
    check_code(page)
check_pictures()
check_records()
sys.exit("\n".join(errors) if errors else 0)
