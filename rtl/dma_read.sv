// Turns the pieces of all channels into reads, by turns, and their answers into writes.
//
// Tags are a ring. `head` is the next to be given; `tail` is the oldest whose answer has not left the hub, in
// whatever order answers come. A flag is queued with the head of its moment and may go when the tail has come
// there, which says that all data before it has left; the tail waits there until it has gone. A tag also stands
// for room in the buffer of answers, so that these are always taken.
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

  localparam int unsigned NoticeBits = $clog2(Notices);
  localparam int unsigned DwordsABeat = Width / 32;

  typedef logic [TagBits:0] place_t;  // on the ring, with one bit more to tell full from empty

  typedef struct packed {
    logic [ChannelBits-1:0] channel;
    logic [8:0]             bytes;
    logic [6:0]             source;
    logic [AddressBits-1:0] destination;
  } tag_t;

  typedef struct packed {
    logic [ChannelBits-1:0] channel;
    logic                   notify;
    logic [AddressBits-1:0] flag;
    logic                   ends;
    logic                   msi;
    place_t                 after;
  } notice_t;

  typedef struct packed {
    logic [ChannelBits-1:0] channel;
    logic [AddressBits-1:0] source;
    logic [AddressBits-1:0] destination;
    logic [8:0]             bytes;
    logic                   notify;
    logic [AddressBits-1:0] flag;
    logic                   ends;
    logic                   msi;
  } issue_t;

  typedef enum logic [1:0] {
    Flag,
    Done,
    Interrupt
  } post_e;

  // --- Channels --------------------------------------------------------------------------------

  logic [Channels-1:0][3:0] cause_q;
  logic [Channels-1:0] running_q, ending_q;
  logic [Channels-1:0] request, grant, selected_end;
  logic take;

  always_comb begin
    for (int unsigned c = 0; c < Channels; ++c) begin
      stop_o[c] = cause_q[c] != CauseNone;
      // A channel in error ends once its fetch is over.
      request[c] = running_q[c] && !ending_q[c] &&
          (stop_o[c] ? fetch_idle_i[c] : piece_valid_i[c]);
      selected_end[c] = stop_o[c] || (piece_i[c].last && piece_i[c].control.last);
    end
  end
  assign cause_o = cause_q;

  rr_arbiter #(.N(Channels)) u_turns (
    .clk_i,
    .rst_ni,
    .request_i(request),
    .grant_o(grant),
    .take_i(take)
  );

  assign piece_ready_o = grant & ~stop_o & {Channels{take}};

  // --- Selection -------------------------------------------------------------------------------

  logic issue_valid_q, issue_fires;
  issue_t issue_q, selected;
  logic selected_bad;

  always_comb begin
    selected = '0;
    selected_bad = 1'b0;
    for (int unsigned c = 0; c < Channels; ++c) begin
      if (grant[c]) begin
        selected.channel = ChannelBits'(c);
        selected.source = piece_i[c].source;
        selected.destination = piece_i[c].destination;
        selected.bytes = stop_o[c] ? 9'd0 : piece_i[c].bytes;
        selected.notify = piece_i[c].last && piece_i[c].control.notify && !stop_o[c];
        selected.flag = piece_i[c].flag;
        selected.ends = selected_end[c];
        selected.msi = stop_o[c] || piece_i[c].control.msi;
        selected_bad = !stop_o[c] && piece_i[c].bad;
      end
    end
  end

  assign take = !issue_valid_q || issue_fires;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issue_valid_q <= 1'b0;
      issue_q <= '0;
    end else if (take) begin
      issue_valid_q <= request != '0 && !selected_bad;
      issue_q <= selected;
    end
  end

  // --- Issue -----------------------------------------------------------------------------------

  // An error since the selection takes the data and the flag away, not the end of the chain.
  logic reads, notes, tag_free, notice_room, read_free;
  place_t head_q, tail_q, head_d;

  assign reads = issue_q.bytes != 9'd0 && !stop_o[issue_q.channel];
  assign notes = (issue_q.notify && !stop_o[issue_q.channel]) || issue_q.ends;
  assign tag_free = 6'(place_t'(head_q - tail_q)) < tags_i;
  assign read_free = !read_valid_o || read_ready_i;
  assign issue_fires = issue_valid_q && (!reads || (tag_free && read_free)) &&
      (!notes || notice_room);
  assign head_d = head_q + place_t'(issue_fires && reads);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_o <= 1'b0;
      read_header_o <= '0;
      head_q <= '0;
    end else begin
      head_q <= head_d;
      if (issue_fires && reads) begin
        read_valid_o <= 1'b1;
        read_header_o <= request_header(1'b0, {24'd0, issue_q.source}, issue_q.bytes,
                                        {12'd0, node_i}, 8'(head_q[TagBits-1:0]));
      end else if (read_ready_i) begin
        read_valid_o <= 1'b0;
      end
    end
  end

  tag_t tags_q[Tags];
  always_ff @(posedge clk_i) begin
    if (issue_fires && reads) begin
      tags_q[head_q[TagBits-1:0]] <= '{
          channel: issue_q.channel,
          bytes: issue_q.bytes,
          source: issue_q.source[6:0],
          destination: issue_q.destination
      };
    end
  end

  // --- Answers ---------------------------------------------------------------------------------
  // Three stages: the tag is looked up; the answer is checked against what its read still lacks; the header
  // of the write is made. Payload follows behind its header.

  logic inside_q;
  completion_t completion;
  assign completion = completion_t'(completion_data_i[HeaderBits-1:0]);

  logic valid1_q, first1_q, last1_q;
  logic [Width-1:0] data1_q;
  tag_t known1_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      valid1_q <= 1'b0;
      first1_q <= 1'b0;
      last1_q <= 1'b0;
    end else begin
      valid1_q <= completion_valid_i;
      if (completion_valid_i) begin
        inside_q <= !completion_last_i;
        first1_q <= !inside_q;
        last1_q <= completion_last_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (completion_valid_i) begin
      data1_q <= completion_data_i;
      known1_q <= tags_q[completion.tag[TagBits-1:0]];
    end
  end

  // The bytes that each tag's read still lacks; zero also for a tag that is not out.
  logic [Tags-1:0][8:0] lacks_q;
  completion_t header1;
  logic [TagBits-1:0] tag1;
  logic [8:0] lacks1, given1, part1, offset1;
  logic [12:0] carried1;
  logic [6:0] lower1, end1;
  logic waited1, well_formed1, failed1;
  logic [3:0] cause1;

  assign header1 = completion_t'(data1_q[HeaderBits-1:0]);
  assign tag1 = header1.tag[TagBits-1:0];

  always_comb begin
    lacks1 = lacks_q[tag1];
    offset1 = known1_q.bytes - lacks1;
    lower1 = known1_q.source + offset1[6:0];
    carried1 = {1'b0, header1.dw0.dwords, 2'b00} - {11'd0, lower1[1:0]};
    given1 = (carried1 < {4'd0, lacks1}) ? carried1[8:0] : lacks1;
    end1 = lower1 + carried1[6:0];
    part1 = given1;
    waited1 = lacks1 != 9'd0;
    // A part that is not the last ends at a multiple of 64; the last holds no dword too many.
    well_formed1 = has_data(header1.dw0) && header1.byte_count == {3'd0, lacks1} &&
        header1.lower_address == lower1 &&
        ((carried1 < {4'd0, lacks1}) ? end1[5:0] == 6'd0 && carried1 != 13'd0
                                     : carried1 < {4'd0, lacks1} + 13'd4);
    if (header1.status == StatusUnsupported) cause1 = CauseUnsupported;
    else if (header1.status != StatusSuccess) cause1 = CauseAbort;
    else if (!well_formed1) cause1 = CauseMalformed;
    else if (header1.dw0.poisoned) cause1 = CausePoisoned;
    else cause1 = CauseNone;
    failed1 = cause1 != CauseNone;
  end

  logic check1;
  assign check1 = valid1_q && first1_q && waited1;
  assign unexpected_o = valid1_q && first1_q && !waited1;

  logic timed_out;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lacks_q <= '0;
    end else begin
      if (issue_fires && reads) lacks_q[head_q[TagBits-1:0]] <= issue_q.bytes;
      if (check1) lacks_q[tag1] <= failed1 ? 9'd0 : lacks1 - part1;
      if (timed_out) lacks_q[tail_q[TagBits-1:0]] <= 9'd0;
    end
  end

  logic valid2_q, first2_q, last2_q, drop_q;
  logic [Width-1:0] data2_q;
  logic [AddressBits-1:0] destination2_q;
  answer_t answer2_q;
  logic [8:0] part2_q, offset2_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid2_q <= 1'b0;
      first2_q <= 1'b0;
      last2_q <= 1'b0;
      drop_q <= 1'b0;
      answer2_q <= '0;
    end else begin
      // Of an answer that failed the header goes on alone; of one that nobody waits for, nothing.
      valid2_q <= valid1_q && (first1_q ? waited1 : !drop_q);
      if (valid1_q) begin
        first2_q <= first1_q;
        last2_q <= last1_q || (first1_q && failed1);
      end
      if (valid1_q && first1_q) begin
        drop_q <= !waited1 || failed1;
        answer2_q <= '{
            failed: failed1,
            ends: failed1 || lacks1 == part1,
            tag: MaxTagBits'(tag1),
            source_lane: lower1[1:0],
            destination_lane: known1_q.destination[1:0] + offset1[1:0],
            grows: 1'b0,
            shrinks: 1'b0
        };
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid1_q) data2_q <= data1_q;
    if (valid1_q && first1_q) begin
      destination2_q <= known1_q.destination;
      part2_q <= part1;
      offset2_q <= offset1;
    end
  end

  request_t write2;
  logic [9:0] beats_in, beats_out;

  always_comb begin
    write2 = request_header(1'b1, {24'd0, destination2_q + AddressBits'(offset2_q)}, part2_q,
                            {12'd0, node_i}, 8'd0);
    beats_in = (dwords_of(answer2_q.source_lane, part2_q) + 10'(DwordsABeat - 1)) >>
        $clog2(DwordsABeat);
    beats_out = (write2.dw0.dwords + 10'(DwordsABeat - 1)) >> $clog2(DwordsABeat);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_valid_o <= 1'b0;
      answer_last_o <= 1'b0;
      answer_o <= '0;
    end else begin
      answer_valid_o <= valid2_q;
      answer_last_o <= last2_q;
      if (valid2_q && first2_q) begin
        answer_o <= answer2_q;
        answer_o.grows <= beats_out > beats_in;
        answer_o.shrinks <= beats_out < beats_in;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid2_q) answer_data_o <= first2_q ? Width'(write2) : data2_q;
  end

  // --- Silence ---------------------------------------------------------------------------------
  // A host that owes answers and has been silent for too long will give none of them.

  logic [31:0] silence_q;
  logic owed;

  assign owed = head_q != tail_q && lacks_q[tail_q[TagBits-1:0]] != 9'd0;
  assign timed_out = owed && timeout_i != 32'd0 && silence_q >= timeout_i;
  assign waiting_o = owed;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) silence_q <= '0;
    else if (head_q == tail_q || completion_valid_i || !answers_empty_i) silence_q <= '0;
    else if (owed && !timed_out) silence_q <= silence_q + 32'd1;
  end

  // --- The ring's tail -------------------------------------------------------------------------

  logic [Tags-1:0] written_q;
  logic notice_valid, notice_due;
  notice_t notice;

  assign notice_due = notice_valid && notice.after == tail_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= '0;
      tail_q <= '0;
    end else begin
      if (issue_fires && reads) written_q[head_q[TagBits-1:0]] <= 1'b0;
      if (written_i) written_q[written_tag_i[TagBits-1:0]] <= 1'b1;
      if (timed_out) written_q[tail_q[TagBits-1:0]] <= 1'b1;
      if (head_q != tail_q && written_q[tail_q[TagBits-1:0]] && !notice_due) begin
        tail_q <= tail_q + place_t'(1);
      end
    end
  end

  // --- Notices ---------------------------------------------------------------------------------

  notice_t notices_q[Notices];
  logic [NoticeBits:0] notice_in_q, notice_out_q;
  post_e post_q;
  logic noticed, sends, skips;

  assign notice_valid = notice_in_q != notice_out_q;
  assign notice_room = notice_in_q != {~notice_out_q[NoticeBits], notice_out_q[NoticeBits-1:0]};
  assign notice = notices_q[notice_out_q[NoticeBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (issue_fires && notes) begin
      notices_q[notice_in_q[NoticeBits-1:0]] <= '{
          channel: issue_q.channel,
          notify: issue_q.notify,
          flag: issue_q.flag,
          ends: issue_q.ends,
          msi: issue_q.msi,
          after: head_d
      };
    end
  end

  // A notice is a flag, then the word for the end, then an interrupt, as far as they are asked for.
  logic [3:0] cause;
  assign cause = cause_q[notice.channel];

  always_comb begin
    sends = 1'b0;
    post_address_o = {24'd0, notice.flag};
    post_data_o = value_i[notice.channel];
    post_short_o = 1'b0;
    unique case (post_q)
      Flag: sends = notice.notify && cause == CauseNone;
      Done: begin
        sends = notice.ends && done_i[notice.channel] != '0;
        post_address_o = {24'd0, done_i[notice.channel]};
        post_data_o[63:56] = {4'd0, cause};
      end
      default: begin
        sends = notice.ends && notice.msi && msi_address_i != 64'd0;
        post_address_o = msi_address_i;
        post_data_o = {32'd0, msi_data_i};
        post_short_o = 1'b1;
      end
    endcase
  end

  assign post_valid_o = notice_due && sends;
  assign skips = notice_due && !sends;
  assign noticed = (skips || (post_valid_o && post_ready_i)) &&
      (post_q == Interrupt || !notice.ends);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      notice_in_q <= '0;
      notice_out_q <= '0;
      post_q <= Flag;
    end else begin
      if (issue_fires && notes) notice_in_q <= notice_in_q + (NoticeBits + 1)'(1);
      if (noticed) notice_out_q <= notice_out_q + (NoticeBits + 1)'(1);
      if (noticed) begin
        post_q <= Flag;
      end else if (skips || (post_valid_o && post_ready_i)) begin
        post_q <= (post_q == Flag) ? Done : Interrupt;
      end
    end
  end

  always_comb begin
    finished_o = '0;
    finished_o[notice.channel] = noticed && notice.ends;
  end

  // --- Errors ----------------------------------------------------------------------------------
  // The first of a chain counts.

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cause_q <= '0;
      running_q <= '0;
      ending_q <= '0;
    end else begin
      for (int unsigned c = 0; c < Channels; ++c) begin
        if (start_i[c]) begin
          running_q[c] <= 1'b1;
          ending_q[c] <= 1'b0;
        end else if (finished_o[c]) begin
          running_q[c] <= 1'b0;
        end
        if (take && grant[c] && selected_end[c] && !selected_bad) ending_q[c] <= 1'b1;

        if (clear_i[c]) begin
          cause_q[c] <= CauseNone;
        end else if (cause_q[c] == CauseNone) begin
          if (bell_i[c]) cause_q[c] <= CauseBusy;
          else if (fetch_failed_i[c]) cause_q[c] <= CauseDescriptor;
          else if (take && grant[c] && selected_bad) cause_q[c] <= piece_i[c].cause;
          else if (check1 && failed1 && known1_q.channel == ChannelBits'(c)) cause_q[c] <= cause1;
          else if (timed_out && tags_q[tail_q[TagBits-1:0]].channel == ChannelBits'(c)) begin
            cause_q[c] <= CauseTimeout;
          end
        end
      end
    end
  end

  assign active_o = issue_fires || read_valid_o && read_ready_i || notice_due || valid1_q ||
      valid2_q || answer_valid_o || written_i || (take && request != '0);

  logic unused;
  assign unused = &{1'b0, header1, completion, written_tag_i, end1, carried1};

endmodule
