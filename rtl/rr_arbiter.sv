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
  logic [N-1:0] candidates;

  assign candidates = ((request_i & behind_q) != '0) ? request_i & behind_q : request_i;
  assign grant_o = candidates & (~candidates + 1'b1);  // the lowest one

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      behind_q <= '0;
    end else if (take_i && request_i != '0) begin
      behind_q <= ~(grant_o | (grant_o - 1'b1));
    end
  end

endmodule
