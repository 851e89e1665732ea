// Turns answers of the host into writes by another header, part by part and in whatever order they
// come, and checks each against what its read still lacks. A read that has been given up may have
// left answers on their way: the next one with its tag has another number beside it, so that
// they are told apart.
//
//   stage 1   the read of the answer's tag is looked up, and what it still lacks
//   stage 2   the answer is checked, and what its read lacks grows less
//   stage 3   the header of the write is made; the payload follows as it came
module dma_answer
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 32,  // at most 64
  localparam int unsigned TagBits = $clog2(Tags),
  localparam int unsigned NumberBits = 7 - TagBits
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [3:0]             node_i,
  input  logic [31:0]            timeout_i,

  // Reads: the one that goes out, and the oldest whose answers have not left the hub.
  input  logic                   read_i,
  input  logic [TagBits-1:0]     read_tag_i,
  input  read_t                  read_read_i,
  output logic [NumberBits-1:0]  read_number_o,   // goes out above the tag
  input  logic                   oldest_valid_i,
  input  logic [TagBits-1:0]     oldest_tag_i,
  output logic                   owed_o,          // of the oldest, an answer
  output logic                   lost_o,          // which does not come any more

  input  logic                   completion_valid_i,
  input  logic [Width-1:0]       completion_data_i,
  input  logic                   completion_last_i,
  output logic                   unexpected_o,    // an answer that nobody waits for

  output logic                   failed_o,        // a read, or the oldest one where it is lost
  output logic [ChannelBits-1:0] failed_channel_o,
  output logic [3:0]             failed_cause_o,

  output logic                   answer_valid_o,
  output logic [Width-1:0]       answer_data_o,
  output logic                   answer_last_o,
  output answer_t                answer_o,
  input  logic                   answers_empty_i,
  output logic                   active_o
);

  localparam int unsigned DwordsABeat = Width / 32;

  read_t reads_q[Tags];
  always_ff @(posedge clk_i) begin
    if (read_i) reads_q[read_tag_i] <= read_read_i;
  end

  // --- Look-up ---------------------------------------------------------------------------------

  logic inside_q;
  completion_t completion;
  assign completion = completion_t'(completion_data_i[HeaderBits-1:0]);

  // The bytes that each tag's read still lacks; zero also for a tag that is not out.
  logic [Tags-1:0][8:0] lacks_q;
  logic [Tags-1:0][NumberBits-1:0] numbers_q;
  assign read_number_o = numbers_q[read_tag_i];

  logic valid1_q, first1_q, last1_q;
  logic [Width-1:0] data1_q;
  read_t known1_q;
  logic [8:0] lacks1_q;
  logic waited1_q;          // the answer is one of a read that is out
  logic [12:0] carried1_q;  // bytes, from the first that was asked for
  logic border1_q;          // they end at a multiple of 64
  logic [TagBits-1:0] tag, tag1;
  logic check1;

  assign tag = completion.tag[TagBits-1:0];
  assign check1 = valid1_q && first1_q && waited1_q;

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
      known1_q <= reads_q[tag];
      lacks1_q <= lacks_q[tag];
      // A header may follow another at once only where that one has no data and so gives its read
      // up, which then waits for nothing.
      waited1_q <= lacks_q[tag] != 9'd0 && completion.tag[7:TagBits] == {1'b0, numbers_q[tag]} &&
          !(check1 && last1_q && tag == tag1) && !(lost_o && tag == oldest_tag_i);
      carried1_q <= {1'b0, completion.dw0.dwords, 2'b00} - {11'd0, completion.lower_address[1:0]};
      border1_q <= completion.lower_address[5:2] + completion.dw0.dwords[3:0] == 4'd0;
    end
  end

  // --- Check -----------------------------------------------------------------------------------

  completion_t header1;
  logic [8:0] lacks1, part1, offset1;  // `lacks1`: behind this part
  logic [13:0] over1;                  // what it carries beyond what was lacking, or below zero
  logic partial1, well_formed1, failed1, given_up1;
  logic [3:0] cause1;

  assign header1 = completion_t'(data1_q[HeaderBits-1:0]);
  assign tag1 = header1.tag[TagBits-1:0];

  always_comb begin
    offset1 = known1_q.bytes - lacks1_q;
    over1 = {1'b0, carried1_q} - {5'd0, lacks1_q};
    partial1 = over1[13];
    part1 = partial1 ? carried1_q[8:0] : lacks1_q;
    lacks1 = partial1 ? lacks1_q - carried1_q[8:0] : 9'd0;
    // A part that is not the last ends at a multiple of 64; the last holds no dword too many.
    well_formed1 = has_data(header1.dw0) && header1.byte_count == {3'd0, lacks1_q} &&
        header1.lower_address == known1_q.behind - lacks1_q[6:0] &&
        (partial1 ? border1_q && carried1_q != 13'd0 : over1 < 14'd4);
    if (header1.status == StatusUnsupported) cause1 = CauseUnsupported;
    else if (header1.status != StatusSuccess) cause1 = CauseAbort;
    else if (!well_formed1) cause1 = CauseMalformed;
    else if (header1.dw0.poisoned) cause1 = CausePoisoned;
    else cause1 = CauseNone;
    failed1 = cause1 != CauseNone;
    // Behind a poisoned part the others come as they should.
    given_up1 = failed1 && cause1 != CausePoisoned;
  end

  assign unexpected_o = valid1_q && first1_q && !waited1_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lacks_q <= '0;
      numbers_q <= '0;
    end else begin
      if (read_i) lacks_q[read_tag_i] <= read_read_i.bytes;
      if (check1) lacks_q[tag1] <= given_up1 ? 9'd0 : lacks1;
      if (check1 && given_up1) numbers_q[tag1] <= numbers_q[tag1] + NumberBits'(1);
      if (lost_o) lacks_q[oldest_tag_i] <= 9'd0;
      if (lost_o) numbers_q[oldest_tag_i] <= numbers_q[oldest_tag_i] + NumberBits'(1);
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
      valid2_q <= valid1_q && (first1_q ? waited1_q : !drop_q);
      if (valid1_q) begin
        first2_q <= first1_q;
        last2_q <= last1_q || (first1_q && failed1);
      end
      if (valid1_q && first1_q) begin
        drop_q <= !waited1_q || failed1;
        answer2_q <= '{
            failed: failed1,
            ends: given_up1 || !partial1,
            tag: MaxTagBits'(tag1),
            source_lane: header1.lower_address[1:0],
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

  // --- Header ----------------------------------------------------------------------------------

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
  logic silent;
  assign owed_o = oldest_valid_i && lacks_q[oldest_tag_i] != 9'd0;
  assign silent = timeout_i != 32'd0 && silence_q >= timeout_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      silence_q <= '0;
      lost_o <= 1'b0;
    end else if (!oldest_valid_i || completion_valid_i || !answers_empty_i) begin
      silence_q <= '0;
      lost_o <= 1'b0;
    end else begin
      if (owed_o && !silent) silence_q <= silence_q + 32'd1;
      lost_o <= owed_o && silent && !lost_o;
    end
  end

  // An answer under check resets the silence, so that the two do not come at once.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      failed_o <= 1'b0;
      failed_channel_o <= '0;
      failed_cause_o <= CauseNone;
    end else begin
      failed_o <= (check1 && failed1) || lost_o;
      failed_channel_o <= lost_o ? reads_q[oldest_tag_i].channel : known1_q.channel;
      failed_cause_o <= lost_o ? CauseTimeout : cause1;
    end
  end

  assign active_o = valid1_q || valid2_q || answer_valid_o || lost_o || failed_o;

  logic unused;
  assign unused = &{1'b0, header1, completion, reads_q[oldest_tag_i]};

endmodule
