"""Programs of CuPy, torch and Triton on GPUs, and torch.compile on any machine. Each is skipped where what it needs is not here.

TCA names the command line under test, and it and the package are built with GPU code."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

TCA = os.environ.get("TCA", "")
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", "."))
EXAMPLES = pathlib.Path(os.environ.get("EXAMPLES", "."))
PATIENCE = float(os.environ.get("TCA_TEST_PATIENCE", "20"))


def needs(*modules, gpu=True):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if gpu and not os.path.exists("/dev/nvidiactl"):
        missing.append("a GPU")
    return unittest.skipIf(missing or not TCA, f"needs {', '.join(missing) or 'tca'}")


class Gpu(unittest.TestCase):
    def run_ranks(self, ranks, program, said, launcher=None, **environment):
        command = launcher or [TCA, "run", "-n", str(ranks), "--", sys.executable, "-B"]
        done = subprocess.run(
            [*command, program], capture_output=True, text=True, timeout=10 * PATIENCE, env={**os.environ, **environment}
        )
        if "built without CUDA" in done.stderr:
            self.skipTest("the package is built without GPU code")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, said), done.stderr)

    @needs("cupy")
    def test_a_graph_of_cupy(self):
        self.run_ranks(2, PROGRAMS / "cupy_graph.py", "total 2002 of 2 ranks")

    @needs("torch")
    def test_a_ring_of_torch(self):
        self.run_ranks(2, EXAMPLES / "torch_ring.py", "8 times around")
        if shutil.which("torchrun"):
            self.run_ranks(2, EXAMPLES / "torch_ring.py", "8 times around", ["torchrun", "--nproc-per-node", "2"])

    @needs("torch", gpu=False)
    def test_a_step_within_torch_compile(self):
        self.run_ranks(2, PROGRAMS / "torch_compiled.py", "in order")

    @needs("torch")
    def test_a_step_within_torch_compile_on_gpus(self):
        for backend in ("aot_eager", "inductor"):
            self.run_ranks(2, PROGRAMS / "torch_compiled.py", "in order", GPU="1", BACKEND=backend)

    @needs("torch", "triton")
    def test_a_kernel_of_triton(self):
        self.run_ranks(2, PROGRAMS / "triton_put.py", "signals came after what they announce")


if __name__ == "__main__":
    unittest.main()
