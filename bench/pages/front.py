"""The first tables that a reader sees: README.md's, and the one at the top of docs/performance.md."""

import re

from pages.applications import FOUR_H100S
from pages.gpu import FOUR, FOUR_H200S, MSCCLPP, PEERS, TWO, beside, messages_of, own_of, said
from pages.hosts import ZEN3, first_turn, of_peer
from pages.records import chosen, fastest, row, rule, size, us

WITH_MSCCLPP = (MSCCLPP,), 2
COUNTS = {"1": "one", "2": "two", "4": "four", "8": "eight"}


def name_of(record):
    """Such as "four H100s"."""
    count, kind = re.search(r"(\d+) x NVIDIA (\w+)", record["hardware"]).groups()
    return f"{COUNTS[count]} {kind}s"


def between_cores():
    turns = (
        ("8 bytes from core to core", first_turn(ZEN3, "pingpong", bytes=8)),
        ("both faces of 64³ doubles, in rows, between cores", first_turn(ZEN3, "halo", layout="block-stride", n=64)),
        ("the same in columns", first_turn(ZEN3, "halo", layout="stride", n=64)),
    )
    for name, (own, peers) in turns:
        yield row(name, "two cores of an EPYC", us(own), f"MPI {us(of_peer(peers, 'mpi'))}")


def between_gpus(name, machine, fields, own_fields):
    own = own_of(machine[0], **{**fields, **own_fields})
    found = {peer: chosen(machine[0], peer=peer, **fields) for peer in ("nccl", "nvshmem", "mscclpp")}
    order = sorted((peer for peer in found if found[peer]), key=lambda peer: fastest(found[peer])["median_us"])
    return row(name, name_of(own), said(own), ", ".join(f"{PEERS[peer]} {beside(found[peer], own)}" for peer in order))


def of_messages(words, machines):
    """The lines of messages_of whose names begin with one of these words, for each machine that has records of it."""
    for word in words:
        for machine in machines:
            for name, fields, own_fields in messages_of(machine[1]):
                if name.startswith(word) and "graph" not in name and chosen(machine[0], peer=None, **{**fields, **own_fields}):
                    yield between_gpus(name, machine, fields, own_fields)


def of_collectives(which, machine):
    for what, name, count in which:
        fields = {"bench": what, "ranks": machine[1], "bytes": count, "start": "graph"}
        yield between_gpus(f"{name} of {size(count)}, in a graph", machine, fields, {})


def readme():
    yield row("medians, µs", "on", "OpenTCA", "beside it")
    yield rule(4)
    yield from between_cores()
    yield from of_messages(("8 B one way", "64 KB one way", "both faces of 64³", "sum of 1 KB"), (FOUR_H200S,))
    yield from of_messages(("sum of 1 KB",), (WITH_MSCCLPP,))
    yield from of_collectives((("allreduce", "sum", 8), ("alltoall", "all-to-all", 65536)), TWO)
    yield from of_collectives((("bcast", "broadcast", 1048576), ("allreduce", "sum", 67108864)), FOUR)


def solvers():
    for n in (8, 32):
        of = {"bench": "qcd_cg", "n": n, "ranks": 4}
        own, nccl = (fastest(chosen(FOUR_H100S, peer=peer, **of)) for peer in (None, "nccl"))
        yield row(f"conjugate gradients of lattice QCD, {n}⁴, an iteration", "four H100s", us(own), f"NCCL {us(nccl)}")
    for kind in ("S", "M"):
        of = {"bench": "himeno", "size": kind, "ranks": 4}
        own, nccl = (fastest(chosen(FOUR_H100S, peer=peer, **of)) for peer in (None, "nccl"))
        yield row(f"Himeno {kind}, an iteration", "four H100s", us(own), f"NCCL {us(nccl)}")


def glance():
    yield row("medians, µs", "on", "OpenTCA", "beside it")
    yield rule(4)
    yield from between_cores()
    yield from of_messages(("8 B", "64 KB", "1 MB", "both faces", "sum of"), (FOUR_H200S,))
    yield from of_messages(("sum of",), (WITH_MSCCLPP,))
    sums = (("allreduce", "sum", 8), ("allreduce", "sum", 1048576), ("allreduce", "sum", 67108864))
    yield from of_collectives((*sums, ("alltoall", "all-to-all", 65536), ("bcast", "broadcast", 1048576)), TWO)
    yield from of_collectives((*sums, ("bcast", "broadcast", 1048576)), FOUR)
    yield from solvers()


TABLES = {"readme": readme, "glance": glance}
