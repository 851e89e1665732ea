// Round robin: the requester behind the one that was served last comes first.
module rr_arbiter #(
  parameter int unsigned N = 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic [N-1:0] request_i,
  output logic [N-1:0] grant_o,  // one-hot; zero without requests
  input  logic         take_i    // the grant is used: the turn passes on behind it
);

  // Requesters behind the last one served; when none of them asks, the round begins anew.
  logic [N-1:0] behind_q;
  logic [N-1:0] candidates, above;  // `above` the lowest candidate

  assign candidates = ((request_i & behind_q) != '0) ? request_i & behind_q : request_i;

  always_comb begin
    above = '0;
    for (int unsigned i = 1; i < N; i++) above[i] = above[i-1] || candidates[i-1];
  end

  assign grant_o = candidates & ~above;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      behind_q <= '0;
    end else if (take_i && request_i != '0) begin
      behind_q <= above;
    end
  end

endmodule
