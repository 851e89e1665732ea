#!/usr/bin/env python3
"""Checks the SPIN models of the signal protocols: those that must hold, and broken variants that must fail.

run.py [NAME...]   checks the named models, or all; exits with 1 on any surprise and with 77 without spin
run.py --list      prints the names
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIME_LIMIT_S = 120  # for one search; the longest takes a few seconds
SKIPPED = 77

HOLDS = "holds"
ASSERTION = "assertion violated"
DEADLOCK = "invalid end state"
CYCLE = "acceptance cycle"

# Name (the part before the dash is the file), definitions, what must come out.
MODELS = [
    ("direct-mutual", "", HOLDS),
    ("direct-one_way", "ONE_WAY", HOLDS),
    ("direct-ring", "RING", HOLDS),
    ("direct-no_guard", "BREAK_NO_GUARD", ASSERTION),
    ("direct-guard_late", "BREAK_GUARD_LATE", ASSERTION),
    ("direct-return_early", "BREAK_RETURN_EARLY", ASSERTION),
    ("direct-order", "BREAK_ORDER", ASSERTION),
    ("direct-relaxed_arrive", "BREAK_RELAXED", ASSERTION),
    ("direct-relaxed_ready", "BREAK_READ_LATE", ASSERTION),
    ("direct-no_acquire", "BREAK_READ_EARLY", ASSERTION),
    ("direct-no_end", "BREAK_NO_END", CYCLE),
    ("double-mutual", "", HOLDS),
    ("double-one_buffer", "BREAK_ONE_BUFFER", ASSERTION),
    ("double-one_way", "ONE_WAY", ASSERTION),
    ("double-ring", "RING", ASSERTION),
    ("double-read_on", "BREAK_READ_ON", ASSERTION),
    ("double-relaxed_arrive", "BREAK_RELAXED", ASSERTION),
    ("signals-mutual", "", HOLDS),
    ("signals-meet", "MEET", HOLDS),
    ("signals-same_parity", "BREAK_SAME_PARITY", ASSERTION),
    ("signals-one_buffer", "BREAK_ONE_BUFFER", ASSERTION),
    ("signals-relaxed_arrive", "BREAK_RELAXED", ASSERTION),
    ("produced-mutual", "", HOLDS),
    ("produced-one_way", "ONE_WAY", HOLDS),
    ("produced-ring", "RING STEPS=2", HOLDS),
    ("produced-turns", "TURNS", HOLDS),
    ("produced-no_room", "ONE_WAY BREAK_NO_ROOM", DEADLOCK),
    ("produced-room_late", "ONE_WAY BREAK_ROOM_LATE", DEADLOCK),
    ("produced-said_early", "ONE_WAY BREAK_SAID_EARLY", DEADLOCK),
    ("produced-one_buffer", "BREAK_ONE_BUFFER", DEADLOCK),
    ("produced-turns_one_way", "TURNS ONE_WAY", DEADLOCK),
    ("produced-first_of_all", "TURNS BREAK_FIRST_OF_ALL", DEADLOCK),
    ("staged-mutual", "", HOLDS),
    ("staged-one_way", "ONE_WAY", HOLDS),
    ("staged-ring", "RING", HOLDS),
    ("staged-no_ready", "ONE_WAY BREAK_NO_READY", ASSERTION),
    ("staged-ready_late", "ONE_WAY BREAK_READY_LATE", ASSERTION),
    ("staged-ring_of_one", "BREAK_RING_OF_ONE", ASSERTION),
    ("staged-relaxed_arrive", "BREAK_RELAXED", ASSERTION),
    ("staged-scatter_late", "BREAK_SCATTER_LATE", ASSERTION),
    ("staged-relaxed_ready", "ONE_WAY BREAK_SCATTER_LATE", ASSERTION),
    ("staged-no_acquire", "BREAK_SCATTER_EARLY", ASSERTION),
    ("pull-mutual", "", HOLDS),
    ("pull-one_way", "ONE_WAY", HOLDS),
    ("pull-ring", "RING", HOLDS),
    ("pull-no_done", "BREAK_NO_DONE", ASSERTION),
    ("pull-relaxed_arrive", "BREAK_RELAXED", ASSERTION),
    ("pull-relaxed_done", "BREAK_DONE_FIRST", ASSERTION),
    ("pull-no_acquire", "BREAK_COPY_EARLY", ASSERTION),
    ("counted-direct", "", HOLDS),
    ("counted-direct_one_way", "ONE_WAY", HOLDS),
    ("counted-staged", "STAGED", HOLDS),
    ("counted-staged_one_way", "STAGED ONE_WAY", HOLDS),
    ("counted-pull", "PULL", HOLDS),
    ("counted-order", "BREAK_ORDER", ASSERTION),
    ("counted-relaxed_arrive", "BREAK_RELAXED", ASSERTION),
    ("counted-no_acquire", "BREAK_READ_EARLY", ASSERTION),
    ("counted-one_word", "STAGED BREAK_ONE_WORD", ASSERTION),
    ("counted-set_late", "BREAK_SET_LATE", ASSERTION),
    ("counted-whole", "STAGED BREAK_WHOLE", ASSERTION),
    ("mixed-direct", "", HOLDS),
    ("mixed-pull", "PULL", HOLDS),
    ("mixed-no_arrive", "BREAK_NO_ARRIVE", ASSERTION),
    ("chains-direct", "", HOLDS),
    ("chains-pull", "PULL", HOLDS),
    ("chains-direct_and_pull", "DIRECT_AND_PULL", HOLDS),
    ("chains-barrier", "BARRIER", HOLDS),
    ("chains-own_chain_direct", "BREAK_OWN_CHAIN", DEADLOCK),
    ("chains-own_chain_pull", "PULL BREAK_OWN_CHAIN", DEADLOCK),
    ("chains-start_blocks", "BREAK_START_BLOCKS", DEADLOCK),
    ("chains-barrier_idle", "BARRIER BREAK_BARRIER_IDLE", DEADLOCK),
    ("board-two", "RANKS=2", HOLDS),
    ("board-three", "RANKS=3 STEPS=2", HOLDS),
    ("board-one_phase", "RANKS=3 STEPS=2 BREAK_ONE_PHASE", ASSERTION),
    ("board-relaxed_odd", "RANKS=2 BREAK_RELAXED", ASSERTION),
    ("board-relaxed_even", "RANKS=2 BREAK_READ_LATE", ASSERTION),
    ("board-no_acquire", "RANKS=2 BREAK_READ_EARLY", ASSERTION),
    ("exchange-three", "", HOLDS),
    ("exchange-one_tally", "BREAK_ONE_TALLY", ASSERTION),
    ("exchange-mark_late", "BREAK_MARK_LATE", ASSERTION),
    ("exchange-take_late", "BREAK_TAKE_LATE", ASSERTION),
    ("group-two", "", HOLDS),
    ("group-no_wait", "BREAK_NO_WAIT", ASSERTION),
    ("group-one_name", "BREAK_ONE_NAME", ASSERTION),
    ("group-count_late", "BREAK_COUNT_LATE", DEADLOCK),
    ("group-relaxed_name", "BREAK_RELAXED", ASSERTION),
    ("group-relaxed_count", "BREAK_READ_LATE", ASSERTION),
    ("group-no_acquire", "BREAK_READ_EARLY", ASSERTION),
    ("release-once_all_did", "", HOLDS),
    ("release-reuse_happens", "SHOW_REUSE", ASSERTION),
    ("release-reuse_early", "BREAK_REUSE_EARLY", ASSERTION),
    ("release-same_commit", "BREAK_SAME_COMMIT", DEADLOCK),
    ("release-abandoned", "ABANDON", HOLDS),
    ("release-drives_on", "ABANDON BREAK_DRIVES_ON", ASSERTION),
    ("ll-mutual", "", HOLDS),
    ("ll-one_way", "ONE_WAY", HOLDS),
    ("ll-ring", "RING", HOLDS),
    ("ll-no_ack", "ONE_WAY BREAK_NO_ACK", DEADLOCK),
    ("ll-ack_late", "ONE_WAY BREAK_ACK_LATE", DEADLOCK),
    ("ll-ack_first", "ONE_WAY BREAK_ACK_FIRST", DEADLOCK),
    ("ll-one_buffer", "BREAK_ONE_BUFFER", DEADLOCK),
    ("ll-halves", "BREAK_HALVES", ASSERTION),
    ("ll_counted-mutual", "STEPS=3", HOLDS),
    ("ll_counted-one_way", "ONE_WAY", HOLDS),
    ("ll_counted-wrap", "ONE_WAY WRAP STEPS=10", HOLDS),
    ("ll_counted-stale", "ONE_WAY WRAP STEPS=10 BREAK_STALE", ASSERTION),
    ("ll_counted-no_ack", "ONE_WAY BREAK_NO_ACK", DEADLOCK),
    ("ll_counted-ack_first", "ONE_WAY BREAK_ACK_FIRST", DEADLOCK),
    ("ll_counted-one_buffer", "BREAK_ONE_BUFFER", DEADLOCK),
    ("ll_counted-length_early", "ONE_WAY BREAK_LENGTH_EARLY", ASSERTION),
    ("ll_counted-unchecked", "ONE_WAY BREAK_UNCHECKED", ASSERTION),
    ("ll_counted-waits_for_all", "ONE_WAY BREAK_WAITS_FOR_ALL", DEADLOCK),
    ("grid-one_trip", "STEPS=2", HOLDS),
    ("grid-two_trips", "TWO", HOLDS),
    ("grid-mixed", "MIXED STEPS=3", HOLDS),
    ("grid-one_set", "BREAK_ONE_SET STEPS=2", DEADLOCK),
    ("grid-one_set_in_two_trips", "TWO BREAK_ONE_SET", DEADLOCK),
    ("grid-no_fence", "STEPS=1 BREAK_NO_FENCE", ASSERTION),
    ("grid-total_early", "TWO BREAK_TOTAL_EARLY STEPS=1", ASSERTION),
    ("relay-two", "", HOLDS),
    ("relay-no_ack", "BREAK_NO_ACK", DEADLOCK),
    ("relay-ack_late", "BREAK_ACK_LATE", DEADLOCK),
    ("relay-one_set", "BREAK_ONE_SET", DEADLOCK),
    ("relay-idle", "BREAK_IDLE_RELAY", DEADLOCK),
    ("meeting-barriers", "STEPS=2", HOLDS),
    ("meeting-broadcasts", "BROADCASTS PES=2 STEPS=4", HOLDS),
    ("meeting-mixed", "MIXED PES=2 STEPS=5", HOLDS),
    ("meeting-one_set", "PES=2 BREAK_ONE_SET", DEADLOCK),
    ("meeting-root_alone", "BROADCASTS PES=2 BREAK_ROOT_ALONE", DEADLOCK),
    ("meeting-no_fence", "PES=2 BREAK_NO_FENCE", ASSERTION),
    ("parts-all_receive", "", HOLDS),
    ("parts-one_receives", "ONE_UNIT", HOLDS),
    ("parts-first_part", "BREAK_FIRST_PART", ASSERTION),
    ("parts-counted_twice", "ONE_UNIT BREAK_COUNTED_TWICE", ASSERTION),
    ("parts-guard_late", "BREAK_GUARD_LATE", ASSERTION),
    ("parts-order", "BREAK_ORDER", ASSERTION),
    ("parts-relaxed_arrive", "BREAK_RELAXED", ASSERTION),
    ("engine-rings", "", HOLDS),
    ("engine-no_look_at_kernels", "BREAK_KERNELS_LOOK", DEADLOCK),
    ("engine-no_kernel_fence", "BREAK_KERNEL_FENCE", DEADLOCK),
    ("engine-call_forgotten", "BREAK_CALL", DEADLOCK),
    ("engine-no_last_look", "BREAK_LAST_LOOK", DEADLOCK),
    ("engine-no_engine_fence", "BREAK_ENGINE_FENCE", DEADLOCK),
    ("engine-no_host_fence", "BREAK_HOST_FENCE", DEADLOCK),
    ("engine-no_wait", "BREAK_WAIT", DEADLOCK),
    ("engine-no_number", "BREAK_LAST", ASSERTION),
    ("give_up-vote", "", HOLDS),
    ("give_up-word", "WORD", HOLDS),
    ("give_up-leaves", "BREAK_LEAVES", DEADLOCK),
    ("give_up-own_verdict", "BREAK_OWN_VERDICT", ASSERTION),
    ("give_up-one_barrier", "WORD BREAK_ONE_BARRIER", DEADLOCK),
    ("mpi-mutual", "", HOLDS),
    ("mpi-one_way", "ONE_WAY", HOLDS),
    ("mpi-ring", "RING STEPS=2", HOLDS),
    ("mpi-every_second_start", "ONE_WAY PERIOD=2 STEPS=7", HOLDS),
    ("mpi-posted_ahead", "BREAK_POSTED_AHEAD", ASSERTION),
    ("mpi-return_early", "BREAK_RETURN_EARLY", ASSERTION),
    ("mpi-no_confirmation", "ONE_WAY BREAK_NO_CONFIRMATION", ASSERTION),
    ("carried-mutual", "", HOLDS),
    ("carried-one_way", "ONE_WAY", HOLDS),
    ("carried-gather_early", "BREAK_GATHER_EARLY", ASSERTION),
    ("carried-send_early", "BREAK_SEND_EARLY", ASSERTION),
    ("carried-gone_early", "BREAK_GONE_EARLY", ASSERTION),
    ("carried-post_early", "BREAK_POST_EARLY", ASSERTION),
    ("carried-scatter_early", "BREAK_SCATTER_EARLY", ASSERTION),
    ("rma-mutual", "", HOLDS),
    ("rma-one_way", "ONE_WAY", HOLDS),
    ("rma-ring", "RING STEPS=2", HOLDS),
    ("rma-no_invitation", "BREAK_NO_INVITATION", ASSERTION),
    ("rma-invited_first", "BREAK_INVITED_FIRST", ASSERTION),
    ("rma-no_complete", "BREAK_NO_COMPLETE", ASSERTION),
    ("rma-no_test", "BREAK_NO_TEST", ASSERTION),
    ("rma-target_first", "BREAK_TARGET_FIRST", DEADLOCK),
    ("immediate-confirmed", "", HOLDS),
    ("immediate-no_confirmation", "BREAK_NO_CONFIRMATION", ASSERTION),
    ("notice-tags", "", HOLDS),
    ("notice-same_tag", "SAME_TAG", HOLDS),
    ("notice-two_sides", "TWO_SIDES", HOLDS),
    ("notice-two_sides_same_tag", "TWO_SIDES SAME_TAG", HOLDS),
    ("notice-two_sides_behind", "TWO_SIDES BREAK_BEHIND", ASSERTION),
    ("notice-two_sides_other_side", "TWO_SIDES BREAK_OTHER_SIDE", ASSERTION),
    ("notice-two_sides_not_taken", "TWO_SIDES BREAK_NOT_TAKEN", ASSERTION),
    ("notice-order", "BREAK_ORDER", ASSERTION),
    ("notice-relaxed_lane", "BREAK_RELAXED", ASSERTION),
    ("notice-no_acquire", "BREAK_READ_EARLY", ASSERTION),
    ("notice-tag_late", "BREAK_TAG_LATE", ASSERTION),
    ("notice-not_taken", "BREAK_NOT_TAKEN", ASSERTION),
    ("turns-two_streams", "", HOLDS),
    ("turns-no_lock", "BREAK_NO_LOCK", ASSERTION),
    ("turns-any_turn", "BREAK_ANY_TURN", ASSERTION),
    ("turns-same_turn", "BREAK_SAME_TURN", ASSERTION),
    ("turns-raise_late", "BREAK_RAISE_LATE", ASSERTION),
    ("hubs-ring", "", HOLDS),
    ("hubs-ring_of_four", "HUBS=4", HOLDS),
    ("hubs-three_slots", "SLOTS=3", HOLDS),
    ("hubs-double_ring", "DOUBLE HUBS=2", HOLDS),
    ("hubs-no_bubble", "BREAK_NO_BUBBLE", DEADLOCK),
    ("hubs-credits_in_beats", "SLOTS=3 BREAK_BEATS", DEADLOCK),
    ("hubs-rung_between", "DOUBLE HUBS=2 BREAK_RUNG_BETWEEN", DEADLOCK),
    ("freed-waits", "", HOLDS),
    ("freed-no_wait", "BREAK_NO_WAIT", ASSERTION),
    ("freed-wait_first", "BREAK_WAIT_FIRST", ASSERTION),
    ("freed-look_first", "BREAK_LOOK_FIRST", ASSERTION),
    ("freed-plain_store", "BREAK_PLAIN_STORE", ASSERTION),
    ("freed-relaxed_turn", "BREAK_RELAXED", ASSERTION),
    ("detour-two", "", HOLDS),
    ("detour-no_word", "BREAK_NO_WORD", ASSERTION),
    ("detour-early", "BREAK_EARLY", ASSERTION),
    ("detour-own", "BREAK_OWN", ASSERTION),
    ("detour-stale", "BREAK_STALE", DEADLOCK),
    ("reroute-guarded", "", HOLDS),
    ("reroute-late", "BREAK_LATE", ASSERTION),
    ("reroute-early", "BREAK_EARLY", ASSERTION),
    ("reroute-forgets", "BREAK_FORGETS", DEADLOCK),
    ("reroute-only_landed", "BREAK_ONLY_LANDED", DEADLOCK),
    ("telling-two_halves", "", HOLDS),
    ("telling-neighbours", "SECOND=1", HOLDS),
    ("telling-onward", "BREAK_ONWARD", DEADLOCK),
    ("telling-once", "BREAK_ONCE", DEADLOCK),
]

# Searches that take seconds, so that optimising them pays; for all others it would take most of the time.
LONG = {
    "board-three",
    "chains-barrier",
    "chains-direct",
    "chains-direct_and_pull",
    "chains-pull",
    "engine-rings",
    "grid-mixed",
    "grid-one_trip",
    "grid-two_trips",
    "group-two",
    "ll-ring",
    "mpi-ring",
    "produced-ring",
    "staged-ring",
}


class Surprise(Exception):
    pass


def call(command, folder):
    try:
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIME_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise Surprise(f"{command[0]} took longer than {TIME_LIMIT_S} s") from None
    return done.returncode, done.stdout


def build(name, defines, folder):
    file = name.split("-")[0]
    optimise = "-O1" if name in LONG else "-O0"
    # Without stuttering: a run that has ended is not a cycle. MEMLIM is in MiB; array bounds are checked by default.
    flags = [optimise, "-w", "-DNOSTUTTER", "-DMEMLIM=1024"]
    model = HERE / "models" / f"{file}.pml"
    for command in (["spin", "-a", *(f"-D{d}" for d in defines), str(model)], ["gcc", *flags, "-o", "pan", "pan.c"]):
        status, output = call(command, folder)
        if status != 0 or "Error" in output:
            raise Surprise(f"{command[0]} failed:\n{output}")


def search(option, folder):
    """One search: what it found and the number of states. Only a complete search may say that the model holds."""
    _, output = call(["./pan", "-n", "-m40000", "-w20", *option], folder)
    found = re.search(r"^pan:1: (.*?)( \(at depth|$)", output, re.M)
    states = re.search(r"(\S+) states, stored", output)
    if states is None:
        raise Surprise(f"the search did not end:\n{output}")
    if found is None:
        if "errors: 0" not in output or "too small" in output or "Search not completed" in output:
            raise Surprise(f"the search is not complete:\n{output}")
        return HOLDS, int(float(states[1]))
    return found[1], int(float(states[1]))


def check(name, defines, expected):
    """Returns the number of states and a verdict; raises Surprise when the outcome is not the expected one."""
    with tempfile.TemporaryDirectory() as folder:
        build(name, defines.split(), folder)
        # Two searches, because the one for cycles does not look for deadlocks.
        found, states = search([], folder)
        if found == HOLDS:
            found, states = search(["-a"], folder)
        if not found.startswith(expected):
            raise Surprise(f"expected: {expected}, found: {found}\n" + trail(folder))
        return states, expected if expected == HOLDS else f"fails as it must: {expected}"


def trail(folder):
    steps = []
    for file in Path(folder).glob("*.trail"):
        steps += call(["./pan", "-r", file.name], folder)[1].splitlines()[-40:]
    return "\n".join(["the end of the run that shows it:", *steps]) if steps else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(name for name, _, _ in MODELS))
        return 0
    unknown = set(arguments.names) - {name for name, _, _ in MODELS}
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}; --list prints them")
    for tool in ("spin", "gcc"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            return SKIPPED

    surprises = 0
    for name, defines, expected in MODELS:
        if arguments.names and name not in arguments.names:
            continue
        begin = time.monotonic()
        try:
            states, verdict = check(name, defines, expected)
        except Surprise as surprise:
            surprises += 1
            states, verdict = 0, f"SURPRISE: {surprise}"
        print(f"{name:26} {states:8} states {time.monotonic() - begin:6.2f} s  {verdict}", flush=True)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
