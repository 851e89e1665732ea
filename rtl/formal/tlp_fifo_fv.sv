// Every beat comes out once, unchanged and in its place; room for `Depth` beats is there, and is
// given back.
module tlp_fifo_fv #(
  parameter int unsigned Width = 3,
  parameter int unsigned Depth = 5
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic [Width-1:0] data_i,
  input logic             last_i,
  input logic             ready_i,
  input logic             watch_i
);

  logic credit, valid, last, empty;
  logic [Width-1:0] data;

  tlp_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .data_i,
    .last_i,
    .credit_o(credit),
    .valid_o (valid),
    .data_o  (data),
    .last_o  (last),
    .ready_i,
    .empty_o (empty)
  );

  localparam int unsigned CountBits = $clog2(2 * Depth + 1);  // no sum below wraps

  // What the sender knows, and one beat, whichever: the beats before it, itself included, and what
  // it is.
  logic [CountBits-1:0] inside_q, ahead_q;
  logic watching_q;
  logic [Width:0] watched_q;

  // The cycles for which it has been next without coming out.
  logic [1:0] late_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= '0;
      ahead_q <= '0;
      watching_q <= 1'b0;
      watched_q <= '0;
      late_q <= '0;
    end else begin
      inside_q <= inside_q + CountBits'(valid_i) - CountBits'(credit);
      if (!watching_q && valid_i && watch_i) begin
        watching_q <= 1'b1;
        watched_q <= {last_i, data_i};
        ahead_q <= inside_q + 1'b1 - CountBits'(credit);
      end else if (watching_q && credit) begin
        ahead_q <= ahead_q - 1'b1;
        if (ahead_q == 1) watching_q <= 1'b0;
      end
      late_q <= (inside_q != '0 && !valid) ? late_q + 1'b1 : '0;
    end
  end

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;

  always_comb begin
    assume (rst_ni == begun_q);
    assume (!valid_i || inside_q < CountBits'(Depth));
  end

  // Where the watched beat must be: at the output, in a register behind it, or in the memory.
  logic [CountBits-1:0] before_memory, place;
  always_comb begin
    before_memory = CountBits'(dut.memory_valid_q) + CountBits'(dut.spare_valid_q) +
                    CountBits'(dut.output_valid_q);
    place = CountBits'(dut.read_q) + ahead_q - before_memory - 1'b1;
    if (place >= CountBits'(Depth)) place = place - CountBits'(Depth);
  end

  always_comb begin
    if (rst_ni) begin
      assert (credit == (valid && ready_i));
      assert (empty == (inside_q == '0));
      assert (!valid || inside_q != '0);
      assert (late_q != 2'd3);
      if (watching_q && ahead_q == 1 && valid) assert ({last, data} == watched_q);

      // Induction
      assert (inside_q <= CountBits'(Depth));
      assert (inside_q == CountBits'(dut.count_q) + before_memory);
      assert (dut.read_q < Depth && dut.write_q < Depth);
      assert (CountBits'(dut.write_q) == CountBits'(dut.read_q) + CountBits'(dut.count_q)
              || CountBits'(dut.write_q) + CountBits'(Depth) ==
                 CountBits'(dut.read_q) + CountBits'(dut.count_q));
      assert (!watching_q || (ahead_q != '0 && ahead_q <= inside_q));
      if (watching_q && ahead_q > before_memory) begin
        assert (dut.memory[place[$clog2(Depth)-1:0]] == watched_q);
      end else if (watching_q && dut.memory_valid_q && ahead_q == before_memory) begin
        assert (dut.memory_q == watched_q);
      end else if (watching_q && dut.spare_valid_q && ahead_q == 2) begin
        assert (dut.spare_q == watched_q);
      end
      assert (!dut.spare_valid_q || dut.output_valid_q);
    end
  end

endmodule
