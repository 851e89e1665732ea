"""What is proved, how deep, and the faults that a proof must refuse."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Change:
    """A text of a file that becomes another one. A fault is a change with a name."""

    file: str
    old: str
    new: str
    name: str = ""


@dataclass(frozen=True)
class Proof:
    name: str
    depth: int
    sources: list[str]
    faults: list[Change]
    changes: list[Change] = field(default_factory=list)


def fault(name, file, old, new):
    return Change(file, old, new, name)


# Packets of three beats at most, so that buffers of some packets are small.
SHORT_PACKETS = Change("tca_pkg.sv", "MaxPayloadBytes = 256", "MaxPayloadBytes = 32")

ARBITER = Proof(
    "rr_arbiter",
    depth=6,
    sources=["rr_arbiter.sv", "formal/rr_arbiter_fv.sv"],
    faults=[
        fault("no turns", "rr_arbiter.sv", "behind_q <= goes_on ? above_behind : above_all;", "behind_q <= behind_q;"),
        fault("two served", "rr_arbiter.sv", ": request_i & ~above_all", ": request_i"),
        fault("never anew", "rr_arbiter.sv", ": request_i & ~above_all", ": '0"),
        fault("same again", "rr_arbiter.sv", "goes_on ? above_behind : above_all;", "(goes_on ? above_behind : above_all) | grant_o;"),
    ],
)

BUFFER = Proof(
    "tlp_fifo",
    depth=8,
    sources=["tlp_fifo.sv", "formal/tlp_fifo_fv.sv"],
    faults=[
        fault("a place too few", "tlp_fifo.sv", "IndexBits'(Depth - 1)", "IndexBits'(Depth - 2)"),
        fault("a beat overwritten", "tlp_fifo.sv", "count_q != '0 && !(memory_valid_q && spare_valid_q)", "count_q != '0"),
        fault("a beat twice", "tlp_fifo.sv", "output_valid_q <= memory_valid_q || spare_valid_q || !advance", "output_valid_q <= memory_valid_q || output_valid_q"),
        fault("out of turn", "tlp_fifo.sv", "output_q <= spare_valid_q ? spare_q : memory_q", "output_q <= memory_q"),
        fault("read too early", "tlp_fifo.sv", "assign read = count_q != '0", "assign read = (valid_i || count_q != '0)"),
        fault("empty too early", "tlp_fifo.sv", "empty_o = count_q == '0 && !memory_valid_q", "empty_o = count_q == '0"),
        fault("a credit too many", "tlp_fifo.sv", "credit_o = output_valid_q && ready_i", "credit_o = ready_i"),
    ],
)

SLICE = Proof(
    "tlp_slice",
    depth=3,
    sources=["tlp_slice.sv", "formal/tlp_slice_fv.sv"],
    faults=[
        fault("a beat lost", "tlp_slice.sv", "spare_valid_q <= !advance && (spare_valid_q || valid_i)", "spare_valid_q <= !advance && spare_valid_q"),
        fault("a beat twice", "tlp_slice.sv", "valid_o <= spare_valid_q || valid_i || !advance", "valid_o <= spare_valid_q || valid_i || valid_o"),
        fault("out of turn", "tlp_slice.sv", "output_q <= spare_valid_q ? spare_q : {last_i, data_i}", "output_q <= {last_i, data_i}"),
        fault("a beat overwritten", "tlp_slice.sv", "if (!spare_valid_q) spare_q", "spare_q"),
        fault("an offer withdrawn", "tlp_slice.sv", "if (advance) output_q", "output_q"),
    ],
)

ROUTER = Proof(
    "tca_router",
    depth=2,
    sources=["tca_pkg.sv", "rr_arbiter.sv", "formal/model/tlp_fifo.sv", "tca_router.sv", "formal/tca_router_fv.sv"],
    changes=[SHORT_PACKETS],
    faults=[
        fault("no bubble", "tca_router.sv", "(Stays[i] ? room_q : bubble_q)", "room_q"),
        fault("no credits", "tca_router.sv", "!busy_q && (Stays[i] ? room_q : bubble_q)", "!busy_q"),
        fault("a credit too many", "tca_router.sv", "credits_q <= CreditBits'(Slots)", "credits_q <= CreditBits'(Slots + 1)"),
        fault("room before it is there", "tca_router.sv", "room_q <= credits > CreditBits'(starts)", "room_q <= credits != '0"),
        fault("credits by beats", "tca_router.sv", "credit_o[i] <= last_leaves[i]", "credit_o[i] <= leaves[i]"),
        fault("packets interleaved", "tca_router.sv", "busy_q <= (busy_q || starts)", "busy_q <= starts"),
        fault("never free", "tca_router.sv", "&& (last_leaves & to_here) == '0", ""),
        fault("no patience's end", "tca_router.sv", "request = (patience_over_q &&", "request = (1'b0 &&"),
        fault("own node sent away", "tca_router.sv", "(!in_window(address) || target == node)", "!in_window(address)"),
        fault("reads travel", "tca_router.sv", "is_write(header.dw0) && port", "port"),
        fault("way forgotten", "tca_router.sv", "packet_way_q <= way[i];", "packet_way_q <= head_way[i];"),
    ],
)

RING = Proof(
    "tca_ring",
    depth=2,
    sources=["tca_pkg.sv", "rr_arbiter.sv", "formal/model/tlp_fifo.sv", "tca_router.sv", "formal/tca_ring_fv.sv"],
    changes=[SHORT_PACKETS],
    faults=[
        fault("no bubble", "tca_router.sv", "(Stays[i] ? room_q : bubble_q)", "room_q"),
        fault("a rung as part of the ring", "tca_router.sv", "PortEast: return Ports'(1) << PortWest;", "PortEast: return (Ports'(1) << PortWest) | (Ports'(1) << PortSouth);"),
        fault("no credit back", "tca_router.sv", "credit_o[i] <= last_leaves[i]", "credit_o[i] <= 1'b0"),
    ],
)

WALK = Proof(
    "dma_walk",
    depth=2,
    sources=["tca_pkg.sv", "dma_walk.sv", "formal/dma_walk_fv.sv"],
    faults=[
        fault("border ignored", "dma_walk.sv", "to_border(piece_q.destination[11:0])", "Longest"),
        fault("lane ignored", "dma_walk.sv", "request_i - {7'd0, lane}", "request_i"),
        fault("the run ignored", "dma_walk.sv", "run_is_short ? run_q[8:0] : Longest", "Longest"),
        fault("a row too few", "dma_walk.sv", "descriptor_q.count0 - 24'd1}", "descriptor_q.count0 - 24'd2}"),
        fault("wrong base of a plane", "dma_walk.sv", "if (k <= 32'(loop_q)) place_d[k]", "if (k < 32'(loop_q)) place_d[k]"),
        fault("last too early", "dma_walk.sv", "(left_q == '0 || descriptor_q.run", "(left_q[0] == '0 || descriptor_q.run"),
        fault("bytes twice", "dma_walk.sv", "piece_q.source + {31'd0, bytes_q}", "piece_q.source"),
        fault("pitch without sign", "dma_walk.sv", "{{8{pitch.source[31]}}, pitch.source}", "{8'd0, pitch.source}"),
        fault("goes on refused", "dma_walk.sv", "if (cause_q != CauseNone) state_q <= Refused;", "if (1'b0) state_q <= Refused;"),
        fault("another's memory read", "dma_walk.sv", "source.node != node_i ||", ""),
    ],
)

READ = Proof(
    "dma_read",
    depth=2,
    sources=["tca_pkg.sv", "rr_arbiter.sv", "dma_answer.sv", "dma_notice.sv", "dma_read.sv", "formal/dma_read_fv.sv"],
    faults=[
        fault("a tag too many", "dma_read.sv", "tail_q)) < tags_i;", "tail_q)) <= tags_i;"),
        fault("a flag too early", "dma_read.sv", ".after_i(head_d)", ".after_i(head_q)"),
        fault("the tail passes a flag", "dma_read.sv", "] && !notice_due;", "];"),
        fault("a lost tag leaks", "dma_read.sv", "if (lost) written_q", "if (1'b0) written_q"),
        fault("written before", "dma_read.sv", "if (issue_fires && reads) written_q", "if (1'b0) written_q"),
        fault("a failed answer leaks", "dma_answer.sv", "ends: given_up1 || !partial1", "ends: !partial1"),
        fault("silence never broken", "dma_answer.sv", "!oldest_valid_i || completion_valid_i || !answers_empty_i) begin", "!oldest_valid_i) begin"),
        fault("a flag withdrawn", "dma_notice.sv", "post_valid_o ? !post_ready_i : due_o && sends", "due_o && sends && !(post_valid_o && post_ready_i)"),
        fault("its address taken away", "dma_notice.sv", "if (!post_valid_o) begin", "begin"),
        fault("rest before silence ends", "dma_answer.sv", "answer_valid_o || lost_o ||", "answer_valid_o ||"),
        fault("rest before the tail moves", "dma_read.sv", "tail_moves ||", ""),
        fault("flags beyond their room", "dma_read.sv", "(!notes || notice_room)", "1'b1"),
    ],
)

ANSWER = Proof(
    "dma_answer",
    depth=2,
    sources=["tca_pkg.sv", "dma_answer.sv", "formal/dma_answer_fv.sv"],
    faults=[
        fault("parts of any length", "dma_answer.sv", "partial1 ? border1_q && carried1_q", "partial1 ? carried1_q"),
        fault("empty parts", "dma_answer.sv", "border1_q && carried1_q != 13'd0", "border1_q"),
        fault("more than was read", "dma_answer.sv", ": over1 < 14'd4);", ": 1'b1);"),
        fault("data of what failed", "dma_answer.sv", "drop_q <= !waited1_q || failed1;", "drop_q <= !waited1_q;"),
        fault("numbers not compared", "dma_answer.sv", "== {1'b0, numbers_q[tag]}", "<= {1'b0, {NumberBits{1'b1}}}"),
        fault("no other number", "dma_answer.sv", "if (lost_o) numbers_q", "if (1'b0) numbers_q"),
        fault("a read given up twice", "dma_answer.sv", "!(check1 && last1_q && tag == tag1) &&", ""),
        fault("data of others", "dma_answer.sv", "valid2_q <= valid1_q && (first1_q ? waited1_q : !drop_q);", "valid2_q <= valid1_q;"),
    ],
)

WRITE = Proof(
    "dma_write",
    depth=2,
    sources=["tca_pkg.sv", "formal/model/tlp_fifo.sv", "dma_write.sv", "formal/dma_write_fv.sv"],
    changes=[SHORT_PACKETS],
    faults=[
        fault("a flag within a packet", "dma_write.sv", "posts = !inside_q && post_valid_i", "posts = post_valid_i"),
        fault("told at the first beat", "dma_write.sv", "side_q.ends && ((sent && ends)", "side_q.ends && (sent"),
        fault("told of every part", "dma_write.sv", "side_q.ends && ((sent && ends) ||", "(sent && ends) || (side_q.ends &&"),
        fault("told of every poisoned part", "dma_write.sv", "side_q.ends && ((sent && ends) ||", "(side_q.ends && sent && ends) || ("),
        fault("a beat too few", "dma_write.sv", "rest_q || !side_q.grows", "1'b1"),
        fault("a beat too many", "dma_write.sv", ": side_q.shrinks && next_last)", ": 1'b0)"),
        fault("failed answers leave", "dma_write.sv", "(first_q && side_q.failed) || shrunk_q", "shrunk_q"),
    ],
)

PROOFS = [ROUTER, WALK, RING, READ, WRITE, ANSWER, BUFFER, SLICE, ARBITER]
