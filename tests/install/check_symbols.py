"""A shared OpenTCA exports what the public headers mark with TCA_API, all of it and nothing else, and a program that asks for
anything else does not link: check_symbols.py LIBRARY INCLUDE_DIR COMPILER
"""

import pathlib
import re
import subprocess
import sys
import tempfile

library, headers, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]


def names_of(text):
    """The names, with their namespaces, that a header marks: classes and functions."""
    text = re.sub(r"//.*|^#.*|\"[^\"\n]*\"", "", text, flags=re.MULTILINE)
    scopes, found, begin = [], set(), 0
    for token in re.finditer(r"[{};]|\bTCA_API\b", text):
        before, behind = text[begin : token.start()], text[token.end() :]
        if token[0] == "{":
            space = re.search(r"\bnamespace ([\w:]+)\s*$", before)
            scopes.append(space[1] if space else "")
        elif token[0] == "}":
            scopes.pop()
        elif token[0] == "TCA_API":
            is_class = re.search(r"\b(class|struct)\s*$", before)
            name = re.match(r"\s*(\w+)", behind) if is_class else re.search(r"(\w+)\(", behind)
            found.add("::".join([*filter(None, scopes), name[1]]))
        begin = token.end()
    return found


def symbols(*options):
    """(mangled, demangled) of what the library defines."""
    lines = subprocess.run(["nm", "--defined-only", *options, library], capture_output=True, text=True, check=True).stdout
    mangled = [(line.split()[-2], line.split()[-1].split("@")[0]) for line in lines.splitlines() if line]
    plain = subprocess.run(["c++filt"], input="\n".join(name for _, name in mangled), capture_output=True, text=True, check=True)
    return [(kind, name, text) for (kind, name), text in zip(mangled, plain.stdout.splitlines())]


def is_of(text, name):
    """Whether a demangled symbol is this function, a member of this class, or its type information."""
    text = re.sub(r"^(typeinfo for |typeinfo name for |vtable for |non-virtual thunk to )", "", text)
    return re.search(rf"(^|[ *]){re.escape(name)}($|\(|::|<|\[abi)", text) is not None


def links(symbol):
    """Whether a program that asks for the symbol links with the library."""
    program = f'extern "C" void asked() __asm__("{symbol}");\nint main() {{ asked(); }}\n'
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(program)
        command = [compiler, source, library, "-o", f"{folder}/program"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 and "undefined reference" not in done.stderr:
        sys.exit(f"{symbol}: does not link for another reason:\n{done.stderr}")
    return done.returncode == 0


errors = []
marked = set().union(*(names_of(path.read_text()) for path in headers.rglob("*.h*")))
exported = [(name, text) for kind, name, text in symbols("-D") if kind != "A"]
for name, text in exported:
    if not any(is_of(text, one) for one in marked):
        errors.append(f"exported, but not marked with TCA_API in {headers}: {text}")
for one in marked:
    if not any(is_of(text, one) for _, text in exported):
        errors.append(f"marked with TCA_API, but not exported: {one}")

inside = [name for kind, name, text in symbols() if kind == "t" and text.startswith("tca::")]
outside = [name for name, text in exported if "tca::Chain::commit()" in text]
if not inside or not outside or links(inside[0]) or not links(outside[0]):
    errors.append(f"a program with {inside[:1]} must not link, one with {outside[:1]} must")
sys.exit("\n".join(errors) if errors else 0)
