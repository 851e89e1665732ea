"""What `make docs` builds from is complete: site.py SOURCE_DIR [DOXYGEN]

- The contents in docs/site/contents.md list every page of docs/ and of the top folder.
- Every public header begins with what it is for, as a comment that Doxygen takes.
- With the path of Doxygen: it reads the public headers without a warning.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])
errors = []


def check_contents():
    listed = re.findall(r"^[\w/*-]+$", (source / "docs/site/contents.md").read_text(), re.MULTILINE)
    pages = {str(path.relative_to(source).with_suffix("")) for folder in ("", "docs") for path in (source / folder).glob("*.md")}
    pages.remove("README")  # the first page shows it
    for page in sorted(pages - set(listed)):
        errors.append(f"docs/site/contents.md does not list {page}")


def check_headers():
    for path in (source / "include/tca").iterdir():
        if path.is_file() and not path.read_text().startswith("/// @file\n"):
            errors.append(f"{path.relative_to(source)} does not begin with `/// @file` and what it is for")


def check_reference(doxygen):
    with tempfile.TemporaryDirectory() as folder:
        settings = (source / "docs/site/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {folder}\n"
        done = subprocess.run([doxygen, "-"], input=settings, cwd=source, capture_output=True, text=True)
    errors.extend(line for line in (done.stdout + done.stderr).splitlines() if line)


if len(sys.argv) > 2:
    check_reference(sys.argv[2])
else:
    check_contents()
    check_headers()
sys.exit("\n".join(errors) if errors else 0)
