// Tells what has been done, in the order in which it was asked for: flags, the words at the end of
// chains, and interrupts. Each waits until the ring of tags has come to where its data ended.
module dma_notice
  import tca_pkg::*;
#(
  parameter int unsigned Notices = 16,
  parameter int unsigned PlaceBits = 6
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,

  input  logic                                 valid_i,
  input  notice_t                              notice_i,
  input  logic [PlaceBits-1:0]                 after_i,     // the place of the tag behind its data
  output logic                                 room_o,

  input  logic [PlaceBits-1:0]                 tail_i,
  output logic                                 due_o,       // holds the tail

  input  logic [Channels-1:0][3:0]             cause_i,
  input  logic [Channels-1:0][63:0]            value_i,     // of flags
  input  logic [Channels-1:0][AddressBits-1:0] done_i,      // where the end is told, or zero
  input  logic [63:0]                          msi_address_i,
  input  logic [31:0]                          msi_data_i,
  output logic [Channels-1:0]                  finished_o,

  output logic                                 post_valid_o,
  output logic [63:0]                          post_address_o,
  output logic [63:0]                          post_data_o,
  output logic                                 post_short_o,  // 4 bytes in place of 8
  input  logic                                 post_ready_i
);

  localparam int unsigned Bits = $clog2(Notices);

  typedef enum logic [1:0] {
    Flag,
    Done,
    Interrupt
  } post_e;

  // --- Queue -----------------------------------------------------------------------------------

  notice_t notices_q[Notices];
  logic [PlaceBits-1:0] after_q[Notices];
  logic [Bits:0] in_q, out_q;
  post_e post_q;
  notice_t notice;
  logic noticed, sends, skips, stepped;

  assign room_o = in_q != {~out_q[Bits], out_q[Bits-1:0]};
  assign notice = notices_q[out_q[Bits-1:0]];
  assign due_o = in_q != out_q && after_q[out_q[Bits-1:0]] == tail_i;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      notices_q[in_q[Bits-1:0]] <= notice_i;
      after_q[in_q[Bits-1:0]] <= after_i;
    end
  end

  // --- Posts -----------------------------------------------------------------------------------
  // A flag, then the word for the end, then an interrupt, as far as they are asked for.

  // What is offered is kept beside its registers, so that it goes out whole, whatever fails and
  // whoever writes a register meanwhile.

  logic [3:0] cause;
  logic [63:0] address, data;
  logic is_short;
  assign cause = cause_i[notice.channel];

  always_comb begin
    sends = 1'b0;
    address = {24'd0, notice.flag};
    data = value_i[notice.channel];
    is_short = 1'b0;
    unique case (post_q)
      Flag: sends = notice.notify && cause == CauseNone;
      Done: begin
        sends = notice.ends && done_i[notice.channel] != '0;
        address = {24'd0, done_i[notice.channel]};
        data[63:56] = {4'd0, cause};
      end
      default: begin
        sends = notice.ends && notice.msi && msi_address_i != 64'd0;
        address = msi_address_i;
        data = {32'd0, msi_data_i};
        is_short = 1'b1;
      end
    endcase
  end

  assign skips = due_o && !post_valid_o && !sends;
  assign stepped = skips || (post_valid_o && post_ready_i);
  assign noticed = stepped && (post_q == Interrupt || !notice.ends);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_q <= '0;
      out_q <= '0;
      post_q <= Flag;
      post_valid_o <= 1'b0;
    end else begin
      post_valid_o <= post_valid_o ? !post_ready_i : due_o && sends;
      if (valid_i) in_q <= in_q + (Bits + 1)'(1);
      if (noticed) out_q <= out_q + (Bits + 1)'(1);
      if (noticed) post_q <= Flag;
      else if (stepped) post_q <= (post_q == Flag) ? Done : Interrupt;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!post_valid_o) begin
      post_address_o <= address;
      post_data_o <= data;
      post_short_o <= is_short;
    end
  end

  always_comb begin
    finished_o = '0;
    finished_o[notice.channel] = noticed && notice.ends;
  end

endmodule
