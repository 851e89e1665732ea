"""Applications on GPUs."""

from pages.records import chosen, fastest, number, row, rule, us

FOUR_H100S = "2026-11-27-gpu-4xh100"
TWO_H100S = "2026-11-26-gpu-2xh100"
CG_H100S = "2026-11-28-gpu-4xh100-cg"
SEARCHES = "2026-11-28-gpu-2xh200-bfs-posts"
LATEST = "2026-11-28-gpu-2xh200-applications"
TWO_H200S = "2026-11-28-gpu-2xh200-apps"
FOUR_H200S = "2026-11-28-gpu-4xh200"
ONE_H200 = "2026-11-29-gpu-h200"
QUDA = "2026-11-20-gpu-quda"


def himeno():
    yield row("an iteration, µs", "H100s", "by one kernel", "by graph", "NCCL, pack and unpack in a graph", "NCCL's over the better of ours")
    yield rule(6)
    names = {"S": "S", "M": "M", "32x64x128": "half of S (`--size 32x64x128`)", "64x128x256": "half of M (`--size 64x128x256`)"}
    for size, name in names.items():
        for file, gpus in ((TWO_H100S, 2), (FOUR_H100S, 4)):
            of = {"bench": "himeno", "size": size, "ranks": gpus}
            kernel, graph = (fastest(chosen(file, peer=None, start=start, **of)) for start in ("kernel", "graph"))
            nccl = fastest(chosen(file, peer="nccl", **of))
            best = fastest([kernel, graph])
            yield row(name if gpus == 2 else "", gpus, us(kernel), us(graph), us(nccl), f"{nccl['median_us'] / best['median_us']:.1f}")


def cg_of_lattices():
    yield row("", "H100s", "by kernel", "by graph", "NCCL, in a graph", "MPI, staged", "QUDA, H200s")
    yield rule(7)
    for n in (8, 16, 32):
        for gpus in (1, 2, 4):
            of = {"bench": "qcd_cg", "n": n, "ranks": gpus}
            found = [fastest(chosen(FOUR_H100S, peer=None, start=start, **of)) for start in ("kernel", "graph")]
            peers = [fastest(chosen(FOUR_H100S, peer=peer, **of)) for peer in ("nccl", "mpi")]
            quda = fastest(chosen(QUDA, peer="quda", **of))
            yield row(f"{n}⁴" if gpus == 1 else "", gpus, *map(us, [*found, *peers, quda]))


def solves_on_one_gpu():
    """Several right-hand sides in step are told for each of them."""
    file = "2026-11-24-gpu-h100-qcd"
    yield row("", "double, by kernel", "by graph", "together, for each of them", "mixed, by kernel", "by graph")
    yield rule(6)
    for n in (8, 16, 32):
        of = {"bench": "qcd_cg", "n": n, "kappa": 0.12}
        alone = {
            (precision, start): us(fastest(chosen(file, precision=precision, start=start, rhs=1, **of)))
            for precision in ("double", "mixed")
            for start in ("kernel", "graph")
        }
        several = fastest([record for record in chosen(file, **of) if record["rhs"] > 1])
        each = f"{number(several['median_us'] / several['rhs'])} (of {several['rhs']})"
        yield row(f"{n}⁴", alone["double", "kernel"], alone["double", "graph"], each, alone["mixed", "kernel"], alone["mixed", "graph"])


CLASSES = {"S": "1,400", "A": "14,000", "B": "75,000", "C": "150,000"}


def cg(file, ranks, nccl_on):
    kinds = [(1, "npb"), *((count, order) for count in ranks for order in ("npb", "merged"))]
    heads = [f"{count} GPU{'s' if count > 1 else ''}{', merged' if order == 'merged' else ''}" for count, order in kinds]
    yield row("class", "rows", *heads, f"NCCL on {nccl_on}")
    yield rule(3 + len(kinds))
    for name, rows in CLASSES.items():
        of = {"bench": "npb_cg", "class": name}
        cells = [fastest(chosen(file, peer=None, start="kernel", ranks=count, order=order, **of)) for count, order in kinds]
        nccl = fastest(chosen(file, peer="nccl", ranks=nccl_on, **of))
        if any(cells):
            yield row(name, rows, *map(us, [*cells, nccl]))


def rate(record):
    return "" if record is None else f"{us(record)}, {number(record['teps_harmonic_mean'] / 1e9)}"


def lattices_on_h200s():
    yield row("", "H200s", "an iteration")
    yield rule(3)
    for n in (8, 16):
        for gpus, file in ((1, TWO_H200S), (2, TWO_H200S), (4, FOUR_H200S)):
            found = fastest(chosen(file, bench="qcd_cg", n=n, ranks=gpus, start="kernel"))
            yield row(f"{n}⁴" if gpus == 1 else "", gpus, us(found))


def searches():
    yield row("scale", "1 GPU", "2 GPUs", "4 GPUs", "NCCL on 2")
    yield rule(5)
    for scale in (12, 15, 18, 20, 24):
        of = {"bench": "graph500_bfs", "layout": "packed", "scale": scale}
        nccl = fastest(chosen(SEARCHES, peer="nccl", ranks=2, **of))
        of.update(peer=None, start="resident")
        in_turn = chosen(SEARCHES, ranks=2, command=nccl["command"], **of) if nccl else chosen(SEARCHES, ranks=2, **of)
        yield row(scale, *map(rate, [fastest(chosen(SEARCHES, ranks=1, **of)), fastest(in_turn), fastest(chosen(FOUR_H200S, ranks=4, **of)), nccl]))


def transforms():
    yield row("array", "1 GPU", "2 GPUs", "NCCL on 2")
    yield rule(4)
    for n, name, kind in ((64, "64³", None), (128, "128³", None), (256, "256³", None), (128, "class A of NPB, a step", "A")):
        of = {"bench": "fft", "n": n, "class": kind, "start": "graph"}
        files = (LATEST, TWO_H200S)
        own = [fastest(chosen(files, peer=None, ranks=count, **of)) for count in (1, 2)]
        yield row(name, *map(us, [*own, fastest(chosen(files, peer="nccl", ranks=2, **of))]))


def spin():
    yield row("lattice", "1 GPU, one kernel", "2 GPUs, one kernel", "2 GPUs, graph", "4 GPUs, one kernel", "4 GPUs, graph", "NCCL on 2, graph")
    yield rule(7)
    for n in (64, 256):
        of = {"bench": "heisenberg_spin_glass", "n": n}
        ways = [{"peer": None, "ranks": ranks, "start": start} for ranks in (2, 4) for start in ("kernel", "graph")]
        ways = [{"peer": None, "ranks": 1, "start": "kernel"}, *ways, {"peer": "nccl", "ranks": 2}]
        found = [fastest(chosen((LATEST, TWO_H200S, FOUR_H200S), **way, **of)) for way in ways]
        yield row(f"{n}³", *(number(record["ps_an_update"]) if record else "" for record in found))


def plasma():
    yield row("cells", "electrons", "1 GPU, graph", "1 GPU, one kernel", "2 GPUs, graph", "2 GPUs, one kernel", "4 GPUs, graph", "NCCL on 2", "NCCL on 4")
    yield rule(9)
    for n in (64, 32):
        of = {"bench": "pic", "n": n, "wave": "growth rate"}
        ways = [{"peer": None, "ranks": ranks, "start": start} for ranks in (1, 2) for start in ("graph", "kernel")]
        ways += [{"peer": None, "ranks": 4}, {"peer": "nccl", "ranks": 2}, {"peer": "nccl", "ranks": 4}]
        cells = [fastest(chosen((TWO_H200S, FOUR_H200S), **way, **of)) for way in ways]
        yield row(f"{n}³", f"{cells[0]['particles']:,}", *map(us, cells))


def trigger():
    yield row("events a second", "batches of", "GPUs", "p50", "p99", "p99.9", "most")
    yield rule(7)
    for own in sorted(chosen(TWO_H200S, bench="trigger", peer=None), key=lambda record: (record["ranks"], record["rate"])):
        batch = own["layout"].removeprefix("batches of ")
        times = (number(own[key]) for key in ("median_us", "p99_us", "p999_us", "max_us"))
        yield row(f"{own['rate'] / 1e6:.2g} million", batch, own["ranks"], *times)


def trigger_by_launches():
    yield row("answered by", "p50", "p99", "p99.9", "most")
    yield rule(5)
    for name, peer in (("a kernel that is always there", None), ("a launch for each batch", "launches")):
        for record in chosen(ONE_H200, bench="trigger", peer=peer):
            yield row(name, *(number(record[key]) for key in ("median_us", "p99_us", "p999_us", "max_us")))


def hops_of_quda():
    yield row("partitioned", "QUDA's default (policies 0 and 1)", "one kernel a hop on OpenTCA (policies 14 and 15)")
    yield rule(3)
    for mask, name in ((0, "nothing"), (8, "t"), (12, "z, t"), (14, "y, z, t"), (15, "x, y, z, t")):
        of = {"bench": "qcd_hop", "layout": f"partition {mask}"}
        yield row(name, *(us(fastest(chosen(ONE_H200, peer=peer, **of))) for peer in ("quda", None)))


TABLES = {
    "gpu-himeno": himeno,
    "gpu-qcd": cg_of_lattices,
    "gpu-qcd-one": solves_on_one_gpu,
    "gpu-cg-h200": lambda: cg((LATEST, FOUR_H200S), (2, 4), 2),
    "gpu-qcd-h200": lattices_on_h200s,
    "gpu-cg-h100": lambda: cg(CG_H100S, (2, 4), 4),
    "gpu-bfs": searches,
    "gpu-fft": transforms,
    "gpu-spin": spin,
    "gpu-pic": plasma,
    "gpu-trigger": trigger,
    "gpu-trigger-launches": trigger_by_launches,
    "gpu-quda-hops": hops_of_quda,
}
