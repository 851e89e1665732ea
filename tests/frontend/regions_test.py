"""Compute regions: one program with the same results wherever they run.

Standard library only. XMPCC names the front end, TCA the command line, ACC where regions run (cpu or cuda)."""

import os
import shutil
import subprocess
import unittest

from commands import TCA, CommandTest

XMPCC = os.environ.get("XMPCC", "xmpcc")
ACC = os.environ.get("ACC", "cpu")
WITH_CUDA = os.environ.get("OPENTCA_HAS_CUDA")
SOURCE = os.environ.get("SOURCE", "tests/frontend/regions.c")
UNMAPPED = """
#include <stdlib.h>
int main(void) {
  double *q = malloc(80), x[4];
#pragma acc data create(x)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) q[i] = i;
}
"""

COARRAYS = """
#include <xmp.h>
int a[4][6]:[*], b[4][6]:[*], last:[*];
#pragma acc declare create(a, b, last)
int main(void) {
  const int me = xmpc_this_image(), all = xmp_num_nodes(), right = (me + 1) % all, left = (me + all - 1) % all;
  int wrong = 0;
#pragma acc parallel loop collapse(2) present(a)
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++) a[i][j] = 100 * me + 6 * i + j;
#pragma acc host_data use_device(a, b)
  b[1:2][0:3]:[right] = a[1:2][3:3];
  xmp_sync_all(0);
#pragma acc parallel loop collapse(2) present(b, last) reduction(+ : wrong)
  for (int i = 1; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      wrong += b[i][j] != 100 * left + 6 * i + j + 3;
      if (i == 2 && j == 2) last = b[i][j];
    }
#pragma acc update host(last)
  xmp_sync_all(0);
  return wrong || last != 100 * left + 17 || last:[left] != 100 * ((left + all - 1) % all) + 17;
}
"""


def nvcc():
    return shutil.which(os.environ.get("NVCC", "nvcc")) or os.path.exists("/usr/local/cuda/bin/nvcc")


class Regions(CommandTest):
    def build(self, source, acc, *words):
        program = self.path("program")
        done = subprocess.run([XMPCC, "--acc", acc, "-O1", *words, source, "-o", program, "-lm"], capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def run_ranks(self, program, ranks):
        return subprocess.run([TCA, "run", "-n", str(ranks), "--", program], capture_output=True, text=True, timeout=100,
                              env={**self.environment, "OMP_NUM_THREADS": "1"})

    def test_results_are_right_on_one_rank_and_on_two(self):
        program = self.build(SOURCE, ACC)
        for ranks in (1, 2):
            done = self.run_ranks(program, ranks)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{ranks} ranks")

    @unittest.skipIf(ACC == "cuda", "it is compiled there anyway")
    @unittest.skipUnless(nvcc(), "nvcc is not on this machine")
    @unittest.skipUnless(WITH_CUDA, "built without CUDA")
    def test_kernels_compile(self):
        program = self.build(SOURCE, "cuda")
        if os.path.exists("/dev/nvidiactl"):
            return
        done = self.run_ranks(program, 1)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("compute regions were translated for GPUs", done.stderr)

    @unittest.skipIf(WITH_CUDA or ACC == "cuda", "built with CUDA")
    @unittest.skipUnless(nvcc(), "nvcc is not on this machine")
    def test_without_cuda_the_error_says_so(self):
        done = subprocess.run([XMPCC, "--acc", "cuda", SOURCE, "-o", self.path("program")], capture_output=True, text=True, env=self.environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--acc cuda: this tca was built without CUDA", done.stderr)

    def test_coarrays_in_regions(self):
        source = self.path("coarrays.c")
        with open(source, "w") as file:
            file.write(COARRAYS)
        program = self.build(source, ACC)
        for ranks in (1, 2):
            done = self.run_ranks(program, ranks)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{ranks} ranks")

    @unittest.skipUnless(ACC == "cuda", "hosts have one memory")
    def test_an_array_that_is_not_there(self):
        source = self.path("unmapped.c")
        with open(source, "w") as file:
            file.write(UNMAPPED)
        done = self.run_ranks(self.build(source, "cuda"), 1)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"unmapped\.c:6: acc parallel loop: q is not present on the device; there are x \(.*unmapped\.c:5\)")


if __name__ == "__main__":
    unittest.main()
