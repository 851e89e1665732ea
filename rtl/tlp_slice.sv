// A register in a stream, in both directions: what is offered and whether it is taken are known at
// the beginning of a cycle, so that long paths end here. A beat takes one cycle more, and one may
// pass in each.
module tlp_slice #(
  parameter int unsigned Width = 128
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
  input  logic             ready_i
);

  // A beat that comes while the one before it stays waits in `spare`.
  logic [Width:0] spare_q, output_q;
  logic spare_valid_q, advance;

  assign advance = !valid_o || ready_i;
  assign ready_o = !spare_valid_q;
  assign {last_o, data_o} = output_q;

  always_ff @(posedge clk_i) begin
    if (advance) output_q <= spare_valid_q ? spare_q : {last_i, data_i};
    if (!spare_valid_q) spare_q <= {last_i, data_i};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      spare_valid_q <= 1'b0;
    end else begin
      valid_o <= spare_valid_q || valid_i || !advance;
      spare_valid_q <= !advance && (spare_valid_q || valid_i);
    end
  end

endmodule
