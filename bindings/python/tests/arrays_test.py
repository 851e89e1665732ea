"""What needs no GPU of arrays on GPUs: streams of every library, and which library a world's arrays are of."""

import contextlib
import importlib
import os
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

    def test_without_gpu_code_or_gpu_the_error_says_so(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is a GPU")
        with self.assertRaisesRegex(tca.Error, "CUDA|GPU"):
            tca.World(fabric="cuda")

    def test_a_compiler_may_hand_copies_to_a_step_of_torch(self):
        """Without torch: what its operation does with the tensors that it is given."""

        class Tensor(list):
            def data_ptr(self):
                return id(self)

            def copy_(self, other):
                self[:] = other

        def custom_op(name, mutates_args):
            return lambda function: Operation(function)

        class Operation:
            def __init__(self, function):
                self.function = function

            def __call__(self, *arguments):
                self.function(*arguments)

            def register_fake(self, function):
                return function

        torch = module("torch", Tensor=Tensor, library=types.SimpleNamespace(custom_op=custom_op))
        with imported(torch):
            made = importlib.import_module("opentca.torch")
        self.addCleanup(sys.modules.pop, "opentca.torch")
        own = Tensor([1, 0])
        step = made.Step(types.SimpleNamespace(run=lambda: own.__setitem__(1, own[0])), own)
        step()
        self.assertEqual(own, [1, 1])
        given = Tensor([5, 1])
        made.run([given], step._number)
        self.assertEqual((given, own), ([5, 5], [5, 5]))

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
