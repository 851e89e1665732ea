// A tag is given only when nothing of its last read is left, and comes back whatever the host
// answers: at each time it is free, or in just one of the states that lead there. A flag is told
// when all data before it have left, and in the order in which flags were asked for. What is not
// active changes nothing.
//
// Answers are anything at any time, also such as nobody asked for. Of dma_write it is assumed that
// it tells of a tag once for each last part that it was given.
module dma_read_fv
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 4,
  parameter int unsigned Notices = 4
) (
  input logic                                 clk_i,
  input logic                                 rst_ni,
  input logic [5:0]                           tags_i,
  input logic [31:0]                          timeout_i,
  input logic [Channels-1:0]                  start_i,
  input logic [Channels-1:0]                  clear_i,
  input logic [Channels-1:0]                  bell_i,
  input logic [Channels-1:0][63:0]            value_i,
  input logic [Channels-1:0][AddressBits-1:0] done_i,
  input logic [63:0]                          msi_address_i,
  input logic [31:0]                          msi_data_i,
  input logic [Channels-1:0]                  piece_coming_i,
  input logic [Channels-1:0]                  piece_valid_i,
  input piece_t [Channels-1:0]                piece_i,
  input logic [Channels-1:0]                  fetch_idle_i,
  input logic [Channels-1:0]                  fetch_failed_i,
  input logic                                 read_ready_i,
  input logic                                 completion_valid_i,
  input logic [Width-1:0]                     completion_data_i,
  input logic                                 completion_last_i,
  input logic                                 answers_empty_i,
  input logic                                 written_i,
  input logic [MaxTagBits-1:0]                written_tag_i,
  input logic                                 post_ready_i,
  input logic [Tags-1:0]                      leaves_i,
  input logic                                 watch_i
);

  localparam int unsigned TagBits = $clog2(Tags);
  localparam int unsigned NoticeBits = $clog2(Notices);
  typedef logic [TagBits:0] place_t;

  logic [5:0] tags_q;
  logic [31:0] timeout_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tags_q <= tags_i;
      timeout_q <= timeout_i;
    end else begin
      tags_q <= tags_q;
      timeout_q <= timeout_q;
    end
  end

  logic read_valid, answer_valid, answer_last, post_valid, post_short, active;
  logic [63:0] post_address, post_data;
  request_t read_header;
  answer_t answer;
  logic [Width-1:0] answer_data;

  dma_read #(
    .Width(Width),
    .Tags(Tags),
    .Notices(Notices)
  ) dut (
    .clk_i,
    .rst_ni,
    .node_i         (4'd0),
    .tags_i         (tags_q),
    .timeout_i      (timeout_q),
    .start_i,
    .clear_i,
    .bell_i,
    .value_i,
    .done_i,
    .msi_address_i,
    .msi_data_i,
    .stop_o         (),
    .cause_o        (),
    .finished_o     (),
    .piece_coming_i,
    .piece_valid_i,
    .piece_i,
    .piece_ready_o  (),
    .fetch_idle_i,
    .fetch_failed_i,
    .read_valid_o   (read_valid),
    .read_header_o  (read_header),
    .read_ready_i,
    .completion_valid_i,
    .completion_data_i,
    .completion_last_i,
    .unexpected_o   (),
    .answer_valid_o (answer_valid),
    .answer_data_o  (answer_data),
    .answer_last_o  (answer_last),
    .answer_o       (answer),
    .answers_empty_i,
    .written_i,
    .written_tag_i,
    .post_valid_o   (post_valid),
    .post_address_o (post_address),
    .post_data_o    (post_data),
    .post_short_o   (post_short),
    .post_ready_i,
    .active_o       (active),
    .waiting_o      ()
  );

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;

  // -------------------------------------------------------------------------------------------
  // dma_write: tags of which something is inside, and those whose last part is.

  logic [Tags-1:0] inside_q, pending_q;
  logic header_q;  // the answer is a header
  logic [Tags-1:0] comes, comes_last, goes;

  always_comb begin
    assume (rst_ni == begun_q);
    assume (tags_i >= 6'd1 && tags_i <= 6'(Tags));
    // As long as an answer is on its way through dma_answer.
    assume (timeout_i == '0 || timeout_i >= 32'd8);
    assume (!written_i || (written_tag_i < MaxTagBits'(Tags) &&
                           pending_q[written_tag_i[TagBits-1:0]]));
    assume (!answers_empty_i || inside_q == '0);
    for (int unsigned c = 0; c < Channels; c++) assume (piece_i[c].bytes <= 9'd256);
    assume ((piece_valid_i & ~piece_coming_i) == '0);
    comes = Tags'(answer_valid) << answer.tag[TagBits-1:0];
    comes_last = Tags'(answer_valid && header_q && answer.ends) << answer.tag[TagBits-1:0];
    goes = Tags'(written_i) << written_tag_i[TagBits-1:0];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= '0;
      pending_q <= '0;
      header_q <= 1'b0;
    end else begin
      header_q <= dut.u_answer.first2_q;
      pending_q <= (pending_q | comes_last) & ~goes;
      inside_q <= ((inside_q & ~(leaves_i & ~pending_q)) & ~goes) | comes;
    end
  end

  // -------------------------------------------------------------------------------------------
  // Tags

  place_t out;  // tags that are out
  assign out = dut.head_q - dut.tail_q;

  logic issues, lost;
  logic [TagBits-1:0] given, oldest;
  assign issues = dut.issue_fires && dut.reads;
  assign lost = dut.lost;
  assign given = dut.head_q[TagBits-1:0];
  assign oldest = dut.tail_q[TagBits-1:0];

  logic [Tags-1:0] is_out, lacks, headed, leaving, written;
  always_comb begin
    for (int unsigned t = 0; t < Tags; t++) begin
      is_out[t] = place_t'(TagBits'(TagBits'(t) - oldest)) < out;
      lacks[t] = dut.u_answer.lacks_q[t] != '0;
      headed[t] = dut.u_answer.valid2_q && dut.u_answer.first2_q && dut.u_answer.answer2_q.ends &&
                  dut.u_answer.answer2_q.tag == MaxTagBits'(t);
      leaving[t] = comes_last[t];
      written[t] = is_out[t] && dut.written_q[t];
    end
  end

  always_comb begin
    if (rst_ni) begin
      assert (out <= place_t'(Tags));
      if (issues) begin
        assert (!is_out[given]);
        assert (6'(out) < tags_q);
        assert (!(read_valid && !read_ready_i));
      end
      // What is given up has nothing on its way.
      if (lost) assert (!inside_q[oldest] && !comes[oldest] && !headed[oldest]);
      assert (!lost || lacks[oldest]);
      // What the oldest tag is owed it is owed until it comes or is lost.
      assert (!(dut.u_answer.owed_o && dut.tail_moves));
      for (int unsigned t = 0; t < Tags; t++) begin
        assert (3'(lacks[t]) + 3'(headed[t]) + 3'(leaving[t]) + 3'(pending_q[t]) + 3'(written[t])
                == 3'(is_out[t]));
      end

      // Induction
      assert (tags_q >= 6'd1 && tags_q <= 6'(Tags) && (timeout_q == '0 || timeout_q >= 32'd8));
      assert (!lost || (timeout_q != '0 && dut.u_answer.silence_q >= timeout_q));
      assert (!dut.u_answer.valid1_q || dut.u_answer.silence_q == '0);
      assert (!dut.u_answer.valid2_q || dut.u_answer.silence_q <= 32'd1);
      assert (!answer_valid || dut.u_answer.silence_q <= 32'd2);
      assert (inside_q == '0 || dut.u_answer.silence_q <= 32'd3);
      assert ((pending_q & ~inside_q) == '0);
      assert (!dut.u_answer.valid1_q || dut.u_answer.inside_q == !dut.u_answer.last1_q);
      if (dut.u_answer.check1) begin
        assert (dut.u_answer.lacks1_q != '0);
        assert (dut.u_answer.lacks1_q == dut.u_answer.lacks_q[dut.u_answer.tag1]);
      end
      assert (answer.tag < MaxTagBits'(Tags) && dut.u_answer.answer2_q.tag < MaxTagBits'(Tags));
      assert (dut.issue_q.bytes <= 9'd256);
      for (int unsigned c = 0; c < Channels; c++) begin
        assert (dut.stop_o[c] == (dut.cause_q[c] != CauseNone));
      end
    end
  end

  // -------------------------------------------------------------------------------------------
  // Flags: one, whichever, and the tags that were out when it was queued.

  logic watching_q, over_q;
  logic [NoticeBits:0] index_q;  // of the watched one in the queue
  logic [Tags-1:0] before_q, still_out;
  logic queues, watches, told;

  assign queues = dut.issue_fires && dut.notes;
  assign watches = queues && watch_i && !watching_q && !over_q;
  assign told = watching_q && dut.u_notice.out_q == index_q;
  assign still_out = ~goes & ~(Tags'(lost) << oldest);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      watching_q <= 1'b0;
      over_q <= 1'b0;
      index_q <= '0;
      before_q <= '0;
    end else if (watches) begin
      watching_q <= 1'b1;
      index_q <= dut.u_notice.in_q;
      before_q <= (is_out & ~written & still_out) | (Tags'(issues) << given);
    end else begin
      before_q <= before_q & still_out;
      if (told && dut.u_notice.noticed) begin
        watching_q <= 1'b0;
        over_q <= 1'b1;
      end
    end
  end

  // What has been offered to dma_write stays as it is until it is taken, whatever is written into
  // the registers that it comes from.
  logic posting_q;
  logic [128:0] posted_q;
  always_comb begin
    if (rst_ni) begin
      assert (!posting_q || (post_valid && posted_q == {post_short, post_address, post_data}));
      assert (!post_valid || dut.notice_due);  // induction
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) posting_q <= 1'b0;
    else posting_q <= post_valid && !post_ready_i;
  end
  always_ff @(posedge clk_i) posted_q <= {post_short, post_address, post_data};

  // -------------------------------------------------------------------------------------------
  // Rest: where nothing comes in and nothing is active, everything stays, so that the clock may
  // stand still.

  typedef struct packed {
    place_t head, tail;
    logic [NoticeBits:0] in, out;
    logic [Channels-1:0][3:0] cause;
    logic [Channels-1:0] running, ending;
    logic [Tags-1:0] written;
    logic [Tags-1:0][8:0] lacks;
    logic issue, read, post, answer, failed;
  } state_t;

  state_t state, state_q;
  logic rests_q;
  assign state = '{
      head: dut.head_q,
      tail: dut.tail_q,
      in: dut.u_notice.in_q,
      out: dut.u_notice.out_q,
      cause: dut.cause_q,
      running: dut.running_q,
      ending: dut.ending_q,
      written: dut.written_q,
      lacks: dut.u_answer.lacks_q,
      issue: dut.issue_valid_q,
      read: read_valid,
      post: post_valid,
      answer: dut.u_answer.valid1_q || dut.u_answer.valid2_q || answer_valid,
      failed: dut.failed
  };
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rests_q <= 1'b0;
      state_q <= '0;
    end else begin
      rests_q <= !active && start_i == '0 && clear_i == '0 && bell_i == '0 &&
          fetch_failed_i == '0 && !completion_valid_i;
      state_q <= state;
    end
  end
  always_comb if (rst_ni) assert (!rests_q || state == state_q);

  logic [NoticeBits:0] queued;
  assign queued = dut.u_notice.in_q - dut.u_notice.out_q;

  // How far the tail has to go to each notice of the queue.
  logic [Notices-1:0][TagBits:0] distance;
  logic [NoticeBits-1:0] slot, slot_before;
  logic [TagBits:0] watched_distance, position;
  always_comb begin
    if (rst_ni) begin
      assert (queued <= (NoticeBits + 1)'(Notices));
      if (told && post_valid) assert (before_q == '0);
    end
    for (int unsigned k = 0; k < Notices; k++) begin
      slot = dut.u_notice.out_q[NoticeBits-1:0] + NoticeBits'(k);
      distance[k] = dut.u_notice.after_q[slot] - dut.tail_q;
      if (rst_ni && (NoticeBits + 1)'(k) < queued) begin
        assert (distance[k] <= out);
        if (k > 0) assert (distance[k-1] <= distance[k]);
      end
    end
    watched_distance = dut.u_notice.after_q[index_q[NoticeBits-1:0]] - dut.tail_q;
    for (int unsigned t = 0; t < Tags; t++) begin
      position = place_t'(TagBits'(TagBits'(t) - oldest));
      if (rst_ni && watching_q && before_q[t]) begin
        assert (is_out[t] && !written[t] && position < watched_distance);
      end
    end
    if (rst_ni && watching_q) begin
      assert ((NoticeBits + 1)'(index_q - dut.u_notice.out_q) < queued);
    end
  end

endmodule
