// The pieces of a descriptor are its bytes, each once and in order: a repetition of a loop begins a
// pitch behind the one before, on both sides. A piece fits a request and crosses no border of 4 KB.
// `last` marks the last piece and no other. What must be refused is, and then nothing more comes.
module dma_walk_fv
  import tca_pkg::*;
(
  input logic             clk_i,
  input logic             rst_ni,
  input logic [3:0]       node_i,
  input logic [15:0][3:0] route_i,
  input logic [1:0]       request_i,
  input logic             flush_i,
  input logic             valid_i,
  input descriptor_t      descriptor_i,
  input logic             ready_i
);

  // Configuration, which stays the same from reset on.
  logic [3:0] node_q;
  logic [15:0][3:0] route_q;
  logic [8:0] request_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      node_q <= node_i;
      route_q <= route_i;
      request_q <= (request_i == 2'd0) ? 9'd64 : (request_i == 2'd1) ? 9'd128 : 9'd256;
    end else begin
      node_q <= node_q;
      route_q <= route_q;
      request_q <= request_q;
    end
  end

  logic ready, coming, coming_q, valid;
  piece_t piece;

  dma_walk dut (
    .clk_i,
    .rst_ni,
    .node_i      (node_q),
    .route_i     (route_q),
    .request_i   (request_q),
    .flush_i,
    .valid_i,
    .descriptor_i,
    .ready_o     (ready),
    .coming_o    (coming),
    .valid_o     (valid),
    .piece_o     (piece),
    .ready_i
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) coming_q <= 1'b0;
    else coming_q <= coming;
  end

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  always_comb assume (rst_ni == begun_q);

  // -------------------------------------------------------------------------------------------
  // The descriptor as three loops around a run.

  logic open_q, refused_q;  // a descriptor is under way, or was refused
  descriptor_t descriptor_q;
  logic [Loops-1:0][23:0] index_q, index_d, count;
  logic [Loops-1:0][39:0] source_q, source_d, destination_q, destination_d;  // of a repetition
  logic [31:0] done_q;                                                       // bytes of the run

  assign count = {descriptor_q.count2, descriptor_q.count1, descriptor_q.count0};

  logic [Loops-1:0] at_end;  // of a loop, those inside of it included
  logic run_ends;
  assign run_ends = done_q + 32'(piece.bytes) == descriptor_q.run;

  always_comb begin
    for (int unsigned k = 0; k < Loops; k++) at_end[k] = index_q[k] == count[k] - 24'd1;
    index_d = index_q;
    source_d = source_q;
    destination_d = destination_q;
    for (int unsigned k = 0; k < Loops; k++) begin
      // Loop k goes on when those inside of it have come to their ends, and they begin anew.
      if (!at_end[k] && (k == 0 || at_end[0]) && (k < 2 || at_end[1])) begin
        index_d[k] = index_q[k] + 24'd1;
        source_d[k] = source_q[k] + 40'(descriptor_q.pitch[k].source);
        destination_d[k] = destination_q[k] + 40'(descriptor_q.pitch[k].destination);
        for (int unsigned inner = 0; inner < k; inner++) begin
          index_d[inner] = '0;
          source_d[inner] = source_d[k];
          destination_d[inner] = destination_d[k];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
      refused_q <= 1'b0;
      descriptor_q <= '0;
      index_q <= '0;
      source_q <= '0;
      destination_q <= '0;
      done_q <= '0;
    end else if (flush_i) begin
      open_q <= 1'b0;
      refused_q <= 1'b0;
    end else if (valid_i && ready) begin
      open_q <= 1'b1;
      descriptor_q <= descriptor_i;
      index_q <= '0;
      source_q <= {3{descriptor_i.source}};
      destination_q <= {3{descriptor_i.destination}};
      done_q <= '0;
    end else if (valid && ready_i) begin
      if (piece.bad) refused_q <= 1'b1;
      if (piece.bad || piece.last) open_q <= 1'b0;
      done_q <= run_ends ? '0 : done_q + 32'(piece.bytes);
      if (run_ends) begin
        index_q <= index_d;
        source_q <= source_d;
        destination_q <= destination_d;
      end
    end
  end

  // -------------------------------------------------------------------------------------------

  function automatic logic reachable(logic [3:0] node, logic [3:0] own, logic [15:0][3:0] route);
    return node == own || route[node] != NoRoute;
  endfunction

  logic must_refuse, flag_bad, place_bad, count_bad;
  always_comb begin
    flag_bad = descriptor_q.control.notify &&
               (!descriptor_q.flag[39] || descriptor_q.flag[2:0] != '0 ||
                !reachable(descriptor_q.flag[38:35], node_q, route_q));
    // Every piece begins where its descriptor does: on this node's memory, and on one node's target.
    place_bad = piece.source[39:35] != {1'b1, node_q} || piece.source[34:33] == 2'd3 ||
                piece.source[34:33] != descriptor_q.source[34:33] ||
                !piece.destination[39] ||
                piece.destination[38:33] != descriptor_q.destination[38:33] ||
                !reachable(piece.destination[38:35], node_q, route_q);
    count_bad = descriptor_q.run >= 32'h8000_0000 || count[0] == '0 || count[1] == '0 ||
                count[2] == '0;
    must_refuse = flag_bad || (descriptor_q.run != '0 && (place_bad || count_bad));
  end

  logic [1:0] lane;
  assign lane = (piece.source[1:0] > piece.destination[1:0]) ? piece.source[1:0]
                                                              : piece.destination[1:0];

  always_comb begin
    if (rst_ni) begin
      assert (!valid || (open_q && coming && coming_q));
      assert (!(refused_q && ready));
      if (valid) begin
        assert (piece.bad == must_refuse);
        assert (piece.bad == (piece.cause != CauseNone));
        assert (piece.control == descriptor_q.control && piece.flag == descriptor_q.flag);
        assert (piece.source == source_q[0] + 40'(done_q));
        assert (piece.destination == destination_q[0] + 40'(done_q));
        if (!piece.bad) begin
          assert (13'(piece.source[11:0]) + 13'(piece.bytes) <= 13'd4096);
          assert (13'(piece.destination[11:0]) + 13'(piece.bytes) <= 13'd4096);
          assert (10'(piece.bytes) + 10'(lane) <= 10'(request_q));
          assert (33'(done_q) + 33'(piece.bytes) <= 33'(descriptor_q.run));
          assert ((piece.bytes == '0) == (descriptor_q.run == '0));
          assert (piece.last == (run_ends && (descriptor_q.run == '0 || at_end == '1)));
        end
      end

      // Induction
      assert (request_q == 9'd64 || request_q == 9'd128 || request_q == 9'd256);
      assert (open_q == (dut.state_q == 2'd1 || dut.state_q == 2'd2));
      assert (refused_q == (dut.state_q == 2'd3));
      if (open_q) begin
        assert (dut.descriptor_q == descriptor_q);
        assert (dut.piece_q.source == source_q[0] + 40'(done_q));
        assert (dut.piece_q.destination == destination_q[0] + 40'(done_q));
        assert (dut.run_q == descriptor_q.run - done_q);
        assert (done_q < descriptor_q.run || descriptor_q.run == '0 && done_q == '0);
        for (int unsigned k = 0; k < Loops; k++) begin
          assert (dut.place_q[k].source == source_q[k]);
          assert (dut.place_q[k].destination == destination_q[k]);
          assert (dut.left_q[k] == count[k] - 24'd1 - index_q[k]);
        end
        if (valid) assert (dut.run_ends_q == run_ends);
        if (valid) assert (dut.loop_q == (!at_end[0] ? 2'd0 : !at_end[1] ? 2'd1 : 2'd2));
      end
    end
  end

endmodule
