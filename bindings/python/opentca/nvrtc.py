"""Kernels that NVRTC compiles, such as those of CuPy's RawModule and cuda.core's Program:

    module = cupy.RawModule(code=source, options=tca.nvrtc_options())

where `source` includes tca/chain.cuh, tca/window.cuh or tca/team.cuh.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

_package = Path(__file__).resolve().parent


def get_include() -> str:
    """The folder with the headers of OpenTCA."""
    return str(Path(__file__).parent / "include")


def _cuda_folders() -> list[Path]:
    """Where headers of CUDA may be: what the environment names, the packages of PyPI, and the usual place."""
    folders = [Path(os.environ[name]) / "include" for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    found = find_spec("nvidia")
    for place in (found.submodule_search_locations or []) if found else []:
        folders += sorted(Path(place).glob("*/include"))
    return [*folders, Path("/usr/local/cuda/include")]


def nvrtc_options() -> tuple[str, ...]:
    """The options with which NVRTC compiles the headers of OpenTCA. Raises FileNotFoundError where CUDA's C++ library,
    which comes with its toolkit and with nvidia-cuda-cccl, is not on this machine."""
    for folder in _cuda_folders():
        libraries = [place for place in (folder, folder / "cccl") if (place / "cuda" / "std" / "cstdint").is_file()]
        if libraries:
            places = [_package / "nvrtc_headers", Path(get_include()), *libraries, folder]
            return ("--std=c++20", *(f"-I{place}" for place in places))
    raise FileNotFoundError(
        "nvrtc_options: no headers of CUDA with cuda/std/cstdint: set CUDA_PATH to a toolkit, or pip install nvidia-cuda-cccl"
    )
