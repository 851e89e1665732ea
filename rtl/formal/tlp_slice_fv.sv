// Every beat comes out once, unchanged and in its place, in the cycle behind the one in which it was
// taken if it is the only one. What is offered stays until it is taken.
module tlp_slice_fv #(
  parameter int unsigned Width = 3
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic [Width-1:0] data_i,
  input logic             last_i,
  input logic             ready_i,
  input logic             watch_i
);

  logic ready, valid, last;
  logic [Width-1:0] data;

  tlp_slice #(
    .Width(Width)
  ) dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .data_i,
    .last_i,
    .ready_o(ready),
    .valid_o(valid),
    .data_o (data),
    .last_o (last),
    .ready_i
  );

  // The beats inside, and one, whichever: how many are before it, itself included.
  logic [1:0] inside_q, ahead_q;
  logic [Width:0] watched_q, offered_q;
  logic enters, leaves, stays_q;
  assign enters = valid_i && ready;
  assign leaves = valid && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= '0;
      ahead_q <= '0;
      watched_q <= '0;
      stays_q <= 1'b0;
    end else begin
      inside_q <= inside_q + 2'(enters) - 2'(leaves);
      if (ahead_q != '0) begin
        ahead_q <= ahead_q - 2'(leaves);
      end else if (enters && watch_i) begin
        ahead_q <= inside_q + 2'd1 - 2'(leaves);
        watched_q <= {last_i, data_i};
      end
      stays_q <= valid && !ready_i;
    end
  end
  always_ff @(posedge clk_i) offered_q <= {last, data};

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  always_comb assume (rst_ni == begun_q);

  always_comb begin
    if (rst_ni) begin
      assert (valid == (inside_q != '0));
      assert (ready == (inside_q < 2'd2));
      assert (!stays_q || (valid && offered_q == {last, data}));
      if (ahead_q == 2'd1) assert ({last, data} == watched_q);

      // Induction
      assert (inside_q <= 2'd2 && ahead_q <= inside_q);
      if (ahead_q == 2'd2) assert (dut.spare_q == watched_q);
    end
  end

endmodule
