// However the host splits its answers, and whatever it answers, those of one read never fill more
// beats than the buffer of dma_write has for a tag. All beats of it belong to some tag that is out
// (dma_read_fv), so the buffer never overflows. And an answer counts only for the read that it
// answers: after one that has been given up the next has another number.
//
// One tag, whichever, is watched. Of the host it is assumed that its packets are as long as their
// headers say, and that it does not pause within a packet for as long as a time-out.
module dma_answer_fv
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 4,
  localparam int unsigned TagBits = $clog2(Tags),
  localparam int unsigned NumberBits = 7 - TagBits
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic [31:0]        timeout_i,
  input logic [TagBits-1:0] watched_i,
  input logic               read_i,
  input logic [TagBits-1:0] read_tag_i,
  input read_t              read_read_i,
  input logic               oldest_valid_i,
  input logic [TagBits-1:0] oldest_tag_i,
  input logic               completion_valid_i,
  input logic [Width-1:0]   completion_data_i,
  input logic               completion_last_i,
  input logic               answers_empty_i,
  input logic               leaves_i,
  input logic               written_i
);

  // As in dma_write.
  localparam int unsigned BlockBeats = 1 + 64 * 8 / Width;
  localparam int unsigned Room = (MaxPayloadBytes / 64 + 1) * BlockBeats;

  logic [31:0] timeout_q;
  logic [TagBits-1:0] watched_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      timeout_q <= timeout_i;
      watched_q <= watched_i;
    end else begin
      timeout_q <= timeout_q;
      watched_q <= watched_q;
    end
  end

  logic owed, lost, answer_valid, answer_last;
  logic [NumberBits-1:0] read_number;
  answer_t answer;

  dma_answer #(
    .Width(Width),
    .Tags(Tags)
  ) dut (
    .clk_i,
    .rst_ni,
    .node_i          (4'd0),
    .timeout_i       (timeout_q),
    .read_i,
    .read_tag_i,
    .read_read_i,
    .read_number_o   (read_number),
    .oldest_valid_i,
    .oldest_tag_i,
    .owed_o          (owed),
    .lost_o          (lost),
    .completion_valid_i,
    .completion_data_i,
    .completion_last_i,
    .unexpected_o    (),
    .failed_o        (),
    .failed_channel_o(),
    .failed_cause_o  (),
    .answer_valid_o  (answer_valid),
    .answer_data_o   (),
    .answer_last_o   (answer_last),
    .answer_o        (answer),
    .answers_empty_i,
    .active_o        ()
  );

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;

  // The oldest tag stays the oldest while it is owed an answer.
  logic owed_q;
  logic [TagBits-1:0] oldest_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= 1'b0;
    else owed_q <= owed;
  end
  always_ff @(posedge clk_i) oldest_q <= oldest_tag_i;
  always_comb assume (!owed_q || (oldest_valid_i && oldest_tag_i == oldest_q));

  // -------------------------------------------------------------------------------------------
  // The host

  // A length of zero says 1,024 dwords.
  function automatic logic [10:0] beats(tlp_dw0_t dw0);
    logic [10:0] dwords;
    dwords = {dw0.dwords == '0, dw0.dwords};
    return has_data(dw0) ? (dwords + 11'(Width / 32 - 1)) / 11'(Width / 32) : '0;
  endfunction

  logic [10:0] rest_q, rest_d;  // beats that its packet still has
  logic header;
  completion_t completion;
  assign completion = completion_t'(completion_data_i[HeaderBits-1:0]);
  assign header = completion_valid_i && rest_q == '0;
  assign rest_d = header ? beats(completion.dw0) : rest_q - 11'(completion_valid_i);

  always_comb begin
    assume (rst_ni == begun_q);
    assume (timeout_i == '0 || timeout_i >= 32'd8);
    if (completion_valid_i) assume (completion_last_i == (rest_d == '0));
    // What has not gone out is not answered.
    if (header && read_i) assume (completion.tag[TagBits-1:0] != read_tag_i);
    assume (rest_q == '0 || dut.silence_q < 32'd4);
  end

  // -------------------------------------------------------------------------------------------
  // The tag

  logic out_q;
  logic [10:0] count_q;  // beats in the buffer
  logic comes, takes;
  logic [8:0] lacks;
  read_t read;

  assign comes = answer_valid && answer.tag == MaxTagBits'(watched_q);
  assign takes = read_i && read_tag_i == watched_q;
  assign lacks = dut.lacks_q[watched_q];
  assign read = dut.reads_q[watched_q];

  // Beats of it on their way to the buffer, those included that the host still has to send.
  logic packet;  // the packet that goes through, or whose rest is to come, is of this tag
  logic checks;  // a header is checked
  logic [10:0] coming;
  assign packet = dut.answer2_q.tag == MaxTagBits'(watched_q);
  assign checks = dut.valid1_q && dut.first1_q;

  always_comb begin
    coming = 11'(comes) + 11'(dut.valid2_q && packet);
    if (packet && !dut.drop_q && !checks) coming = coming + 11'(dut.valid1_q) + rest_q;
  end

  // What may come of what it lacks, at worst in parts of one block.
  logic [10:0] blocks;
  always_comb begin
    blocks = (11'(6'(read.behind[5:0] - lacks[5:0])) + 11'(lacks) + 11'd63) >> 6;
    if (lacks == '0) blocks = '0;
  end

  always_comb begin
    if (read_i) assume (read_read_i.bytes != '0 && read_read_i.bytes <= 9'd256);
    assume (!(takes && out_q));
    assume (!written_i || (out_q && lacks == '0 && count_q == '0 && coming == '0));
    assume (!leaves_i || count_q != '0);
    assume (!answers_empty_i || count_q == '0);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rest_q <= '0;
      out_q <= 1'b0;
      count_q <= '0;
    end else begin
      rest_q <= rest_d;
      out_q <= takes || (out_q && !written_i && !(lost && oldest_tag_i == watched_q));
      count_q <= count_q + 11'(comes) - 11'(leaves_i);
    end
  end

  always_comb begin
    if (rst_ni) begin
      assert (count_q <= 11'(Room));

      // Induction
      assert (count_q + coming + blocks * 11'(BlockBeats) <= 11'(Room));
      assert (out_q || (lacks == '0 && count_q == '0 && coming == '0));
      assert (lacks == '0 || (lacks <= read.bytes && read.bytes <= 9'd256));
      assert (dut.inside_q == (rest_q != '0));
      assert (timeout_q == '0 || timeout_q >= 32'd8);
      assert (!lost || (timeout_q != '0 && dut.silence_q >= timeout_q && owed_q && owed));
      assert (!dut.valid1_q || dut.silence_q == '0);
      assert (!dut.valid2_q || dut.silence_q <= 32'd1);
      assert (!answer_valid || dut.silence_q <= 32'd2);
      assert (count_q == '0 || dut.silence_q <= 32'd3);
      assert (rest_q <= 11'd256);
      // Payload follows its header from stage to stage.
      if (dut.valid2_q || (!dut.drop_q && !checks && (dut.valid1_q || rest_q != '0))) begin
        assert ((dut.valid2_q && dut.first2_q) || answer.tag == dut.answer2_q.tag);
      end
      if (checks) begin
        assert (rest_q == beats(dut.header1.dw0));
        assert (dut.last1_q == (rest_q == '0));
        assert (dut.carried1_q == {1'b0, dut.header1.dw0.dwords, 2'b00} -
                13'(dut.header1.lower_address[1:0]));
        assert (dut.border1_q == (4'(dut.header1.lower_address[5:2] +
                                     dut.header1.dw0.dwords[3:0]) == '0));
        if (dut.waited1_q && dut.tag1 == watched_q) begin
          assert (lacks != '0 && dut.lacks1_q == lacks);
          assert (dut.header1.tag[6:TagBits] == dut.numbers_q[watched_q]);
        end
        if (lacks != '0 && dut.tag1 == watched_q) assert (dut.known1_q == read);
      end
    end
  end

  // -------------------------------------------------------------------------------------------
  // Its number

  logic [NumberBits-1:0] number_q;  // with which its read went out
  logic given_up, given_up_q;       // the read, while the host may still answer it
  assign given_up = (lost && oldest_tag_i == watched_q) ||
      (dut.check1 && dut.given_up1 && dut.tag1 == watched_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      number_q <= '0;
      given_up_q <= 1'b0;
    end else begin
      if (takes) number_q <= read_number;
      if (takes) given_up_q <= 1'b0;
      else if (given_up) given_up_q <= 1'b1;
    end
  end

  always_comb begin
    if (rst_ni) begin
      if (takes) assert (!given_up_q || read_number != number_q);
      if (dut.check1 && dut.tag1 == watched_q) assert (dut.header1.tag[6:TagBits] == number_q);

      // Induction
      if (lacks != '0) assert (dut.numbers_q[watched_q] == number_q && !given_up_q);
      if (given_up_q) assert (dut.numbers_q[watched_q] == number_q + NumberBits'(1));
    end
  end

endmodule
