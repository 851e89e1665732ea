"""Kernels from Python: the device headers by NVRTC, which needs no GPU, and what Triton is given."""

import ast
import ctypes
import glob
import os
import unittest
from pathlib import Path

import opentca as tca

KERNEL = """
#include "tca/chain.cuh"
#include "tca/engine.cuh"
#include "tca/produced.cuh"
#include "tca/team.cuh"
#include "tca/window.cuh"

extern "C" __global__ void step(const tca::DeviceChain* chain, const tca::DeviceTeam* team,
                                const tca::DeviceWindow<double>* window, double* values) {
  tca::GridChain halo(*chain);
  halo.start();
  if (!halo.wait()) return;
  tca::BlockTeam all(*team);
  tca::BlockWindow u(*window);
  u.put(1, 0, values, 1);
  all.signal(1);
  if (all.wait_signal(1)) all.allreduce_sum(values, 1);
}
"""


def nvrtc():
    for place in (*glob.glob("/usr/local/cuda*/lib64/libnvrtc.so"), *glob.glob("/usr/local/cuda*/lib/libnvrtc.so"), "libnvrtc.so"):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def compile_kernel(library, source, options):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None) == 0
    encoded = (ctypes.c_char_p * len(options))(*map(str.encode, options))
    status = library.nvrtcCompileProgram(program, len(options), encoded)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode()


class Kernels(unittest.TestCase):
    def test_headers_compile(self):
        library = nvrtc()
        if library is None:
            self.skipTest("needs NVRTC")
        for architecture in ("sm_80", "sm_90"):
            status, log = compile_kernel(library, KERNEL, [*tca.nvrtc_options(), f"-arch={architecture}"])
            self.assertEqual(status, 0, log)

    def test_options_name_what_is_missing(self):
        self.assertTrue((Path(tca.get_include()) / "tca" / "chain.cuh").is_file())
        if not glob.glob("/usr/local/cuda/include") and "CUDA_PATH" not in os.environ:
            with self.assertRaisesRegex(FileNotFoundError, "nvidia-cuda-cccl"):
                tca.nvrtc_options()

    def test_helpers_of_triton_are_functions_of_triton(self):
        """Without Triton: that they are there, and take what the page says."""
        text = (Path(tca.__file__).parent / "triton.py").read_text()
        helpers = {
            one.name: [argument.arg for argument in one.args.args]
            for one in ast.parse(text).body
            if isinstance(one, ast.FunctionDef) and any(ast.unparse(mark) == "triton.jit" for mark in one.decorator_list)
        }
        self.assertEqual(
            helpers,
            {"put": ["peers", "rank", "offsets", "values"], "signal": ["raises", "sent", "rank"], "wait": ["raised", "seen", "rank"]},
        )


if __name__ == "__main__":
    unittest.main()
