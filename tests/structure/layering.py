#!/usr/bin/env python3
"""Holds the tree to its layering: includes point downward, apps see public headers only, vendor headers stay in
their folders, nothing includes itself in a circle, and every source is listed in a CMakeLists.txt, every proof of
rtl/formal in its proofs.py.

Usage: layering.py ROOT; prints one line a violation, FILE:LINE: RULE, and exits 1 when there is any.
"""
import re
import sys
from pathlib import Path

# Lowest first; a string is a module, the paths that belong to it. A module may include itself and whatever stands on
# a lower row; modules of one row do not see each other. A file belongs to the longest path that matches it.
LAYERS = [
    [
        "include/tca/error.hpp include/tca/fault.hpp include/tca/layout.hpp include/tca/stream.hpp include/tca/types.hpp include/tca/version.hpp"
        " include/tca/world_options.hpp include/tca/detail/api.hpp include/tca/detail/counts.hpp include/tca/detail/language.hpp"
        # What runs in kernels: a chain as they see it.
        " include/tca/device include/tca/operations.hpp"
        " include/tca/chain.cuh include/tca/engine.cuh include/tca/launch.cuh include/tca/produced.cuh include/tca/team.cuh include/tca/window.cuh"
    ],
    ["src/base"],
    ["src/control"],
    ["src/control/shm", "src/control/mpi"],
    ["src/model/des"],
    ["src/model/machine"],
    ["src/model/net"],
    ["src/model/nic", "src/model/mpi"],
    ["src/model/rtl"],
    ["src/fabric"],
    ["src/fabric/shm", "src/fabric/cuda", "src/fabric/mpi", "src/fabric/sim"],
    ["src/route", "src/boot"],
    ["src/core include/tca/window.hpp include/tca/raw/window.hpp include/tca/detail/moved.hpp include/tca/chain.hpp include/tca/counted.hpp include/tca/post.hpp include/tca/produced.hpp include/tca/team.hpp include/tca/timing.hpp include/tca/world.hpp"],
    [
        "src/halo include/tca/fold.hpp include/tca/grid.hpp include/tca/halo.hpp",
        "src/coll include/tca/coll.hpp include/tca/raw/collective.hpp include/tca/rounds.hpp",
    ],
    ["include/tca/tca.hpp include/tca/raw.hpp include/tca/mpi.hpp"],
    # The translator stands on nothing of the library, its runtime on public headers.
    ["frontend/lex"],
    ["frontend/parse"],
    ["frontend/ir"],
    ["frontend/emit"],
    ["frontend/driver"],
    ["include/tca/xacc"],
    ["frontend/runtime"],
    ["apps", "examples", "bindings/python", "bindings/fortran", "bindings/c include/tca/tca.h include/tca/tca_mpi.h",
     "bindings/shared", "bindings/peach2 include/tca-api.h", "bindings/apenet include/apelib.h", "bindings/on_model", "bindings/mpi", "bindings/nvshmem"],
    ["bench"],
    ["cli"],
    ["apps/shared/cli"],
    ["apps/bfs/cli", "apps/cg/cli", "apps/fft/cli", "apps/himeno/cli", "apps/pic/cli", "apps/qcd/cli", "apps/spin/cli",
     "apps/trigger/cli"],
    ["tools"],
]

# What names a machine's vendor, and the only places where it may stand.
VENDOR_HEADERS = re.compile(
    r"^(mpi|mpi-ext|nccl|nvshmem\w*|nvml|nvrtc|cuda\w*|cufft\w*|cooperative_groups)\.h(pp)?$|^(cub|cuda|cooperative_groups|hip|infiniband|mscclpp|thrust)/"
)
VENDOR_PLACES = re.compile(r"src/(control/mpi|fabric/(mpi|cuda))/|include/tca/([^.]*\.cuh|mpi\.hpp|tca_mpi\.h)$|(apps/\w+|examples)/(mpi|gpu|nccl)_[^/]*$|examples/tutorial/1_mpi\.cpp$|apps/\w+/(gpu|peers)/|bench/(peers|gpu)/|frontend/runtime/cuda/|tools/(.*/)?peers/|bindings/(mpi|nvshmem)/|examples/nvshmem.cu$")
# An application's command line, which sees more than the application.
COMMAND = re.compile(r"apps/\w+/cli/")
STANDARD_HEADER = re.compile(r"[a-z_]+|(std(def|int|lib)|sys/types|time)\.h")

SUFFIXES = {".hpp", ".h", ".cuh", ".cpp", ".c", ".cu", ".f90", ".F90", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
# Where includes are checked; the tests may look at everything, but their sources must be listed as well.
SCANNED = ("src", "include", "apps", "cli", "tools", "bench", "examples", "bindings", "frontend")
SEARCHED = ("include", "src", "bindings", "frontend", "apps", "bench", "tools/tca", "")


class Tree:
    def __init__(self, root):
        self.root = Path(root).resolve()
        self.modules = {}  # path prefix -> (row, name)
        for row, names in enumerate(LAYERS):
            for name in names:
                for prefix in name.split():
                    self.modules[prefix] = (row, name.split()[0])
        self.files = [file for folder in SCANNED for file in self.sources_in(folder)]
        self.includes = {file: list(self.read_includes(file)) for file in self.files}

    def sources_in(self, folder):
        paths = (path for path in (self.root / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file())
        return sorted(str(path.relative_to(self.root)) for path in paths)

    def read_includes(self, file):
        for number, line in enumerate((self.root / file).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), self.resolve(file, match.group(1))

    def resolve(self, file, name):
        """The file of this tree that an include names, or None for a system header."""
        for folder in (str(Path(file).parent), *SEARCHED):
            path = (self.root / folder / name).resolve()
            if path.is_file() and path.is_relative_to(self.root):
                return str(path.relative_to(self.root))
        return None

    def module(self, file):
        fits = [prefix for prefix in self.modules if file == prefix or file.startswith(prefix + "/")]
        return self.modules[max(fits, key=len)] if fits else None


def own_folder(file):
    """apps/himeno for apps/himeno/x.cpp, and alike in bindings; examples for examples/x.cpp."""
    parts = Path(file).parts
    return "/".join(parts[: 2 if parts[0] in ("apps", "bindings") else 1])


def check_include(tree, file, name, target):
    if VENDOR_HEADERS.search(name) and not VENDOR_PLACES.match(file):
        return f"includes {name}: a vendor's header stays in its own folder ({VENDOR_PLACES.pattern})"
    if target is None:
        if file.startswith("include/") and not VENDOR_HEADERS.search(name) and not STANDARD_HEADER.fullmatch(name):
            return f"includes {name}: a public header needs nothing but the standard library, MPI and CUDA"
        return None
    if file.startswith(("apps/", "bindings/", "examples/")) and not COMMAND.match(file):
        if not target.startswith(("include/", "apps/shared/", "bindings/shared/")) and own_folder(target) != own_folder(file):
            return f"includes {name}: apps, bindings and examples see only public headers (tca/...), what is shared and their own folder"
        return None
    if tree.module(target) is None:
        return f"includes {name}: {target} belongs to no layer"
    row, module = tree.module(file)
    target_row, target_module = tree.module(target)
    if target_module != module and target_row >= row:
        return f"includes {name}: an upward include, {module} stands below or beside {target_module}"
    return None


def find_layer_violations(tree):
    for file in tree.files:
        if tree.module(file) is None:
            yield f"{file}:1: belongs to no layer: give its folder a row in tests/structure/layering.py"
            continue
        for number, name, target in tree.includes[file]:
            problem = check_include(tree, file, name, target)
            if problem:
                yield f"{file}:{number}: {problem}"


def find_cycles(tree):
    done, path = set(), []

    def visit(file):
        if file in done:
            return
        path.append(file)
        for number, _, target in tree.includes.get(file, ()):
            if target in path:
                circle = " -> ".join(path[path.index(target) :] + [target])
                yield f"{file}:{number}: an include cycle, {circle}"
            elif target is not None:
                yield from visit(target)
        path.pop()
        done.add(file)

    for file in tree.files:
        yield from visit(file)


def find_unlisted_sources(tree):
    scripts = [str(path.relative_to(tree.root)) for path in tree.root.glob("tests/*/*_test.py")]
    for file in [*tree.files, *tree.sources_in("tests"), *scripts]:
        path = Path(file)
        if path.suffix in {".cpp", ".c", ".cu", ".f90", ".F90", ".inc", ".py"} and not file.startswith("tests/install/"):
            # A test may go by its name without a suffix, which a function adds.
            spellings = [path, path.with_suffix("")] if file.startswith("tests/") else [path]
            if not any(is_listed(tree.root, spelling) for spelling in spellings):
                yield f"{file}:1: no CMakeLists.txt lists this source"


def find_unlisted_hardware(tree):
    for path in sorted((tree.root / "rtl").rglob("*.sv")):
        file = path.relative_to(tree.root / "rtl")
        listing = tree.root / "rtl" / ("formal/proofs.py" if file.parts[0] == "formal" else "CMakeLists.txt")
        if not names(listing, file):
            yield f"rtl/{file}:1: {listing.relative_to(tree.root)} does not list this source"


def is_listed(root, path):
    """Whether the CMakeLists.txt of a folder above names the path, as seen from there."""
    return any(names(root / folder / "CMakeLists.txt", path.relative_to(folder)) for folder in path.parents)


def names(cmake_file, path):
    """Whether the file holds the path as a word of its own, outside comments."""
    text = re.sub(r"#.*", "", cmake_file.read_text()) if cmake_file.is_file() else ""
    return re.search(rf"(?<![\w./-]){re.escape(str(path))}(?![\w.])", text)


def check(root):
    tree = Tree(root)
    violations = [*find_layer_violations(tree), *find_cycles(tree), *find_unlisted_sources(tree)]
    return [*violations, *find_unlisted_hardware(tree)], len(tree.files)


def main():
    violations, files = check(sys.argv[1])
    print("\n".join(violations) if violations else f"{files} files, no violation")
    return 1 if violations or not files else 0


if __name__ == "__main__":
    sys.exit(main())
