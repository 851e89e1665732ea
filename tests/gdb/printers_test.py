"""GDB shows what OpenTCA's printers are for: PROGRAM is tests/gdb/program, PRINTERS tools/gdb/opentca.py."""

import os
import re
import subprocess
import unittest

SHOWN = {
    "row": "block of 64",
    "rows": "block-stride of 8 rows of 16, pitch 128",
    "column": "stride of 10, pitch 32",
    "box": "sub-array of 4 x 4 x 4, from element 83",
    "shape": "runs of 4 bytes, 10 times 128 bytes apart (from 4)",
    "u": "window 0 of 3 int = {7, 8, 9}",
    "moved": "window that was moved from",
}


class Printers(unittest.TestCase):
    def test_everything_is_shown(self):
        commands = ["set width 0", "set debuginfod enabled off", f"source {os.environ['PRINTERS']}", "break look", "run", "up"]
        for name in SHOWN:
            commands += [f'printf "{name}: "', f"print {name}"]
        commands += ["print chain", "continue", "up", "print chain", "continue", "up", "print chain", "kill"]

        options = [word for command in commands for word in ("-ex", command)]
        done = subprocess.run(["gdb", "-nx", "-batch", *options, os.environ["PROGRAM"]], capture_output=True, text=True, timeout=50)

        shown = dict(re.findall(r"^(\w+): \$\d+ = (.*)$", done.stdout, re.MULTILINE))
        self.assertEqual(shown, SHOWN, done.stdout + done.stderr)
        chains = re.findall(r"^\$\d+ = (chain .*)$", done.stdout, re.MULTILINE)
        self.assertEqual(chains, ["chain 'faces', not committed, 1 puts and signals", "chain 'faces', step 2 under way",
                                  "chain 'faces', step 2 over"], done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
