"""A loop over a window costs what one over a pointer does.

loops.cpp has each loop twice, as NAME_window and NAME_pointer. It is compiled as a user would, and the instructions of the
innermost loops of the two are compared.
"""

import os
import platform
import re
import subprocess
import tempfile
import unittest

COMPILER, INCLUDE, SOURCE, OBJDUMP = (
    os.environ.get(name, "") for name in ("TCA_COMPILER", "TCA_INCLUDE", "TCA_LOOPS", "TCA_OBJDUMP")
)
JUMP = re.compile(r"(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z)\s.*?\b([0-9a-f]+) <")
CALL = re.compile(r"(?:call\w*|blr?)\s")


def functions(optimisation):
    """The instructions of each function by its name, as (address, text)."""
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "loops.o")
        subprocess.run([COMPILER, "-std=c++20", optimisation, "-I", INCLUDE, "-c", SOURCE, "-o", made], check=True)
        listing = subprocess.run(
            [OBJDUMP, "--disassemble", "--no-show-raw-insn", made], check=True, capture_output=True, text=True
        ).stdout
    found = {}
    for line in listing.splitlines():
        if begin := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            code = found.setdefault(begin[1], [])
        elif instruction := re.match(r"\s*([0-9a-f]+):\s+(.*)", line):
            code.append((int(instruction[1], 16), instruction[2].strip()))
    return found


def loops(code):
    """The instructions of each loop: what a jump back encloses."""
    jumps = [(int(jump[1], 16), at) for at, text in code if (jump := JUMP.match(text))]
    return [[(at, text) for at, text in code if begin <= at <= end] for begin, end in jumps if begin <= end]


def innermost(code):
    """The lengths of the loops that enclose no other."""
    places = [(loop[0][0], loop[-1][0]) for loop in loops(code)]
    return sorted(
        len(loop)
        for loop, (begin, end) in zip(loops(code), places)
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in places)
    )


@unittest.skipUnless(COMPILER and OBJDUMP, "no compiler or no objdump")
@unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"), "another processor's jumps and calls have other names")
class Loops(unittest.TestCase):
    def check(self, optimisation):
        made = functions(optimisation)
        names = [name.removesuffix("_window") for name in made if name.endswith("_window")]
        self.assertEqual(len(names), 6)
        for name in names:
            with self.subTest(name=name):
                window, pointer = made[name + "_window"], made[name + "_pointer"]
                self.assertTrue(loops(window))
                self.assertEqual([text for loop in loops(window) for _, text in loop if CALL.match(text)], [])
                # Of a check of each index, and of a rank that is read, the compiler makes somewhat different code.
                if name in ("by_index", "ranks"):
                    self.assertLessEqual(innermost(window)[0], innermost(pointer)[0] + 3)
                else:
                    self.assertEqual(innermost(window), innermost(pointer))

    def test_as_most_programs_are_compiled(self):
        self.check("-O2")

    def test_as_numerical_programs_are_compiled(self):
        self.check("-O3")


if __name__ == "__main__":
    unittest.main()
