"""Figures on hosts, from records of one run each."""

import statistics

from pages.records import chosen, fastest, in_words, number, ratio, records, row, rule, size, turns, us

ZEN3 = "2026-11-27-host-epyc"
XEON32 = "2026-11-27-host-xeon32"
FACES = {
    "zen3": ZEN3,
    "xeon-480": "2026-11-23-host-xeon",
    "xeon-16": "2026-11-24-host-xeon16-faces",
    "xeon-16u": "2026-11-20-host-xeon",
    "xeon-2.8": "2026-11-22-host-xeon",
}
LAYOUTS = ("block", "block-stride", "stride")
EXTENTS = (32, 64, 128)


def of_peer(peers, *names):
    return fastest([record for record in peers if (record["peer"] or "").startswith(names)])


def first_turn(name, bench, **fields):
    """The first turn in which MPI took part and no protocol was forced, or None."""
    found = (
        (own, peers)
        for own, peers in turns(name, bench, ranks=2, **fields)
        if of_peer(peers, "mpi") and own["fabric"] == "shm" and not any(word in own["command"] for word in ("--route", "--channel", "--unguarded"))
    )
    return next(found, None)


def messages():
    yield row("bytes", "OpenTCA µs, protocol", "MPI µs", "ratio", "limit µs")
    yield rule(5)
    for count in (8, 64, 512, 4096, 32768, 262144, 2097152, 8388608):
        own, peers = first_turn(ZEN3, "pingpong", bytes=count)
        mpi = of_peer(peers, "mpi")
        limit = of_peer(peers, "memcpy")
        yield row(size(count).removesuffix(" B"), f"{us(own)} {own['protocol']}", us(mpi), in_words(mpi, own), us(limit))


def faces(name):
    yield row("", "", "OpenTCA µs, protocol", "MPI µs", "ratio", "by hand µs, way")
    yield rule(6)
    for layout in LAYOUTS:
        for n in EXTENTS:
            turn = first_turn(name, "halo", layout=layout, n=n)
            if turn is None:
                continue
            own, peers = turn
            mpi = of_peer(peers, "mpi")
            hand = of_peer(peers, "hand")
            by_hand = f"{us(hand)} {hand['protocol']}" if hand else ""
            head = layout if n == EXTENTS[0] else ""
            yield row(head, f"{n}³", f"{us(own)} {own['protocol']}", us(mpi), in_words(mpi, own), by_hand)


BLOCKS = (8, 512, 4096, 32768, 262144, 2097152)
WHAT = {"bcast": "broadcast", "allgather": "allgather", "allreduce": "allreduce", "reduce_scatter": "reduce-scatter", "alltoall": "all-to-all"}


def cell(turn):
    if turn is None:
        return ""
    own, mpi = turn
    return f"{us(own)} ({ratio(mpi, own):.1f})"


def beside_mpi(name, bench, **fields):
    found = [(own, of_peer(peers, "mpi")) for own, peers in turns(name, bench, fabric="shm", **fields)]
    return next((turn for turn in found if turn[1]), None)


def collectives():
    yield row("", "ranks", *map(size, BLOCKS))
    yield rule(2 + len(BLOCKS))
    for what, name in WHAT.items():
        for ranks in (2, 4, 8):
            cells = [cell(beside_mpi(ZEN3, what, ranks=ranks, bytes=count)) for count in BLOCKS]
            yield row(name if ranks == 2 else "", ranks, *cells)
    for ranks in (2, 4, 8):
        yield row("barrier" if ranks == 2 else "", ranks, cell(beside_mpi(ZEN3, "barrier", ranks=ranks)), *[""] * (len(BLOCKS) - 1))


def cg():
    yield row("class", "ranks, division", "OpenTCA µs", "MPI µs", "ratio", "zeta off by")
    yield rule(6)
    for own, peers in turns(XEON32, "npb_cg"):
        mpi = of_peer(peers, "mpi")
        division = own["layout"].removeprefix("grid ")
        beside = (us(mpi), in_words(mpi, own)) if mpi else ("", "")
        yield row(own["class"], f"{own['ranks']}, {division}", us(own), *beside, f"{own['zeta_error']:.1e}")


def searches():
    ranks = (1, 2, 16)
    yield row("scale", *(f"{count} rank{'s' if count > 1 else ''}" for count in ranks))
    yield rule(4)
    for scale in (12, 15, 18, 20):
        found = [chosen(XEON32, bench="graph500_bfs", peer=None, fabric="shm", validated=True, scale=scale, ranks=count) for count in ranks]
        yield row(scale, *(f"{one[0]['teps_harmonic_mean'] / 1e9:.2f}" if one else "" for one in found))


def transforms():
    file = "2026-11-28-host-xeon32-applications"
    peers = {"datatype": "MPI_Alltoallw", "packed": "MPI_Alltoallv, packed", "fftw": "FFTW over MPI"}
    yield row("array", "ranks", "OpenTCA", *peers.values())
    yield rule(3 + len(peers))
    for own, theirs in turns(file, "fft"):
        cells = {record["protocol"]: record for record in theirs}
        yield row(f"{own['n']}³", own["ranks"], us(own), *(us(cells.get(protocol)) for protocol in peers))


def ranks():
    """The medians of what several turns gave."""
    names = {"fft": "transform of {}", "heisenberg_spin_glass": "sweep of spins, {}", "pic": "step of a plasma, {}"}
    yield row("", "1 rank", "2 ranks", "times as fast")
    yield rule(4)
    times = {}
    for record in chosen("2026-11-28-host-xeon32-ranks", bench=tuple(names)):
        what = names[record["bench"]].format(" x ".join(map(str, record["extents"])))
        times.setdefault(what, {}).setdefault(record["ranks"], []).append(record["median_us"])
    for what, by_ranks in times.items():
        one, two = (statistics.median(by_ranks[ranks]) for ranks in (1, 2))
        yield row(what, number(one), number(two), number(one / two))


def commits():
    yield row("ranks", "commit, µs a rank", "kept of it, KB a rank", "all, s", "memory at most, GB")
    yield rule(5)
    for record in chosen("2026-11-28-host-xeon-commit", bench="commit"):
        yield row(f"{record['ranks']:,}", us(record), f"{record['commit_bytes_a_rank'] / 1000:.1f}", f"{record['whole_s']:.2f}",
                  f"{record['whole_bytes_a_rank'] * record['ranks'] / 1e9:.2f}")  # fmt: skip


def predicted():
    """What a message was said to take, and what it took beyond what was waited for the other rank."""
    yield row("", "message", "bytes", "channel", "predicted", "measured", "waited")
    yield rule(7)
    for record in chosen("2026-11-28-host-xeon-messages", bench=("npb_cg", "graph500_bfs")):
        cg = record["bench"] == "npb_cg"
        what = f"CG {record['class']}, {record['layout'].removeprefix('grid ')}" if cg else f"BFS {record['scale']}, {record['layout']}"
        for message in record["messages"]:
            waited = message["waiting_us"]
            took = f"{message['median_us'] - waited:.2f}"
            yield row(what, message["name"], message["bytes"], message["channel"], f"{message['predicted_us']:.2f}", took, f"{waited:.2f}")


MPI_PROGRAMS = "2026-11-29-host-xeon-mpi-programs"
MPI_MESSAGES = "2026-11-29-host-xeon-mpi-messages"


def mpi_programs():
    """Collectives of a program that was not changed, by the library and by MPI in turn. What is left to MPI takes as long either way."""
    sizes = (8, 64, 512, 1024, 4096, 32768)
    yield row("served / MPI alone", "MPI", *map(size, sizes))
    yield rule(2 + len(sizes))
    for what in dict.fromkeys(record["bench"] for record in records(MPI_PROGRAMS)):
        for mpi in ("Open MPI", "MPICH"):
            cells = []
            for own, peers in turns(MPI_PROGRAMS, what):
                if own["bytes"] in (0, *sizes) and own["versions"]["mpi"].startswith(mpi):
                    cells.append(f"{us(own)} / {us(peers[0])}")
            name = what.removeprefix("mpi_").capitalize()
            yield row(name if mpi == "Open MPI" else "", mpi, *cells, *[""] * (len(sizes) - len(cells)))


def mpi_messages(bench):
    """Messages of a program that was not changed, by MPI alone and under `tca mpi`."""
    mpis = ("Open MPI", "MPICH")
    sizes = (8, 64, 512, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 128 << 10, 1 << 20)
    found = chosen(MPI_MESSAGES, bench=bench, bytes=sizes)
    yield row("bytes", *(head for mpi in mpis for head in (mpi, "served", "ratio")))
    yield rule(1 + 3 * len(mpis))
    for count in dict.fromkeys(record["bytes"] for record in found):
        cells = []
        for mpi in mpis:
            of = [r for r in found if r["bytes"] == count and r["versions"]["mpi"].startswith(mpi)]
            own, alone = (next(r for r in of if r["peer"] == peer) for peer in (None, "mpi"))
            cells += [us(alone), us(own), f"{ratio(alone, own):.1f}"]
        yield row(size(count).removesuffix(" B"), *cells)


LANGUAGES = "2026-11-28-host-xeon-languages"


def languages():
    yield row("µs", "two ranks", "one rank, to itself")
    yield rule(3)
    calls = (
        ("`chain.run()` of 8 bytes: C++", "step", "c++"),
        ("C", "step", "c"),
        ("Python", "step", "python"),
        ("the four edges of 256² doubles: Python", "halo", "python"),
        ("`chain.put(u.on(right)[1:-1, 0], u[1:-1, -2])`", "declare", "python"),
    )
    for name, call, language in calls:
        own = [fastest(chosen(LANGUAGES, peer=None, call=call, language=language, ranks=ranks)) for ranks in (2, 1)]
        yield row(name, *(f"{record['median_us']:.3g}" for record in own))


def mpi4py():
    yield row("two ranks, mpi4py 4.1.2 on Open MPI 4.1.4", "µs", "times OpenTCA's")
    yield rule(3)
    calls = (
        ("8 bytes: `Sendrecv`", "step", "sendrecv"),
        ("persistent requests", "step", "persistent"),
        ("the four edges: `Sendrecv`, columns copied by NumPy", "halo", "sendrecv"),
        ("persistent requests, columns as a derived type", "halo", "persistent"),
    )
    for name, call, protocol in calls:
        one = fastest(chosen(LANGUAGES, peer="mpi4py", call=call, protocol=protocol))
        yield row(name, us(one), f"{one['ratio']:.1f}")


def near_cores():
    """The first figures: messages, sums and faces between two cores."""
    yield row("", "OpenTCA µs", "MPI µs", "ratio")
    yield rule(4)

    def line(name, turn):
        own, mpi = turn
        return row(name, us(own), us(mpi), in_words(mpi, own))

    for count in (8, 4096, 32768, 2097152):
        own, peers = first_turn(ZEN3, "pingpong", bytes=count)
        yield line(f"{size(count)}, one way", (own, of_peer(peers, "mpi")))
    for count in (8, 32768):
        yield line(f"sum of {size(count)} over both", beside_mpi(ZEN3, "allreduce", ranks=2, bytes=count))
    yield line("barrier", beside_mpi(ZEN3, "barrier", ranks=2))
    for layout, n, name in (("block-stride", 64, "rows"), ("stride", 64, "columns"), ("stride", 128, "columns")):
        own, peers = first_turn(ZEN3, "halo", layout=layout, n=n)
        yield line(f"both faces of {n}³ doubles, {name}", (own, of_peer(peers, "mpi")))


TABLES = {
    "host-near-cores": near_cores,
    "host-messages": messages,
    **{f"host-faces-{name}": lambda file=file: faces(file) for name, file in FACES.items()},
    "host-collectives": collectives,
    "host-cg": cg,
    "host-bfs": searches,
    "host-fft": transforms,
    "host-ranks": ranks,
    "host-commit": commits,
    "host-predicted": predicted,
    "host-languages": languages,
    "host-mpi4py": mpi4py,
    "host-mpi-programs": mpi_programs,
    "host-mpi-pingpong": lambda: mpi_messages("mpi_pingpong"),
    "host-mpi-exchange": lambda: mpi_messages("mpi_exchange"),
}
