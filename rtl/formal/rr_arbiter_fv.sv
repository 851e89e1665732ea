// Whoever asks is served, alone, and after at most N - 1 others.
module rr_arbiter_fv #(
  parameter int unsigned N = 5
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic [N-1:0] request_i,
  input logic         take_i,
  input logic [N-1:0] watched_i
);

  logic [N-1:0] grant;

  rr_arbiter #(.N(N)) dut (.clk_i, .rst_ni, .request_i, .grant_o(grant), .take_i);

  // One requester, whichever: it stays the same from reset on.
  logic [N-1:0] watched_q, served_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) watched_q <= watched_i;
    else watched_q <= watched_q;
  end

  // Who was served while it asked.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) served_q <= '0;
    else if ((request_i & watched_q) == '0 || (take_i && (grant & watched_q) != '0)) served_q <= '0;
    else if (take_i) served_q <= served_q | grant;
  end

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;

  always_comb begin
    assume (rst_ni == begun_q);
    assume ($onehot(watched_i));
  end

  // Those whose turn comes before the watched one's.
  logic [N-1:0] below, sooner;
  assign below = watched_q - 1'b1;
  assign sooner = ((dut.behind_q & watched_q) != '0) ? dut.behind_q & below : dut.behind_q | below;

  always_comb begin
    if (rst_ni) begin
      assert ($onehot0(grant));
      assert ((grant & ~request_i) == '0);
      assert ((grant != '0) == (request_i != '0));
      // Nobody is served twice while the watched one waits, so it waits for N - 1 at most.
      if (take_i && (request_i & watched_q) != '0) assert ((grant & served_q) == '0);

      // Induction
      assert ($onehot(watched_q));
      assert ((served_q & (sooner | watched_q)) == '0);
      assert ($onehot0(dut.behind_q & ~(dut.behind_q << 1)));
      assert (dut.behind_q[0] == 1'b0 && (dut.behind_q == '0 || dut.behind_q[N-1]));
    end
  end

endmodule
