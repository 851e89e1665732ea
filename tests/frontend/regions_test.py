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

# What a region leaves in a coarray is put from the host's copy.
COARRAY = """
#include <stdio.h>
#include <xmp.h>
#pragma xmp nodes p[*]
int a[4][8]:[*], got[8]:[*];
#pragma acc declare create(a)
int main(void) {
  const int me = xmpc_this_image(), next = (me + 1) % xmp_num_images();
#pragma acc parallel loop collapse(2)
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++) a[i][j] = 100 * me + 10 * i + j;
#pragma acc update host(a)
  got[:]:[next] = a[2][:];
#pragma xmp post (p[next], 7)
#pragma xmp wait (p[(me + xmp_num_images() - 1) % xmp_num_images()], 7)
  int sum = 0;
#pragma acc parallel loop reduction(+ : sum)
  for (int j = 0; j < 8; j++) sum += got[j];
#pragma xmp reduction(+ : sum)
  const int n = xmp_num_images();
  if (sum != n * 8 * 20 + n * 28 + 800 * (n * (n - 1) / 2)) return fprintf(stderr, "node %d: %d\\n", me, sum), 1;
  return 0;
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

    def test_coarrays_in_regions(self):
        source = self.path("coarray.c")
        with open(source, "w") as file:
            file.write(COARRAY)
        program = self.build(source, ACC)
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
