"""What a step takes on GPUs from Python, on streams and in graphs of CuPy and torch, beside torch.distributed (NCCL) and
nvshmem4py where they are here:

    tca run -n 2 -- python gpu_steps.py

Rank 0 prints medians in microseconds; with `json` all batches, for languages.py. bench/gpu/graph_steps.cpp is the same in C++."""

import contextlib
import functools
import importlib.util
import json
import sys
import tempfile
import types

import cupy
import opentca as tca

BATCHES, STEPS = 31, 200
CELLS = 256  # along a side of what the halo is of
STEP, HALO = ("step", 8), ("halo", 4 * CELLS * 8)


def edges(u):
    """Ghosts, and what goes into them at the other rank: rows, then columns."""
    inner = slice(1, -1)
    return [((-1, inner), u[1, inner]), ((0, inner), u[-2, inner]), ((inner, -1), u[inner, 1]), ((inner, 0), u[inner, -2])]


@functools.cache
def is_here(name):
    found = importlib.util.find_spec(name) is not None
    if not found:
        print(f"gpu_steps: {name} is not here, so it is not compared", file=sys.stderr)
    return found


class Launched:
    """Steps that the host puts on a stream, one by one."""

    start = "host"

    def __init__(self, call, way, enqueue):
        self.call, self.way, self._enqueue = call, way, enqueue

    def run(self, stream):
        for _ in range(STEPS):
            self._enqueue()


class CupyGraph(Launched):
    start = "graph"

    def run(self, stream):
        if not hasattr(self, "_graph"):
            stream.begin_capture()
            super().run(stream)
            self._graph = stream.end_capture()
        self._graph.launch(stream)


class TorchGraph(Launched):
    """Captured on a stream of torch's, replayed on the one of everybody."""

    start = "graph"

    def run(self, stream):
        import torch

        if not hasattr(self, "_graph"):
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                super().run(stream)
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)):
            self._graph.replay()


def of_opentca(world, stream):
    other = 1 - world.rank
    u = world.zeros((CELLS + 2, CELLS + 2))
    small = world.chain("8 bytes").put(u.on(other)[0, :1], u[1, :1]).expect(other)
    halo = world.chain("halo").expect(other)
    for ghost, edge in edges(u.array):
        halo.put(u.on(other)[ghost], edge)
    for (call, chain) in ((STEP, small), (HALO, halo)):
        chain.commit()
        yield Launched(call, "cupy", lambda chain=chain: chain.run(stream))
        yield CupyGraph(call, "cupy", lambda chain=chain: chain.run(stream))
        if is_here("torch"):
            import torch

            yield TorchGraph(call, "torch", lambda chain=chain: chain.run(torch.cuda.current_stream()))


def of_nccl(world, stream, afterwards):
    """Messages of torch.distributed. Columns are packed and unpacked by kernels of torch's."""
    if not is_here("torch"):
        return
    import torch
    import torch.distributed as dist

    other = 1 - world.rank
    meeting = world.all_gather(tempfile.mkdtemp() if world.rank == 0 else "")[0]
    dist.init_process_group("nccl", init_method=f"file://{meeting}/ranks", rank=world.rank, world_size=world.size)
    afterwards.callback(dist.destroy_process_group)
    u = torch.zeros((CELLS + 2, CELLS + 2), dtype=torch.float64, device="cuda")
    out, into = torch.zeros(1, device="cuda", dtype=torch.float64), torch.zeros(1, device="cuda", dtype=torch.float64)
    packed = [(u[ghost], edge, torch.empty_like(edge).contiguous(), torch.empty_like(edge).contiguous()) for ghost, edge in edges(u)]
    outside = torch.cuda.ExternalStream(stream.ptr)

    def exchange(pairs):
        operations = [dist.P2POp(dist.isend, sent, other) for sent, _ in pairs]
        operations += [dist.P2POp(dist.irecv, received, other) for _, received in pairs]
        for request in dist.batch_isend_irecv(operations):
            request.wait()

    def step():
        with torch.cuda.stream(outside):
            exchange([(out, into)])

    def halo():
        with torch.cuda.stream(outside):
            for _, edge, sent, _ in packed:
                sent.copy_(edge)
            exchange([(sent, received) for _, _, sent, received in packed])
            for ghost, _, _, received in packed:
                ghost.copy_(received)

    yield Launched(STEP, "nccl", step)
    yield Launched(HALO, "nccl", halo)


def of_nvshmem(world, stream, afterwards):
    """Puts with signals of nvshmem4py on the stream, not guarded. Columns are packed and unpacked by kernels of CuPy's."""
    if not is_here("nvshmem"):
        return
    import nvshmem.core as nvshmem
    import numpy as np
    from cuda.core import Device

    other = 1 - world.rank
    device = Device(cupy.cuda.Device().id)
    device.set_current()
    uid = nvshmem.get_unique_id(empty=world.rank != 0)
    raw = world.all_gather(uid._data.tobytes())[0]
    on = types.SimpleNamespace(__cuda_stream__=lambda: (0, stream.ptr))
    uid._data[...] = np.frombuffer(raw, uid._data.dtype).reshape(uid._data.shape)
    nvshmem.init(device=device, uid=uid, rank=world.rank, nranks=world.size, initializer_method="uid")
    afterwards.callback(nvshmem.finalize)

    def symmetric(elements):
        made = nvshmem.array((elements,), "float64")
        afterwards.callback(nvshmem.free_array, made)
        return made

    u = cupy.zeros((CELLS + 2, CELLS + 2))
    out, into = symmetric(1), symmetric(1)
    packed = [(ghost, edge, symmetric(CELLS), symmetric(CELLS)) for ghost, edge in edges(u)]
    signals = [nvshmem.buffer(8) for _ in range(5)]
    for signal in signals:
        afterwards.callback(nvshmem.free, signal)
    passed = [0, 0]

    def put(pairs, flags, number):
        for (source, target), flag in zip(pairs, flags):
            nvshmem.put_signal(target, source, flag, number, nvshmem.SignalOp.SIGNAL_SET, other, stream=on)
        for flag in flags:
            nvshmem.signal_wait(flag, number, nvshmem.ComparisonType.CMP_GE, stream=on)

    def step():
        passed[0] += 1
        put([(out, into)], signals[:1], passed[0])

    def halo():
        passed[1] += 1
        with stream:
            for _, edge, sent, _ in packed:
                sent[...] = edge
            put([(sent, received) for _, _, sent, received in packed], signals[1:], passed[1])
            for ghost, _, _, received in packed:
                u[ghost] = received

    yield Launched(STEP, "nvshmem4py", step)
    yield Launched(HALO, "nvshmem4py", halo)


def agreed(world, peer, stream, afterwards):
    """What every rank could make of a peer; else it is said why not, and the others are compared."""
    made, why = [], ""
    try:
        made = list(peer(world, stream, afterwards))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
    reasons = [reason for reason in world.all_gather(why) if reason]
    if reasons and world.rank == 0:
        print(f"gpu_steps: {peer.__name__[3:]} is not compared: {reasons[0]}", file=sys.stderr)
    return [] if reasons else made


def batch(world, contender, stream):
    """Microseconds a step, of this rank. A batch that is not timed goes before: at its end the ranks are together, and the timed
    one is on the stream, so that only what the host launches step by step has the launch in its time."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    stream.synchronize()
    world.barrier()
    contender.run(stream)
    begin.record(stream)
    contender.run(stream)
    end.record(stream)
    end.synchronize()
    return 1e3 * cupy.cuda.get_elapsed_time(begin, end) / STEPS


def machine():
    runtime = cupy.cuda.runtime
    name = runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    versions = [f"{version // 1000}.{version % 1000 // 10}" for version in (runtime.driverGetVersion(), runtime.runtimeGetVersion())]
    return f"2 x {name}, driver for CUDA {versions[0]}, CUDA {versions[1]}"


def main():
    if is_here("torch"):
        import torch  # noqa: F401: before the world, which makes its GPU torch's current one
    with tca.World(fabric="cuda", arrays=cupy) as world, contextlib.ExitStack() as afterwards:
        if world.size != 2:
            sys.exit("gpu_steps: start it on two ranks, tca run -n 2 -- python gpu_steps.py")
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            contenders = list(of_opentca(world, stream))
            for peer in (of_nccl, of_nvshmem):
                contenders += agreed(world, peer, stream, afterwards)
        taken = {}
        for one in contenders:
            one.run(stream)  # compiles, captures and connects
        for _ in range(BATCHES):
            for one in contenders:
                taken.setdefault(one, []).append(batch(world, one, stream))
        world.check()
        if world.rank != 0:
            return
        if "json" in sys.argv:
            said = [
                {"call": one.call[0], "bytes": one.call[1], "way": one.way, "start": one.start, "us": times}
                for one, times in taken.items()
            ]
            print(json.dumps({"hardware": machine(), "times": said}))
            return
        for one, times in taken.items():
            print(f"{one.call[0]:5} {one.way:11} {one.start:6} {sorted(times)[BATCHES // 2]:9.3f} us, least {min(times):9.3f}")


if __name__ == "__main__":
    main()
