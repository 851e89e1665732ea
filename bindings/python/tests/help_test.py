"""What `help` and editors show: every public name says what it is, and stubs name types of Python."""

import inspect
import unittest
from pathlib import Path

import opentca as tca


def members(kind):
    for name, member in vars(kind).items():
        if not name.startswith("_") and (callable(member) or isinstance(member, (property, staticmethod))):
            yield name, member


class Help(unittest.TestCase):
    def test_every_name_says_what_it_is(self):
        silent = []
        for name in tca.__all__:
            one = getattr(tca, name)
            if inspect.isclass(one):
                named = [(f"{name}.{member}", found) for member, found in members(one)] + [(name, one)]
            else:
                named = [(name, one)] if callable(one) else []
            for what, found in named:
                # The first line of a function in C++ is its signature.
                lines = [line for line in (inspect.getdoc(found) or "").splitlines() if "(" not in line.split(" ")[0]]
                if not any(lines):
                    silent.append(what)
        self.assertEqual(silent, [])

    def test_stubs_name_types_of_python(self):
        stub = Path(tca.__file__).parent / "_core.pyi"
        self.assertNotIn('"std::', stub.read_text())

    def test_objects_show_themselves(self):
        with tca.World() as world:
            u = world.zeros(4, name="u")
            chain = world.chain("c")
            put = chain.put_counted(u.on(0)[:2], u[2:])
            come = chain.expect_counted(0)
            for one, shown in ((put, "2 elements to rank 0"), (come, "from rank 0"), (u, "u"), (u.on(0), "rank 0")):
                self.assertIn(shown, repr(one))


if __name__ == "__main__":
    unittest.main()
