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

  function automatic logic [N-1:0] above_lowest(logic [N-1:0] set);
    logic [N-1:0] above;
    above = '0;
    for (int unsigned i = 1; i < N; i++) above[i] = above[i-1] || set[i-1];
    return above;
  endfunction

  // Requesters behind the last one served; when none of them asks, the round begins anew. Who would
  // be first then is found at the same time.
  logic [N-1:0] behind_q;
  logic [N-1:0] behind, above_behind, above_all;
  logic goes_on;

  assign behind = request_i & behind_q;
  assign goes_on = behind != '0;
  assign above_behind = above_lowest(behind);
  assign above_all = above_lowest(request_i);
  assign grant_o = goes_on ? behind & ~above_behind : request_i & ~above_all;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      behind_q <= '0;
    end else if (take_i && request_i != '0) begin
      behind_q <= goes_on ? above_behind : above_all;
    end
  end

endmodule
