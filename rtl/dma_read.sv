// Turns the pieces of all channels into reads, by turns, and their answers into writes
// (dma_answer), behind which flags go (dma_notice).
//
// Tags are a ring. `head` is the next to be given; `tail` is the oldest whose answer has not left
// the hub, in whatever order answers come. A flag is queued with the head of its moment and may go
// when the tail has come there, which says that all data before it has left; the tail waits there
// until it has gone. A tag also stands for room in the buffer of answers, so that these are always
// taken.
module dma_read
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 32,
  parameter int unsigned Notices = 16,
  localparam int unsigned TagBits = $clog2(Tags)
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic [3:0]                      node_i,
  input  logic [5:0]                      tags_i,     // in use, at most Tags
  input  logic [31:0]                     timeout_i,

  // Channels.
  input  logic [Channels-1:0]             start_i,
  input  logic [Channels-1:0]             clear_i,    // the error has been read
  input  logic [Channels-1:0]             bell_i,     // a doorbell while the channel ran
  input  logic [Channels-1:0][63:0]       value_i,    // of flags
  input  logic [Channels-1:0][AddressBits-1:0] done_i,  // where the end is told, or zero
  input  logic [63:0]                     msi_address_i,
  input  logic [31:0]                     msi_data_i,
  output logic [Channels-1:0]             stop_o,     // in error
  output logic [Channels-1:0][3:0]        cause_o,
  output logic [Channels-1:0]             finished_o,

  // From the walkers, and from dma_fetch.
  input  logic [Channels-1:0]             piece_coming_i,  // in the next cycle, or there now
  input  logic [Channels-1:0]             piece_valid_i,
  input  piece_t [Channels-1:0]           piece_i,
  output logic [Channels-1:0]             piece_ready_o,
  input  logic [Channels-1:0]             fetch_idle_i,
  input  logic [Channels-1:0]             fetch_failed_i,

  // Reads to the host, and its answers, which are taken whenever they come.
  output logic                            read_valid_o,
  output request_t                        read_header_o,
  input  logic                            read_ready_i,
  input  logic                            completion_valid_i,
  input  logic [Width-1:0]                completion_data_i,
  input  logic                            completion_last_i,
  output logic                            unexpected_o,  // an answer that nobody waits for

  // To dma_write: answers, always taken; `written` when the last of a tag has left.
  output logic                            answer_valid_o,
  output logic [Width-1:0]                answer_data_o,
  output logic                            answer_last_o,
  output answer_t                         answer_o,
  input  logic                            answers_empty_i,
  input  logic                            written_i,
  input  logic [MaxTagBits-1:0]           written_tag_i,

  // To dma_write: flags, ends of chains and interrupts.
  output logic                            post_valid_o,
  output logic [63:0]                     post_address_o,
  output logic [63:0]                     post_data_o,
  output logic                            post_short_o,  // 4 bytes in place of 8
  input  logic                            post_ready_i,

  output logic                            active_o,   // something moved
  output logic                            waiting_o   // answers are owed
);

  typedef logic [TagBits:0] place_t;  // on the ring, with one bit more to tell full from empty

  typedef struct packed {
    logic [AddressBits-1:0] source;
    logic [AddressBits-1:0] destination;
    logic [8:0]             bytes;
    notice_t                notice;
  } issue_t;

  // --- Channels --------------------------------------------------------------------------------

  logic [Channels-1:0][3:0] cause_q;
  logic [Channels-1:0] running_q, ending_q;  // `ending`: its last notice is queued
  logic [Channels-1:0] fetch_idle_q, asks, next, turn_q, grant, selected_end;
  logic take;

  always_comb begin
    for (int unsigned c = 0; c < Channels; ++c) begin
      logic runs;
      runs = running_q[c] && !ending_q[c];
      // A channel in error ends once its fetch is over.
      asks[c] = runs && (stop_o[c] ? fetch_idle_q[c] : piece_coming_i[c]);
      grant[c] = turn_q[c] && runs && (stop_o[c] ? fetch_idle_q[c] : piece_valid_i[c]);
      selected_end[c] = stop_o[c] || (piece_i[c].last && piece_i[c].control.last);
    end
  end
  assign cause_o = cause_q;

  rr_arbiter #(.N(Channels)) u_turns (
    .clk_i,
    .rst_ni,
    .request_i(asks),
    .grant_o(next),
    .take_i(take || turn_q == '0)
  );

  // Whose turn it is has been found out in the cycle before.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q <= '0;
      fetch_idle_q <= '0;
    end else begin
      if (take || turn_q == '0) turn_q <= next;
      fetch_idle_q <= fetch_idle_i;
    end
  end

  // The walker of a channel in error forgets its piece anyway.
  assign piece_ready_o = grant & {Channels{take}};

  // --- Selection -------------------------------------------------------------------------------

  logic issue_valid_q, issue_fires;
  issue_t issue_q, selected;
  logic selected_bad;

  always_comb begin
    selected = '0;
    selected_bad = 1'b0;
    for (int unsigned c = 0; c < Channels; ++c) begin
      if (grant[c]) begin
        selected.notice.channel = ChannelBits'(c);
        selected.source = piece_i[c].source;
        selected.destination = piece_i[c].destination;
        selected.bytes = stop_o[c] ? 9'd0 : piece_i[c].bytes;
        selected.notice.notify = piece_i[c].last && piece_i[c].control.notify && !stop_o[c];
        selected.notice.flag = piece_i[c].flag;
        selected.notice.ends = selected_end[c];
        selected.notice.msi = stop_o[c] || piece_i[c].control.msi;
        selected_bad = !stop_o[c] && piece_i[c].bad;
      end
    end
  end

  // A piece in two cycles is enough, since its write takes two beats at least. So the walkers need
  // not wait for what is found out of it, and whether a tag is free is known from the cycle before.
  assign take = !issue_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issue_valid_q <= 1'b0;
      issue_q <= '0;
    end else if (take) begin
      issue_valid_q <= grant != '0 && !selected_bad;
      issue_q <= selected;
    end else if (issue_fires) begin
      issue_valid_q <= 1'b0;
    end
  end

  // --- Issue -----------------------------------------------------------------------------------

  // An error since the selection takes the data and the flag away, not the end of the chain.
  logic reads, notes, tag_free_q, notice_room;
  place_t head_q, tail_q, head_d;
  logic [6-TagBits:0] number;

  assign reads = issue_q.bytes != 9'd0 && !stop_o[issue_q.notice.channel];
  assign notes = (issue_q.notice.notify && !stop_o[issue_q.notice.channel]) || issue_q.notice.ends;
  assign issue_fires = issue_valid_q && (!reads || (tag_free_q && !read_valid_o)) &&
      (!notes || notice_room);
  assign head_d = head_q + place_t'(issue_fires && reads);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_o <= 1'b0;
      read_header_o <= '0;
      head_q <= '0;
      tag_free_q <= 1'b0;
    end else begin
      head_q <= head_d;
      tag_free_q <= 6'(place_t'(head_q - tail_q)) < tags_i;
      if (issue_fires && reads) begin
        read_valid_o <= 1'b1;
        read_header_o <= request_header(1'b0, {24'd0, issue_q.source}, issue_q.bytes,
                                        {12'd0, node_i},
                                        {1'b0, number, head_q[TagBits-1:0]});
      end else if (read_ready_i) begin
        read_valid_o <= 1'b0;
      end
    end
  end

  // --- Answers ---------------------------------------------------------------------------------

  read_t read;
  logic lost, failed, answers_active;
  logic [ChannelBits-1:0] failed_channel;
  logic [3:0] failed_cause;

  assign read = '{
      channel: issue_q.notice.channel,
      bytes: issue_q.bytes,
      behind: issue_q.source[6:0] + issue_q.bytes[6:0],
      destination: issue_q.destination
  };

  dma_answer #(
    .Width(Width),
    .Tags(Tags)
  ) u_answer (
    .clk_i,
    .rst_ni,
    .node_i,
    .timeout_i,
    .read_i(issue_fires && reads),
    .read_tag_i(head_q[TagBits-1:0]),
    .read_read_i(read),
    .read_number_o(number),
    .oldest_valid_i(head_q != tail_q),
    .oldest_tag_i(tail_q[TagBits-1:0]),
    .owed_o(waiting_o),
    .lost_o(lost),
    .completion_valid_i,
    .completion_data_i,
    .completion_last_i,
    .unexpected_o,
    .failed_o(failed),
    .failed_channel_o(failed_channel),
    .failed_cause_o(failed_cause),
    .answer_valid_o,
    .answer_data_o,
    .answer_last_o,
    .answer_o,
    .answers_empty_i,
    .active_o(answers_active)
  );

  // --- The ring's tail -------------------------------------------------------------------------

  logic [Tags-1:0] written_q;
  logic notice_due, tail_moves;

  assign tail_moves = head_q != tail_q && written_q[tail_q[TagBits-1:0]] && !notice_due;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= '0;
      tail_q <= '0;
    end else begin
      if (issue_fires && reads) written_q[head_q[TagBits-1:0]] <= 1'b0;
      if (written_i) written_q[written_tag_i[TagBits-1:0]] <= 1'b1;
      if (lost) written_q[tail_q[TagBits-1:0]] <= 1'b1;
      if (tail_moves) tail_q <= tail_q + place_t'(1);
    end
  end

  // --- Notices ---------------------------------------------------------------------------------

  notice_t notice;
  always_comb begin
    notice = issue_q.notice;
    notice.notify = issue_q.notice.notify && !stop_o[issue_q.notice.channel];
  end

  dma_notice #(
    .Notices(Notices),
    .PlaceBits(TagBits + 1)
  ) u_notice (
    .clk_i,
    .rst_ni,
    .valid_i(issue_fires && notes),
    .notice_i(notice),
    .after_i(head_d),
    .room_o(notice_room),
    .tail_i(tail_q),
    .due_o(notice_due),
    .cause_i(cause_q),
    .value_i,
    .done_i,
    .msi_address_i,
    .msi_data_i,
    .finished_o,
    .post_valid_o,
    .post_address_o,
    .post_data_o,
    .post_short_o,
    .post_ready_i
  );

  // --- Errors ----------------------------------------------------------------------------------
  // The first of a chain counts.

  logic [Channels-1:0][3:0] cause_d;

  always_comb begin
    for (int unsigned c = 0; c < Channels; ++c) begin
      cause_d[c] = cause_q[c];
      if (clear_i[c]) begin
        cause_d[c] = CauseNone;
      end else if (!stop_o[c]) begin
        if (bell_i[c]) cause_d[c] = CauseBusy;
        else if (fetch_failed_i[c]) cause_d[c] = CauseDescriptor;
        else if (take && grant[c] && selected_bad) cause_d[c] = piece_i[c].cause;
        else if (failed && failed_channel == ChannelBits'(c)) cause_d[c] = failed_cause;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cause_q <= '0;
      stop_o <= '0;
      running_q <= '0;
      ending_q <= '0;
    end else begin
      cause_q <= cause_d;
      for (int unsigned c = 0; c < Channels; ++c) begin
        stop_o[c] <= cause_d[c] != CauseNone;
        if (start_i[c]) begin
          running_q[c] <= 1'b1;
          ending_q[c] <= 1'b0;
        end else if (finished_o[c]) begin
          running_q[c] <= 1'b0;
        end
        if (take && grant[c] && selected_end[c] && !selected_bad) ending_q[c] <= 1'b1;
      end
    end
  end

  // Whatever changes without anything coming in. Only silence is counted beside it.
  assign active_o = issue_fires || (read_valid_o && read_ready_i) || notice_due || tail_moves ||
      answers_active || written_i || (take && asks != '0);

  logic unused;
  assign unused = &{1'b0, written_tag_i};

endmodule
