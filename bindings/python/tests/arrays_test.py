"""What needs no GPU of arrays on GPUs: streams of every library, and which library a world's arrays are of."""

import contextlib
import sys
import types
import unittest
from unittest import mock

import opentca as tca
from opentca import _arrays


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    return made


@contextlib.contextmanager
def imported(*modules):
    kept = {name: sys.modules.pop(name, None) for name in ("cupy", "torch")}
    sys.modules.update({one.__name__: one for one in modules})
    try:
        yield
    finally:
        for name, one in kept.items():
            sys.modules.pop(name, None)
            if one is not None:
                sys.modules[name] = one


CUPY = module(
    "cupy", cuda=types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=7)), asarray=lambda one: ("cupy", one)
)
TORCH = module(
    "torch", cuda=types.SimpleNamespace(current_stream=lambda: types.SimpleNamespace(cuda_stream=9)),
    as_tensor=lambda one, device: ("torch", device, one),
)  # fmt: skip


class Arrays(unittest.TestCase):
    def test_streams(self):
        for stream, number in (
            (types.SimpleNamespace(__cuda_stream__=lambda: (0, 11)), 11),  # cuda.core, and CuPy of late
            (types.SimpleNamespace(__cuda_stream__=(0, 12)), 12),
            (types.SimpleNamespace(ptr=13), 13),
            (types.SimpleNamespace(cuda_stream=14), 14),
            (15, 15),
        ):
            self.assertEqual(_arrays.stream_number(stream), number)
        with self.assertRaisesRegex(tca.InvalidArgument, "no str"):
            _arrays.stream_number("stream")

    def test_the_library_that_is_imported(self):
        for library, number in ((CUPY, 7), (TORCH, 9)):
            with imported(library):
                self.assertEqual(_arrays.current_stream(None), number)
        with imported(CUPY, TORCH):
            with self.assertRaisesRegex(tca.InvalidArgument, "both; choose by World"):
                _arrays.current_stream(None)
            self.assertEqual(_arrays.current_stream(TORCH), 9)
        with imported(), self.assertRaisesRegex(tca.InvalidArgument, "neither"):
            _arrays.current_stream(None)

    def test_arrays_of_either(self):
        window = types.SimpleNamespace(__cuda_array_interface__={"data": (64, False)})
        with imported(CUPY):
            self.assertEqual(_arrays.array(window, None), ("cupy", window))
        with imported(TORCH), mock.patch.object(_arrays, "_device_of", lambda address: address // 32):
            self.assertEqual(_arrays.array(window, None), ("torch", "cuda:2", window))

    def test_the_gpu_of_a_window_becomes_the_current_one(self):
        used = []
        cupy = module(
            "cupy", cuda=types.SimpleNamespace(Device=lambda n: types.SimpleNamespace(use=lambda: used.append(("cupy", n))))
        )
        torch = module("torch", cuda=types.SimpleNamespace(set_device=lambda n: used.append(("torch", n))))
        with imported(cupy, torch), mock.patch.object(_arrays, "_device_of", lambda address: 3):
            _arrays.use(64)
        self.assertEqual(used, [("cupy", 3), ("torch", 3)])

    def test_worlds_of_hosts_have_no_streams(self):
        with tca.World() as world:
            u = world.zeros(4)
            chain = world.chain("c").put(u.on(0)[:1], u[1:2]).expect(0)
            chain.commit()
            chain.run(tca.HOST)
            for call in (chain.start, chain.run, chain.wait):
                with self.assertRaisesRegex(tca.InvalidArgument, "stream"):
                    call(5)
            self.assertFalse(hasattr(u, "__cuda_array_interface__"))
            self.assertTrue(hasattr(u, "__array_interface__"))
            for call in (chain.device, u.device, lambda: u.peer_pointers, lambda: tca.Team(world, "t")):
                with self.assertRaisesRegex(tca.InvalidArgument, "shm"):
                    call()

    def test_types_of_torch(self):
        with tca.World() as world:

            class Named:
                def __init__(self, name):
                    self.name = name

                def __str__(self):
                    return f"torch.{self.name}"

            self.assertEqual(world.zeros(2, Named("float16")).dtype.str, "<f2")
            with self.assertRaisesRegex(tca.InvalidArgument, r"view\(torch.bfloat16\)"):
                world.zeros(2, Named("bfloat16"))


if __name__ == "__main__":
    unittest.main()
