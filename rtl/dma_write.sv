// Sends what dma_read made of answers: moves their bytes to the lanes of the destination, and puts
// flags and interrupts between them. The buffer has room for the answers of all tags, split as much
// as PCIe allows.
module dma_write
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 32
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [3:0]            node_i,

  input  logic                  answer_valid_i,
  input  logic [Width-1:0]      answer_data_i,
  input  logic                  answer_last_i,
  input  answer_t               answer_i,
  output logic                  answers_empty_o,
  output logic                  written_o,      // the last beat of a tag has left
  output logic [MaxTagBits-1:0] written_tag_o,

  input  logic                  post_valid_i,
  input  logic [63:0]           post_address_i,
  input  logic [63:0]           post_data_i,
  input  logic                  post_short_i,
  output logic                  post_ready_o,

  output logic                  valid_o,
  output logic [Width-1:0]      data_o,
  output logic                  last_o,
  input  logic                  ready_i
);

  localparam int unsigned SideBits = $bits(answer_t);

  // An answer of 256 bytes that begins and ends within a block of 64 has five parts.
  localparam int unsigned Parts = MaxPayloadBytes / 64 + 1;
  localparam int unsigned Room = Tags * Parts * (1 + 64 * 8 / Width);

  // --- Buffer ----------------------------------------------------------------------------------

  logic next_valid, next_last, next_ready, left, buffer_empty;
  logic [Width-1:0] next_data;
  answer_t next_side;

  tlp_fifo #(
    .Width(Width + SideBits),
    .Depth(Room)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .valid_i(answer_valid_i),
    .data_i({answer_i, answer_data_i}),
    .last_i(answer_last_i),
    .credit_o(left),
    .valid_o(next_valid),
    .data_o({next_side, next_data}),
    .last_o(next_last),
    .ready_i(next_ready),
    .empty_o(buffer_empty)
  );

  // --- Lanes -----------------------------------------------------------------------------------
  // A beat moves up or down by up to three bytes, and takes what is missing from the beat before or
  // behind.

  // `rest`: the last beat has gone and left bytes over, which fill a beat of their own.
  logic valid_q, first_q, last_q, rest_q;
  logic [Width-1:0] data_q;
  logic [23:0] before_q;  // the last three bytes of the beat before
  answer_t side_q;

  logic [1:0] up, down;
  logic [Width+23:0] raised;
  logic [Width-1:0] lowered, moved;

  always_comb begin
    up = (side_q.destination_lane > side_q.source_lane)
        ? side_q.destination_lane - side_q.source_lane : 2'd0;
    down = (side_q.source_lane > side_q.destination_lane)
        ? side_q.source_lane - side_q.destination_lane : 2'd0;
    raised = rest_q ? {Width'(0), data_q[Width-1-:24]} : {data_q, before_q};
    raised = raised >> (5'd24 - {up, 3'b000});
    lowered = Width'({next_data[23:0], data_q} >> {down, 3'b000});
    moved = (down != 2'd0) ? lowered : raised[Width-1:0];
  end

  // The beat at hand is skipped where it carries nothing: a failed answer, or one whose last bytes
  // have gone with the beat before.
  logic shrunk_q, skips, offers, ends, sent, over, moves;

  assign skips = valid_q && ((first_q && side_q.failed) || shrunk_q);
  assign offers = valid_q && !skips && (first_q || last_q || next_valid);
  assign ends = !first_q && (last_q ? rest_q || !side_q.grows : side_q.shrinks && next_last);
  assign over = sent && !first_q && last_q && side_q.grows && !rest_q;
  assign moves = !valid_q || skips || (sent && !over);
  assign next_ready = moves;

  assign answers_empty_o = buffer_empty && !valid_q;

  logic header_next_q;  // the next beat begins a packet

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      first_q <= 1'b0;
      last_q <= 1'b0;
      rest_q <= 1'b0;
      shrunk_q <= 1'b0;
      header_next_q <= 1'b1;
      side_q <= '0;
    end else begin
      if (sent) rest_q <= over;
      if (moves) begin
        valid_q <= next_valid;
        shrunk_q <= sent && ends && !last_q;
        if (next_valid) begin
          first_q <= header_next_q;
          last_q <= next_last;
          header_next_q <= next_last;
          if (header_next_q) side_q <= next_side;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (sent) before_q <= data_q[Width-1-:24];
    if (moves && next_valid) data_q <= next_data;
  end

  // --- Flags between packets -------------------------------------------------------------------

  request_t post_header;
  logic inside_q;     // a packet of answers has begun
  logic post_data_q;  // the data of a flag comes next
  logic posts;

  assign post_header = request_header(1'b1, post_address_i, post_short_i ? 9'd4 : 9'd8,
                                      {12'd0, node_i}, 8'd0);
  assign posts = !inside_q && post_valid_i;

  always_comb begin
    if (posts) begin
      valid_o = 1'b1;
      data_o = post_data_q ? Width'(post_data_i) : Width'(post_header);
      last_o = post_data_q;
    end else begin
      valid_o = offers;
      data_o = first_q ? data_q : moved;
      last_o = ends;
    end
  end

  assign sent = !posts && offers && ready_i;
  assign post_ready_o = posts && post_data_q && ready_i;
  assign written_o = side_q.ends && ((sent && ends) || (skips && first_q));
  assign written_tag_o = side_q.tag;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      post_data_q <= 1'b0;
    end else begin
      if (sent) inside_q <= !ends;
      if (posts && ready_i) post_data_q <= !post_data_q;
    end
  end

  logic unused;
  assign unused = &{1'b0, left};

endmodule
