"""The variables of the environment: environment.py SOURCE_DIR

The table in src/base/system/environment.hpp and the one in docs/guide.md name the same ones; nothing in the sources names another, and
nothing reads the environment past the table but what asks for variables that are not OpenTCA's.
"""

import pathlib
import re
import sys

TABLE = "src/base/system/environment.hpp"
# Of what these read, nothing is OpenTCA's: where a launcher has put a rank, where programs and homes are, what a job is,
# which GPUs are hidden, what the terminal can do.
FOREIGN = {
    "src/base/system/environment.cpp",  # reads for all others
    "src/boot/launch_info.cpp",
    "src/route/tuning.cpp",
    "cli/gpus.cpp",
    "tools/tca/info.cpp",  # prints the table
    "tools/tca/mpi/mpi.cpp",  # reads launchers'
    "cli/launch/mpirun.cpp",
    "cli/launch/placement.cpp",
    "cli/launch/started.cpp",
    "cli/output/progress.cpp",
}


def find_problems(files):
    """Problems as sentences; `files` are texts by path."""
    table = set(re.findall(r'Variable\{"(\w+)"', files[TABLE]))
    section = re.search(r"\n## Environment\n(.*?)\n## ", files["docs/guide.md"], re.DOTALL).group(1)
    rows = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`[^|]*)\|", section, re.MULTILINE))))
    problems = [f"docs/guide.md: its table of variables lacks {name}, which {TABLE} has" for name in sorted(table - rows)]
    problems += [f"docs/guide.md: {name} is in its table of variables, and not in {TABLE}" for name in sorted(rows - table)]
    for path, text in sorted(files.items()):
        if path == TABLE or not path.endswith((".cpp", ".hpp", ".cu", ".cuh")):
            continue
        unknown = {name for name in re.findall(r'"(OPENTCA_\w+)"', text) if not name.startswith("OPENTCA_TEST_")} - table
        problems += [f"{path}: {name} is not in {TABLE}" for name in sorted(unknown)]
        if re.search(r"\bgetenv\(", text) and path not in FOREIGN:
            problems.append(f"{path}: getenv; read the variable through base::variable or base::set_variable")
    return problems


def main():
    source = pathlib.Path(sys.argv[1])
    names = [name for folder in ("src", "tools", "apps", "bench", "include") for name in (source / folder).rglob("*.*")]
    names += [source / "docs/guide.md"]
    texts = {str(name.relative_to(source)): name.read_text() for name in names if name.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".md")}
    sys.exit("\n".join(find_problems(texts)) or None)


if __name__ == "__main__":
    main()
