// Stands for tlp_fifo in the proof of the router: beats keep their order and stay until they are
// taken, but come to the output whenever they like. tlp_fifo_fv proves that the real one does as
// much.
module tlp_fifo #(
  parameter int unsigned Width = 128,
  parameter int unsigned Depth = 256
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [Width-1:0] data_i,
  input  logic             last_i,
  output logic             credit_o,
  output logic             valid_o,
  output logic [Width-1:0] data_o,
  output logic             last_o,
  input  logic             ready_i,
  output logic             empty_o
);

  localparam int unsigned CountBits = $clog2(Depth + 2);

  logic [Depth-1:0][Width:0] beats_q;  // the oldest is beat 0
  logic [CountBits-1:0] count_q;
  logic shown_q;
  (* anyseq *) logic shows;

  assign valid_o = count_q != '0 && shown_q;
  assign {last_o, data_o} = beats_q[0];
  assign credit_o = valid_o && ready_i;
  assign empty_o = count_q == '0;

  logic [CountBits-1:0] next;
  assign next = count_q - CountBits'(credit_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beats_q <= '0;
      count_q <= '0;
      shown_q <= 1'b0;
    end else begin
      for (int unsigned k = 0; k < Depth; k++) begin
        if (valid_i && next == CountBits'(k)) beats_q[k] <= {last_i, data_i};
        else if (credit_o) beats_q[k] <= (k + 1 < Depth) ? beats_q[k+1] : '0;
      end
      count_q <= next + CountBits'(valid_i);
      shown_q <= (valid_o && !ready_i) || shows;
    end
  end

endmodule
