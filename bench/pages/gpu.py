"""Messages, faces, sums, collectives and overlaps between GPUs, each beside the best variant of every peer."""

from pages.records import chosen, fastest, number, ratio, row, rule, size, us

# Some records, and the number of their GPUs. Messages are between two of them. The last file was made by a program of its own.
TWO = ("2026-11-28-gpu-2xh200-peers", "2026-11-28-gpu-4xh200"), 2
FOUR_H200S = ("2026-11-28-gpu-4xh200",), 4
FOUR = ("2026-11-27-gpu-4xh100", "2026-11-27-gpu-4xh100-nccl-device"), 4
MSCCLPP = "2026-11-24-gpu-2xh100"
HYBRID = "2026-11-22-gpu-2xh200-hybrid"
# Two processes on one GPU, before its kernels became shorter and after.
SHARED, SHARED_TODAY = "2026-11-29-gpu-h200-shared", "0dd3bf8c"

PEERS = {"nccl": "NCCL", "nvshmem": "NVSHMEM", "mscclpp": "MSCCL++", "mpi": "MPI, staged"}


def variant(record):
    """In a word or two, how a peer did it: the first that its protocol, or how it was started, fits."""
    words = (
        ("float" in (record.get("element") or ""), "windows, floats"),
        ("LL packets" in record["protocol"] or "LLA2A" in record["protocol"], "device API, packets"),
        ("LSA" in record["protocol"], "device API, stores"),
        ("copy engine" in record["protocol"], "copy engine"),
        ("symmetric windows" in record["protocol"], "windows"),
        (record["peer"] == "nccl", "calls"),
        (record["protocol"].startswith("p,"), "`p`"),
        (not record["guarded"], "unguarded"),
        ("pack" in record["protocol"] and record["peer"] == "nvshmem", "packed"),
        ("packets" in record["protocol"], "packets"),
        (record["protocol"].startswith("put,"), "puts"),
    )
    return next((word for holds, word in words if holds), "")


def own_of(files, **fields):
    """OpenTCA's best with all its promises, by a chain that moves what lies in windows or by puts that the kernel produces."""
    return fastest(chosen(files, peer=None, fabric="cuda", guarded=True, **fields))


def said(own):
    return f"{us(own)} (produced)" if own is not None and own["protocol"] == "produced" else us(own)


def beside(found, own):
    """The best of a peer's records with how it was done, bold where it is faster than OpenTCA."""
    best = fastest(found)
    if best is None:
        return ""
    how = variant(best)
    figure = f"**{us(best)}**" if own is not None and best["median_us"] < own["median_us"] else us(best)
    return f"{figure} ({how})" if how else figure


# What a row is called, what its records have, and what OpenTCA's have besides. Peers may be started as they are best where
# OpenTCA is started by a kernel.
def messages_of(gpus):
    faces = {"bench": "halo", "layout": "block-stride", "ranks": gpus}
    for count in (8, 4096, 65536, 1048576):
        yield f"{size(count)} one way, in a kernel", {"bench": "pingpong", "bytes": count, "ranks": (2, gpus)}, {"start": "kernel"}
    for n in (64, 128, 256):
        yield f"both faces of {n}³, in a kernel", {**faces, "n": n}, {"start": "kernel", "scope": "parts"}
        yield "the same with all promises of `start` and `wait`", {**faces, "n": n}, {"start": "kernel", "scope": "grid"}
    for n in (64, 128, 256):
        yield f"both faces of {n}³, in a graph", {**faces, "n": n, "start": ("graph", "host")}, {"start": "graph"}
    sums = {"bench": "allreduce", "ranks": gpus}
    for count in (8, 1024):
        yield f"sum of {size(count)}, in a kernel", {**sums, "bytes": count}, {"start": "kernel", "scope": None}
    yield "sum of 1 KB, in a graph", {**sums, "bytes": 1024, "start": ("graph", "host")}, {"start": "graph"}


def messages(machine):
    files, gpus = machine
    lines = []
    for name, fields, own_fields in messages_of(gpus):
        own = own_of(files, **{**fields, **own_fields})
        others = {peer: chosen(files, peer=peer, **fields) for peer in PEERS}
        if name.startswith("the same"):
            others = {peer: [] for peer in PEERS}
        lines.append((name, own, others))
    shown = [peer for peer in PEERS if any(others[peer] for _, _, others in lines)]
    yield row("µs", "OpenTCA", *(PEERS[peer] for peer in shown))
    yield rule(2 + len(shown))
    for name, own, others in lines:
        if own is not None:
            yield row(name, said(own), *(beside(others[peer], own) for peer in shown))


WHAT = {"bcast": "broadcast", "allgather": "allgather", "allreduce": "sum", "reduce_scatter": "reduce-scatter", "alltoall": "all-to-all"}
SIZES = (8, 1024, 8192, 65536, 1048576, 16777216, 67108864)
LETTERS = {"calls": "", "windows": " w", "windows, floats": " f", "copy engine": " e", "device API, packets": " d", "device API, stores": " d"}


def collective(files, gpus, what, count):
    fields = {"bench": what, "ranks": gpus, "bytes": count, "start": "graph"}
    own = own_of(files, **fields)
    best = fastest(chosen(files, peer="nccl", **fields))
    if own is None:
        return ""
    if best is None:
        return us(own)
    times = ratio(best, own)
    said = f"{times:.2f}{LETTERS[variant(best)]}"
    return f"{us(own)} ({said if times >= 1 else f'**{said}**'})"


def collectives(machine):
    files, gpus = machine
    yield row("", *map(size, SIZES))
    yield rule(1 + len(SIZES))
    for what, name in WHAT.items():
        yield row(name, *(collective(files, gpus, what, count) for count in SIZES))
    yield row("barrier", collective(files, gpus, "barrier", 0), *[""] * (len(SIZES) - 1))


def shared():
    """What a step takes in a graph between two processes that share a GPU: earlier and today."""
    sizes = (8, 1024, 65536, 1048576)
    yield row("µs, earlier / today", *map(size, sizes))
    yield rule(1 + len(sizes))
    for bench, name in (WHAT | {"pingpong": "one way", "halo": "both faces of a cube"}).items():
        yield row(name, *(earlier_and_today(bench=bench, start="graph", bytes=count) for count in sizes))


def earlier_and_today(**of):
    found = chosen(SHARED, **of)
    both = [fastest([r for r in found if (r["commit"] == SHARED_TODAY) == is_new]) for is_new in (False, True)]
    return "" if None in both else " / ".join(map(us, both))


def large_puts(machine):
    files, _ = machine
    yield row("256 MB from one GPU to another", "GB/s", "of a copy")
    yield rule(3)
    copy = fastest(chosen(files, bench="put", peer="copy", layout="block"))
    for peer, name in ((None, "OpenTCA"), ("nccl", "NCCL"), ("copy", "`cudaMemcpyAsync`, which tells nobody")):
        best = fastest(chosen(files, bench="put", peer=peer, layout="block"))
        if best is not None:
            how = f" ({variant(best)})" if peer == "nccl" else ""
            yield row(name + how, f"{best['gbps']:.0f}", f"{100 * copy['median_us'] / best['median_us']:.0f} %")
    for length in (256, 1024, 4096):
        best = fastest(chosen(files, bench="put", peer=None, layout="block-stride", row_bytes=length))
        if best is not None:
            yield row(f"OpenTCA, rows of {size(length)}", f"{best['gbps']:.0f}", f"{100 * copy['median_us'] / best['median_us']:.0f} %")


def in_kernels():
    """What a chain takes that moves what lies in windows, what puts take that the kernel produces, and peers' kernels."""
    file = "2026-11-28-gpu-4xh200"
    yield row("µs", "a chain", "produced puts", "unguarded", "NCCL, packets", "NCCL, stores", "NVSHMEM")
    yield rule(7)
    lines = [(f"{size(count)} one way", {"bench": "pingpong", "bytes": count}) for count in (8, 4096, 65536, 1048576)]
    lines += [(f"both faces of {n}³", {"bench": "halo", "n": n, "scope": "parts"}) for n in (64, 128)]
    lines += [(f"sum of {n} double{'s' if n > 1 else ''}", {"bench": "allreduce", "n": n, "scope": None}) for n in (1, 128)]
    for name, of in lines:
        found = [fastest(chosen(file, peer=None, protocol="ll", **of))]
        found += [fastest(chosen(file, peer=None, protocol="produced", guarded=guarded, **of)) for guarded in (True, False)]
        found += [fastest(chosen(file, protocol=protocol, **of)) for protocol in ("device API, LL packets", "device API, LSA stores")]
        yield row(name, *map(us, [*found, fastest(chosen(file, peer="nvshmem", **of))]))


def engine(machine):
    return fastest(chosen(machine[0], bench="pingpong", start="engine", bytes=8, peer=None))


def mscclpp():
    """Beside the record of the same two GPUs that has MSCCL++; OpenTCA's figures are of that run too."""
    yield row("µs, two H100s, in a kernel", "OpenTCA", "MSCCL++")
    yield rule(3)
    for name, fields, own_fields in messages_of(2):
        if own_fields["start"] != "kernel" or name.startswith("the same"):
            continue
        own = own_of(MSCCLPP, **{**fields, **own_fields})
        theirs = chosen(MSCCLPP, peer="mscclpp", **fields)
        if own is not None and theirs:
            yield row(name.removesuffix(", in a kernel"), us(own), beside(theirs, own))


def which_nccl():
    """NCCL in each of its ways on four GPUs."""
    files, gpus = FOUR
    ways = ("calls", "windows", "device API")
    yield row("four H100s, µs", "OpenTCA", "NCCL, ordinary calls, graph", "NCCL, symmetric windows, graph", "NCCL, device API, kernel")
    yield rule(5)

    def line(name, own, found):
        cells = [fastest([r for r in found if variant(r).startswith(way)]) for way in ways]
        least = min(r["median_us"] for r in [own, *cells] if r is not None)
        return row(name, *(f"**{us(r)}**" if r is not None and r["median_us"] == least else us(r) for r in [own, *cells]))

    for name, fields, own_fields in messages_of(gpus):
        if own_fields["start"] == "kernel" and not name.startswith("the same") and fields.get("bytes", 8) in (8, 1024):
            own = own_of(files, **{**fields, **own_fields})
            yield line(name, own, chosen(files, peer="nccl", **fields))
    for what, name in WHAT.items():
        for count in SIZES:
            fields = {"bench": what, "ranks": gpus, "bytes": count, "start": "graph"}
            own = own_of(files, **fields)
            found = chosen(files, peer="nccl", **fields)
            if own is not None and any(variant(r) != "calls" for r in found):
                yield line(f"{name} of {size(count)}", own, found)


def over_mpi(peer, **fields):
    return fastest([record for record in chosen(HYBRID, peer=peer, **fields) if "cuda+mpi" in record["command"]])


def over_mpi_messages():
    sizes = (8, 4096, 65536, 262144, 1048576, 16777216)
    yield row("one way", *map(size, sizes))
    yield rule(1 + len(sizes))
    own, theirs = ([over_mpi(peer, bench="pingpong", bytes=count) for count in sizes] for peer in (None, "mpi"))
    yield row("OpenTCA, by graph", *map(us, own))
    yield row("MPI, staged", *(f"{us(t)} ({ratio(t, o):.2f})" if t else "" for t, o in zip(theirs, own)))


def pair(fields):
    own, theirs = (over_mpi(peer, **fields) for peer in (None, "mpi"))
    return f"{us(own)} ({ratio(theirs, own):.2f})" if own and theirs else us(own)


def over_mpi_faces():
    extents = (32, 64, 128)
    yield row("both faces of a cube to both neighbours", *(f"{n}³" for n in extents))
    yield rule(4)
    for layout in ("block", "block-stride", "stride"):
        yield row(layout, *(pair({"bench": "halo", "layout": layout, "n": n}) for n in extents))


def over_mpi_collectives():
    sizes = (8, 1024, 8192, 65536, 1048576)
    yield row("", *map(size, sizes))
    yield rule(6)
    for what in ("bcast", "allgather", "alltoall"):
        yield row(WHAT[what], *(pair({"bench": what, "bytes": count}) for count in sizes))


def overlaps(machine):
    """What a computation loses for each exchange beside it, of what the exchange takes by itself."""
    files, _ = machine
    found = chosen(files, bench="overlap", fabric=("cuda", "nccl"))
    sizes = sorted({record["bytes"] for record in found})
    yield row("µs lost, of µs", "beside", *map(size, sizes))
    yield rule(2 + len(sizes))
    for peer, protocol, start in dict.fromkeys((r["peer"], r["protocol"], r["start"]) for r in found):
        who = f"{PEERS.get(peer, 'OpenTCA')}, {protocol.replace('_', ' ')}, by {start}"
        for kind in ("arithmetic", "memory"):
            of = {"bench": "overlap", "peer": peer, "protocol": protocol, "start": start, "computation": kind}
            cells = [fastest(chosen(files, bytes=count, **of)) for count in sizes]
            yield row(who if kind == "arithmetic" else "", kind, *map(lost, cells))


def lost(record):
    if record is None:
        return ""
    each = (record["median_us"] - record["compute_us"]) / record["puts"]
    return f"{number(max(each, 0))} of {number(record['exchange_us'] / record['puts'])}"


TABLES = {
    "gpu-messages-two": lambda: messages(TWO),
    "gpu-messages-four": lambda: messages(FOUR),
    "gpu-messages-four-h200s": lambda: messages(FOUR_H200S),
    "gpu-collectives-two": lambda: collectives(TWO),
    "gpu-collectives-four": lambda: collectives(FOUR),
    "gpu-collectives-shared": shared,
    "gpu-puts-four": lambda: large_puts(FOUR),
    "gpu-overlap": lambda: overlaps(TWO),
    "gpu-in-kernels": in_kernels,
    "gpu-mscclpp": mscclpp,
    "gpu-nccl": which_nccl,
    "gpu-over-mpi-messages": over_mpi_messages,
    "gpu-over-mpi-faces": over_mpi_faces,
    "gpu-over-mpi-collectives": over_mpi_collectives,
}
