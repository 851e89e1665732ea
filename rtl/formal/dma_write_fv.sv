// Packets leave whole, of as many beats as their headers say, with flags only between them; and of
// each read it is told once, when the last beat of its last part leaves.
module dma_write_fv
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 2
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             answer_valid_i,
  input logic [Width-1:0] answer_data_i,
  input logic             answer_last_i,
  input answer_t          answer_i,
  input logic             post_valid_i,
  input logic [63:0]      post_address_i,
  input logic [63:0]      post_data_i,
  input logic             post_short_i,
  input logic             ready_i
);

  localparam int unsigned Room = Tags * (MaxPayloadBytes / 64 + 1) * (1 + 64 * 8 / Width);
  localparam int unsigned SideBits = $bits(answer_t);
  localparam int unsigned BeatBits = 1 + SideBits + Width;

  logic empty, written, post_ready, valid, last;
  logic [MaxTagBits-1:0] written_tag;
  logic [Width-1:0] data;

  dma_write #(
    .Width(Width),
    .Tags(Tags)
  ) dut (
    .clk_i,
    .rst_ni,
    .node_i         (4'd0),
    .answer_valid_i,
    .answer_data_i,
    .answer_last_i,
    .answer_i,
    .answers_empty_o(empty),
    .written_o      (written),
    .written_tag_o  (written_tag),
    .post_valid_i,
    .post_address_i,
    .post_data_i,
    .post_short_i,
    .post_ready_o   (post_ready),
    .valid_o        (valid),
    .data_o         (data),
    .last_o         (last),
    .ready_i
  );

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  always_comb assume (rst_ni == begun_q);

  // The beats of payload that a header announces, as it leaves and as it came.
  function automatic logic [7:0] beats_out(logic [Width-1:0] header);
    request_t request;
    request = request_t'(header[HeaderBits-1:0]);
    return 8'((request.dw0.dwords + 10'(Width / 32 - 1)) / 10'(Width / 32));
  endfunction

  function automatic logic [7:0] beats_in(logic [Width-1:0] header, answer_t side);
    return side.failed ? '0 : beats_out(header) + 8'(side.shrinks) - 8'(side.grows);
  endfunction

  // What dma_answer makes: a header of its own beat, as many beats as it says, and changes of their
  // number only where bytes move.
  function automatic logic sound(logic [Width-1:0] header, answer_t side);
    request_t request;
    request = request_t'(header[HeaderBits-1:0]);
    return (side.failed || request.dw0.dwords != '0) &&
           request.dw0.dwords <= 10'(MaxPayloadBytes / 4 + 1) && side.tag < MaxTagBits'(Tags) &&
           (!side.grows || side.destination_lane > side.source_lane) &&
           (!side.shrinks || side.destination_lane < side.source_lane) &&
           (side.failed || beats_in(header, side) != '0);
  endfunction

  // -------------------------------------------------------------------------------------------
  // Answers that come.

  logic [7:0] coming_q, coming_d;  // beats of the packet that is coming
  logic first;
  assign first = coming_q == '0;
  assign coming_d = first ? beats_in(answer_data_i, answer_i) : coming_q - 8'd1;

  logic [7:0] ends_in_q;  // last parts inside
  logic posting_q;        // a flag waits
  logic comes_end;
  assign comes_end = answer_valid_i && first && answer_i.ends;

  always_comb begin
    if (answer_valid_i) begin
      if (first) assume (sound(answer_data_i, answer_i));
      assume (answer_last_i == (coming_d == '0));
    end
    // Room is there (dma_answer_fv), and a flag stays until it is taken.
    assume (!answer_valid_i || dut.u_answers.count_q < Room);
    assume (!posting_q || post_valid_i);
  end

  // -------------------------------------------------------------------------------------------
  // Packets that leave

  logic post_q;             // the second beat of a flag comes next
  logic [7:0] leaving_q;    // beats that the packet of an answer still has
  logic [7:0] behind_q;     // beats that come behind the last one taken out of the buffer
  logic takes, takes_post;
  assign takes = valid && ready_i;
  assign takes_post = takes && dut.posts;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      coming_q <= '0;
      ends_in_q <= '0;
      post_q <= 1'b0;
      leaving_q <= '0;
      behind_q <= '0;
      posting_q <= 1'b0;
    end else begin
      posting_q <= post_valid_i && !post_ready;
      if (answer_valid_i) coming_q <= coming_d;
      ends_in_q <= ends_in_q + 8'(comes_end) - 8'(written);
      if (takes_post) post_q <= !post_q;
      else if (takes) leaving_q <= (leaving_q == '0) ? beats_out(data) : leaving_q - 8'd1;
      if (dut.moves && dut.next_valid) begin
        behind_q <= dut.header_next_q ? beats_in(dut.next_data, dut.next_side) : behind_q - 8'd1;
      end
    end
  end

  // The packet at hand, then those in the buffer.
  logic [Room-1:0][BeatBits-1:0] beats;
  logic [7:0] count, behind, ends, due;
  logic open;
  answer_t side;
  assign beats = dut.u_answers.beats_q;
  assign count = 8'(dut.u_answers.count_q);
  assign open = dut.valid_q || behind_q != '0;

  // Beats that the packet at hand has to give.
  always_comb begin
    if (dut.shrunk_q || (dut.valid_q && dut.first_q) || !open) due = '0;
    else if (dut.rest_q) due = 8'd1;
    else due = behind_q + 8'(dut.valid_q) + 8'(dut.side_q.grows) - 8'(dut.side_q.shrinks);
  end

  always_comb begin
    behind = behind_q;
    ends = 8'(open && dut.side_q.ends && !dut.shrunk_q);
    for (int unsigned k = 0; k < Room; k++) begin
      side = answer_t'(beats[k][Width+:SideBits]);
      if (8'(k) < count) begin
        if (behind == '0) begin
          if (rst_ni) assert (sound(beats[k][Width-1:0], side));
          behind = beats_in(beats[k][Width-1:0], side);
          ends = ends + 8'(side.ends);
        end else begin
          behind = behind - 8'd1;
        end
        if (rst_ni) assert (beats[k][BeatBits-1] == (behind == '0));
      end
    end

    if (rst_ni) begin
      if (valid && dut.posts) assert (last == post_q && leaving_q == '0);
      if (valid && !dut.posts) begin
        assert (!post_q);
        assert (last == (leaving_q == 8'd1));
      end
      if (written) begin
        assert (dut.side_q.ends && ((takes && !dut.posts && last) || dut.side_q.failed));
        assert (written_tag == dut.side_q.tag && ends_in_q != '0);
      end
      assert (ends_in_q == ends);
      if (empty) assert (count == '0 && !dut.valid_q);

      // Induction
      assert (count <= 8'(Room) && behind == coming_q);
      assert (post_q == dut.post_data_q && (!post_q || (posting_q && leaving_q == '0)));
      assert (dut.inside_q == (leaving_q != '0) && leaving_q == due);
      assert (dut.header_next_q == (behind_q == '0));
      assert (!(dut.side_q.grows && dut.side_q.shrinks) && dut.side_q.tag < MaxTagBits'(Tags));
      assert (!open || !dut.side_q.failed || (dut.valid_q && dut.first_q && behind_q == '0));
      assert (behind_q <= 8'd4 && (dut.valid_q || behind_q == '0 || due != '0));
      if (dut.valid_q) assert (dut.last_q == (behind_q == '0));
      if (dut.valid_q && dut.first_q) begin
        assert (sound(dut.data_q, dut.side_q) && behind_q == beats_in(dut.data_q, dut.side_q));
      end
      assert (dut.shrunk_q == (dut.valid_q && !dut.first_q && dut.last_q && dut.side_q.shrinks));
      assert (!dut.rest_q || (dut.valid_q && !dut.first_q && dut.last_q && dut.side_q.grows));
    end
  end

endmodule
