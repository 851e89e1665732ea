"""What tests of translated programs share: they are compiled by the front end and started by `tca run`.

Standard library only. XMPCC names the front end, TCA the command line, EXAMPLES the folder of examples/xacc."""

import os
import subprocess

from commands import TCA, CommandTest

XMPCC = os.environ.get("XMPCC", "xmpcc")
EXAMPLES = os.environ.get("EXAMPLES", "examples/xacc")

CHECK = """
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
static int wrong;
#define EXPECT(c) do { if (!(c)) { wrong = 1; fprintf(stderr, "node %d, line %d: %s\\n", xmp_node_num(), __LINE__, #c); } } while (0)
static void finish(void) {
#pragma xmp reduction(max:wrong)
  if (wrong) exit(1);
}
"""


class Programs(CommandTest):
    def build(self, source, *options, name="program"):
        file = self.path(name + ".c")
        with open(file, "w") as out:
            out.write(source)
        done = subprocess.run([XMPCC, "-O1", *options, file, "-o", self.path(name), "-lm"], capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def run_ranks(self, program, ranks, *words):
        return subprocess.run([TCA, "run", "-n", str(ranks), "--", program, *words], capture_output=True, text=True, timeout=60,
                              env={**self.environment, "OMP_NUM_THREADS": "1"})

    def assert_right(self, source, *ranks, options=()):
        program = self.build(CHECK + source, *options)
        for n in ranks:
            done = self.run_ranks(program, n)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{n} ranks")

    def refused(self, source, ranks):
        done = self.run_ranks(self.build(CHECK + source), ranks)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr
