// Merges packets of several sources into one stream, whole packets by turns, one without a bubble.
module tlp_mux #(
  parameter int unsigned Width = 128,
  parameter int unsigned Inputs = 2
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,

  input  logic [Inputs-1:0]            valid_i,
  input  logic [Inputs-1:0][Width-1:0] data_i,
  input  logic [Inputs-1:0]            last_i,
  output logic [Inputs-1:0]            ready_o,

  output logic                         valid_o,
  output logic [Width-1:0]             data_o,
  output logic                         last_o,
  input  logic                         ready_i
);

  logic [Inputs-1:0] grant, chosen, chosen_q;
  logic inside_q;

  rr_arbiter #(.N(Inputs)) u_turns (
    .clk_i,
    .rst_ni,
    .request_i(valid_i),
    .grant_o(grant),
    .take_i(!inside_q)
  );

  assign chosen = inside_q ? chosen_q : grant;

  always_comb begin
    data_o = '0;
    for (int unsigned k = 0; k < Inputs; ++k) if (chosen[k]) data_o |= data_i[k];
  end
  assign valid_o = |(chosen & valid_i);
  assign last_o = |(chosen & last_i);
  assign ready_o = chosen & {Inputs{ready_i}};

  // A packet that has been offered stays, even where another source has come since.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      chosen_q <= '0;
      inside_q <= 1'b0;
    end else if (valid_o) begin
      chosen_q <= chosen;
      inside_q <= !(ready_i && last_o);
    end
  end

endmodule
