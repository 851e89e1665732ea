// Sends a stream on against credits, which come back as the receiver's buffer empties. A credit is
// room for a beat, or for a whole packet.
module tlp_sender #(
  parameter int unsigned Width = 128,
  parameter int unsigned Credits = 64,
  parameter bit WholePackets = 1'b0
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  input  logic [Width-1:0] data_i,
  input  logic             last_i,
  output logic             ready_o,

  output logic             valid_o,
  output logic [Width-1:0] data_o,
  output logic             last_o,
  input  logic             credit_i
);

  localparam int unsigned Bits = $clog2(Credits + 1);

  logic [Bits-1:0] credits_q, credits;
  logic room_q;  // a credit is left
  logic paid_q;  // for the rest of the packet
  logic sends, pays;

  assign ready_o = paid_q || room_q;
  assign sends = valid_i && ready_o;
  assign pays = sends && !paid_q;
  assign credits = credits_q + Bits'(credit_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      credits_q <= Bits'(Credits);
      room_q <= 1'b1;
      paid_q <= 1'b0;
      valid_o <= 1'b0;
      last_o <= 1'b0;
    end else begin
      credits_q <= pays ? credits - Bits'(1) : credits;
      room_q <= credits > Bits'(pays);
      if (sends) paid_q <= WholePackets && !last_i;
      valid_o <= sends;
      last_o <= last_i;
    end
  end

  always_ff @(posedge clk_i) begin
    data_o <= data_i;
  end

endmodule
