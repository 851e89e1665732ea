// A buffer of packets in block RAM. A beat that is put in shows at the output three cycles later,
// and a beat may leave in each cycle. Nothing holds the sender back: it counts credits, and has as
// many as the buffer has room.
module tlp_fifo #(
  parameter int unsigned Width = 128,
  parameter int unsigned Depth = 256   // beats, at least 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  input  logic [Width-1:0] data_i,
  input  logic             last_i,
  output logic             credit_o,   // a beat has left

  output logic             valid_o,
  output logic [Width-1:0] data_o,
  output logic             last_o,
  input  logic             ready_i,

  output logic             empty_o     // nothing inside
);

  localparam int unsigned IndexBits = $clog2(Depth);
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam logic [IndexBits-1:0] LastIndex = IndexBits'(Depth - 1);

  logic [Width:0] memory[Depth];
  logic [IndexBits-1:0] write_q, read_q;
  logic [CountBits-1:0] count_q;  // beats in the memory that have not been read

  // The memory's output and two registers behind it. Whether the memory is read depends on what
  // they hold, not on `ready_i`, which comes late in a cycle: the second register, `spare`, takes
  // the beat that nobody took.
  logic [Width:0] memory_q, spare_q, output_q;
  logic memory_valid_q, spare_valid_q, output_valid_q;
  logic read, advance;

  assign read = count_q != '0 && !(memory_valid_q && spare_valid_q);
  assign advance = !output_valid_q || ready_i;

  assign valid_o = output_valid_q;
  assign {last_o, data_o} = output_q;
  assign credit_o = output_valid_q && ready_i;
  assign empty_o = count_q == '0 && !memory_valid_q && !output_valid_q;

  always_ff @(posedge clk_i) begin
    if (valid_i) memory[write_q] <= {last_i, data_i};
    if (read) memory_q <= memory[read_q];
    if (advance) output_q <= spare_valid_q ? spare_q : memory_q;
    if (advance || !spare_valid_q) spare_q <= memory_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q <= '0;
      count_q <= '0;
      memory_valid_q <= 1'b0;
      spare_valid_q <= 1'b0;
      output_valid_q <= 1'b0;
    end else begin
      if (valid_i) write_q <= (write_q == LastIndex) ? '0 : write_q + 1'b1;
      if (read) read_q <= (read_q == LastIndex) ? '0 : read_q + 1'b1;
      count_q <= count_q + CountBits'(valid_i) - CountBits'(read);
      memory_valid_q <= read || (memory_valid_q && spare_valid_q && !advance);
      spare_valid_q <= (memory_valid_q && (spare_valid_q || !advance)) ||
                       (spare_valid_q && !advance);
      output_valid_q <= memory_valid_q || spare_valid_q || !advance;
    end
  end

endmodule
