// The DMA controller: fetches descriptors, walks them, reads what they name from the host and its
// GPUs, and writes it, with flags behind it, to wherever the router then brings it.
module tca_dma
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 32,
  parameter int unsigned MemoryBytes = 32768,
  localparam int unsigned RowBits = $clog2(MemoryBytes / DescriptorBytes)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [NodeBits-1:0]                  node_i,

  // Registers.
  input  logic [8:0]                           request_i,
  input  logic [5:0]                           tags_i,
  input  logic [31:0]                          timeout_i,
  input  logic [63:0]                          msi_address_i,
  input  logic [31:0]                          msi_data_i,
  input  logic [Nodes-1:0][3:0]                route_i,
  input  logic [Channels-1:0]                  start_i,
  input  logic [Channels-1:0]                  clear_i,
  input  logic [Channels-1:0]                  bell_i,
  input  logic [Channels-1:0][AddressBits-1:0] chain_i,
  input  logic [Channels-1:0][63:0]            value_i,
  input  logic [Channels-1:0][AddressBits-1:0] done_i,
  output logic [Channels-1:0]                  finished_o,
  output logic [Channels-1:0][3:0]             cause_o,
  output logic [Channels-1:0][AddressBits-1:0] where_o,

  // User logic.
  input  logic                                 stream_i,
  input  logic                                 stream_free_i,
  input  logic                                 stream_valid_i,
  input  descriptor_t                          stream_descriptor_i,
  output logic                                 stream_ready_o,
  output logic                                 stream_start_o,

  // The hub's memory.
  output logic                                 memory_read_o,
  output logic [RowBits-1:0]                   memory_row_o,
  input  descriptor_t                          memory_data_i,

  // Reads, of descriptors and of data, and their answers, which are taken whenever they come.
  output logic                                 fetch_read_valid_o,
  output request_t                             fetch_read_o,
  input  logic                                 fetch_read_ready_i,
  output logic                                 data_read_valid_o,
  output request_t                             data_read_o,
  input  logic                                 data_read_ready_i,
  input  logic                                 answer_valid_i,
  input  logic                                 answer_is_fetch_i,
  input  logic [Width-1:0]                     answer_data_i,
  input  logic                                 answer_last_i,
  output logic                                 unexpected_o,

  // Writes.
  output logic                                 valid_o,
  output logic [Width-1:0]                     data_o,
  output logic                                 last_o,
  input  logic                                 ready_i,

  output logic                                 active_o,   // something moves
  output logic                                 waiting_o   // answers are owed
);

  logic [Channels-1:0] stop, fetch_idle, fetch_failed;
  logic fetch_active, fetch_waiting, data_waiting, unexpected_fetch, unexpected_data;
  logic [Channels-1:0] descriptor_valid, descriptor_ready;
  logic [Channels-1:0] piece_coming, piece_valid, piece_ready;
  descriptor_t [Channels-1:0] descriptor;
  piece_t [Channels-1:0] piece;

  dma_fetch #(
    .Width(Width),
    .MemoryBytes(MemoryBytes)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .node_i,
    .timeout_i,
    .start_i,
    .chain_i,
    .stop_i(stop),
    .idle_o(fetch_idle),
    .failed_o(fetch_failed),
    .where_o,
    .stream_i,
    .stream_free_i,
    .stream_valid_i,
    .stream_descriptor_i,
    .stream_ready_o,
    .stream_start_o,
    .memory_read_o,
    .memory_row_o,
    .memory_data_i,
    .read_valid_o(fetch_read_valid_o),
    .read_header_o(fetch_read_o),
    .read_ready_i(fetch_read_ready_i),
    .answer_valid_i(answer_valid_i && answer_is_fetch_i),
    .answer_data_i,
    .answer_last_i,
    .unexpected_o(unexpected_fetch),
    .waiting_o(fetch_waiting),
    .active_o(fetch_active),
    .valid_o(descriptor_valid),
    .descriptor_o(descriptor),
    .ready_i(descriptor_ready)
  );

  for (genvar c = 0; c < Channels; c++) begin : gen_channel
    dma_walk u_walk (
      .clk_i,
      .rst_ni,
      .node_i,
      .route_i,
      .request_i,
      .flush_i(stop[c]),
      .valid_i(descriptor_valid[c]),
      .descriptor_i(descriptor[c]),
      .ready_o(descriptor_ready[c]),
      .coming_o(piece_coming[c]),
      .valid_o(piece_valid[c]),
      .piece_o(piece[c]),
      .ready_i(piece_ready[c])
    );
  end

  logic put_valid, put_last, put_empty, written;
  logic [Width-1:0] put_data;
  answer_t put;
  logic [MaxTagBits-1:0] written_tag;
  logic post_valid, post_short, post_ready, read_active;
  logic [63:0] post_address, post_data;

  dma_read #(
    .Width(Width),
    .Tags(Tags)
  ) u_read (
    .clk_i,
    .rst_ni,
    .node_i,
    .tags_i,
    .timeout_i,
    .start_i,
    .clear_i,
    .bell_i,
    .value_i,
    .done_i,
    .msi_address_i,
    .msi_data_i,
    .stop_o(stop),
    .cause_o,
    .finished_o,
    .piece_coming_i(piece_coming),
    .piece_valid_i(piece_valid),
    .piece_i(piece),
    .piece_ready_o(piece_ready),
    .fetch_idle_i(fetch_idle),
    .fetch_failed_i(fetch_failed),
    .read_valid_o(data_read_valid_o),
    .read_header_o(data_read_o),
    .read_ready_i(data_read_ready_i),
    .completion_valid_i(answer_valid_i && !answer_is_fetch_i),
    .completion_data_i(answer_data_i),
    .completion_last_i(answer_last_i),
    .unexpected_o(unexpected_data),
    .answer_valid_o(put_valid),
    .answer_data_o(put_data),
    .answer_last_o(put_last),
    .answer_o(put),
    .answers_empty_i(put_empty),
    .written_i(written),
    .written_tag_i(written_tag),
    .post_valid_o(post_valid),
    .post_address_o(post_address),
    .post_data_o(post_data),
    .post_short_o(post_short),
    .post_ready_i(post_ready),
    .active_o(read_active),
    .waiting_o(data_waiting)
  );

  dma_write #(
    .Width(Width),
    .Tags(Tags)
  ) u_write (
    .clk_i,
    .rst_ni,
    .node_i,
    .answer_valid_i(put_valid),
    .answer_data_i(put_data),
    .answer_last_i(put_last),
    .answer_i(put),
    .answers_empty_o(put_empty),
    .written_o(written),
    .written_tag_o(written_tag),
    .post_valid_i(post_valid),
    .post_address_i(post_address),
    .post_data_i(post_data),
    .post_short_i(post_short),
    .post_ready_o(post_ready),
    .valid_o,
    .data_o,
    .last_o,
    .ready_i
  );

  assign unexpected_o = unexpected_fetch || unexpected_data;
  assign waiting_o = fetch_waiting || data_waiting;
  assign active_o = fetch_active || read_active || !put_empty || (stream_valid_i && stream_ready_o);

endmodule
