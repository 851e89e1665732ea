// The hub of one node: four cables, a router between them, four DMA channels, registers, a memory for
// descriptors, and a port for descriptors of user logic.
module tca_hub
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,                     // of a beat: 128 or 256
  parameter int unsigned BufferBeats = 8 * 16384 / Width, // of each cable
  parameter int unsigned HostBeats = 64,                  // room for requests of the host
  parameter int unsigned HostCredits = 64,                // room that the host has
  parameter int unsigned Tags = 32,                       // reads under way, a power of two
  parameter int unsigned MemoryBytes = 32768              // for descriptors
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [NodeBits-1:0]           node_i,

  // Cables: N, E, W, S. A credit is room for the longest packet.
  input  logic [Cables-1:0]             cable_valid_i,
  input  logic [Cables-1:0][Width-1:0]  cable_data_i,
  input  logic [Cables-1:0]             cable_last_i,
  output logic [Cables-1:0]             cable_credit_o,
  output logic [Cables-1:0]             cable_valid_o,
  output logic [Cables-1:0][Width-1:0]  cable_data_o,
  output logic [Cables-1:0]             cable_last_o,
  input  logic [Cables-1:0]             cable_credit_i,

  // Host. A credit is room for a beat; completions are taken without.
  input  logic                          host_valid_i,
  input  logic [Width-1:0]              host_data_i,
  input  logic                          host_last_i,
  output logic                          host_credit_o,
  output logic                          host_valid_o,
  output logic [Width-1:0]              host_data_o,
  output logic                          host_last_o,
  input  logic                          host_credit_i,

  // Descriptors of user logic, and what their flags carry.
  input  logic                          stream_valid_i,
  input  logic [DescriptorBits-1:0]     stream_descriptor_i,
  input  logic [63:0]                   stream_value_i,
  output logic                          stream_ready_o,

  output logic                          idle_o,     // nothing moves until something comes in
  output logic                          waiting_o   // the host owes answers, whose time runs out
);

  localparam int unsigned RowBits = $clog2(MemoryBytes / DescriptorBytes);
  localparam int unsigned LocalBeats = 4 * max_tlp_beats(Width);

  // --- Configuration and channels --------------------------------------------------------------

  logic [8:0] request;
  logic [5:0] tags;
  logic [31:0] timeout, msi_data;
  logic [63:0] msi_address;
  logic [Nodes-1:0][3:0] route;
  logic [Channels-1:0] start, clear, bell, finished, stop, fetch_idle, fetch_failed;
  logic [Channels-1:0][AddressBits-1:0] chain, done, where;
  logic [Channels-1:0][63:0] value;
  logic [Channels-1:0][3:0] cause;
  logic stream, stream_free, stream_start;
  logic memory_read;
  logic [RowBits-1:0] memory_row;
  logic [DescriptorBits-1:0] memory_data;

  // --- What the host sends ---------------------------------------------------------------------
  // Answers go to who has asked; requests wait in a buffer, with their way.

  // A request goes to the registers, which also refuse reads; a write for elsewhere to the router.
  typedef enum logic [1:0] {
    ToDma,
    ToRegisters,
    ToRouter,
    ToNobody
  } way_e;

  logic host_inside_q, host_is_fetch_q, host_is_fetch;
  way_e host_way_q, host_way;
  request_t host_request;
  completion_t host_answer;
  address_t host_target;

  assign host_request = request_t'(host_data_i[HeaderBits-1:0]);
  assign host_answer = completion_t'(host_data_i[HeaderBits-1:0]);
  assign host_target = address_t'(AddressBits'(request_address(host_request)));

  always_comb begin
    if (host_inside_q) begin
      host_way = host_way_q;
    end else if (is_completion(host_request.dw0)) begin
      host_way = ToDma;
    end else if (is_read(host_request.dw0)) begin
      host_way = ToRegisters;
    end else if (!is_write(host_request.dw0) || !in_window(request_address(host_request))) begin
      host_way = ToNobody;
    end else begin
      host_way = (host_target.node == node_i && host_target.target == TargetHub) ? ToRegisters
                                                                                 : ToRouter;
    end
    host_is_fetch = host_inside_q ? host_is_fetch_q : host_answer.tag[7];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      host_inside_q <= 1'b0;
      host_way_q <= ToNobody;
      host_is_fetch_q <= 1'b0;
    end else if (host_valid_i) begin
      host_inside_q <= !host_last_i;
      host_way_q <= host_way;
      host_is_fetch_q <= host_is_fetch;
    end
  end

  logic request_valid, request_last, request_ready, request_empty;
  logic [$bits(way_e)-1:0] request_way_bits;
  way_e request_way;
  logic [Width-1:0] request_data;

  tlp_fifo #(
    .Width(Width + $bits(way_e)),
    .Depth(HostBeats)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .valid_i(host_valid_i && host_way != ToDma),
    .data_i({host_way, host_data_i}),
    .last_i(host_last_i),
    .credit_o(host_credit_o),
    .valid_o(request_valid),
    .data_o({request_way_bits, request_data}),
    .last_o(request_last),
    .ready_i(request_ready),
    .empty_o(request_empty)
  );

  assign request_way = way_e'(request_way_bits);

  // --- What comes over the cables --------------------------------------------------------------

  logic arrival_valid, arrival_last, arrival_inside_q, arrival_to_hub_q, arrival_to_hub;
  logic [Width-1:0] arrival_data;
  request_t arrival;
  address_t arrival_target;

  assign arrival = request_t'(arrival_data[HeaderBits-1:0]);
  assign arrival_target = address_t'(AddressBits'(request_address(arrival)));
  assign arrival_to_hub = arrival_inside_q ? arrival_to_hub_q
      : in_window(request_address(arrival)) && arrival_target.target == TargetHub;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      arrival_inside_q <= 1'b0;
      arrival_to_hub_q <= 1'b0;
    end else if (arrival_valid) begin
      arrival_inside_q <= !arrival_last;
      arrival_to_hub_q <= arrival_to_hub;
    end
  end

  logic local_valid, local_last, local_to_hub, local_ready, local_empty, local_left;
  logic [Width-1:0] local_data;

  tlp_fifo #(
    .Width(Width + 1),
    .Depth(LocalBeats)
  ) u_arrivals (
    .clk_i,
    .rst_ni,
    .valid_i(arrival_valid),
    .data_i({arrival_to_hub, arrival_data}),
    .last_i(arrival_last),
    .credit_o(local_left),
    .valid_o(local_valid),
    .data_o({local_to_hub, local_data}),
    .last_o(local_last),
    .ready_i(local_ready),
    .empty_o(local_empty)
  );

  // --- Registers -------------------------------------------------------------------------------

  logic regs_valid, regs_last, regs_ready;
  logic [Width-1:0] regs_data;
  logic [1:0] to_regs_ready;
  logic answer_valid, answer_last, answer_ready;
  logic [Width-1:0] answer_data;
  logic dropped, unexpected_data, unexpected_fetch;

  tlp_mux #(
    .Width(Width),
    .Inputs(2)
  ) u_to_regs (
    .clk_i,
    .rst_ni,
    .valid_i({local_valid && local_to_hub, request_valid && request_way == ToRegisters}),
    .data_i({local_data, request_data}),
    .last_i({local_last, request_last}),
    .ready_o(to_regs_ready),
    .valid_o(regs_valid),
    .data_o(regs_data),
    .last_o(regs_last),
    .ready_i(regs_ready)
  );

  tca_regs #(
    .Width(Width),
    .Tags(Tags),
    .MemoryBytes(MemoryBytes)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .node_i,
    .valid_i(regs_valid),
    .data_i(regs_data),
    .last_i(regs_last),
    .ready_o(regs_ready),
    .valid_o(answer_valid),
    .data_o(answer_data),
    .last_o(answer_last),
    .ready_i(answer_ready),
    .memory_read_i(memory_read),
    .memory_row_i(memory_row),
    .memory_data_o(memory_data),
    .request_o(request),
    .tags_o(tags),
    .timeout_o(timeout),
    .msi_address_o(msi_address),
    .msi_data_o(msi_data),
    .route_o(route),
    .start_o(start),
    .clear_o(clear),
    .bell_o(bell),
    .chain_o(chain),
    .value_o(value),
    .done_o(done),
    .finished_i(finished),
    .cause_i(cause),
    .where_i(where),
    .stream_o(stream),
    .stream_free_o(stream_free),
    .stream_start_i(stream_start),
    .stream_value_i,
    .dropped_i(dropped),
    .unexpected_i(unexpected_data || unexpected_fetch),
    .outside_i(request_valid && request_last && request_way == ToNobody)
  );

  // --- DMA -------------------------------------------------------------------------------------

  logic fetch_waiting, fetch_read_valid, fetch_read_ready, data_read_valid, data_read_ready;
  request_t fetch_read, data_read;
  logic [Channels-1:0] descriptor_valid, descriptor_ready, piece_valid, piece_ready;
  descriptor_t [Channels-1:0] descriptor;
  piece_t [Channels-1:0] piece;

  dma_fetch #(
    .Width(Width),
    .MemoryBytes(MemoryBytes)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .node_i,
    .timeout_i(timeout),
    .start_i(start & ~{Channels{stream_start}}),
    .chain_i(chain),
    .stop_i(stop),
    .idle_o(fetch_idle),
    .failed_o(fetch_failed),
    .where_o(where),
    .stream_i(stream),
    .stream_free_i(stream_free),
    .stream_valid_i,
    .stream_descriptor_i(descriptor_t'(stream_descriptor_i)),
    .stream_ready_o,
    .stream_start_o(stream_start),
    .memory_read_o(memory_read),
    .memory_row_o(memory_row),
    .memory_data_i(descriptor_t'(memory_data)),
    .read_valid_o(fetch_read_valid),
    .read_header_o(fetch_read),
    .read_ready_i(fetch_read_ready),
    .answer_valid_i(host_valid_i && host_way == ToDma && host_is_fetch),
    .answer_data_i(host_data_i),
    .answer_last_i(host_last_i),
    .unexpected_o(unexpected_fetch),
    .waiting_o(fetch_waiting),
    .valid_o(descriptor_valid),
    .descriptor_o(descriptor),
    .ready_i(descriptor_ready)
  );

  for (genvar c = 0; c < Channels; c++) begin : gen_channel
    dma_walk u_walk (
      .clk_i,
      .rst_ni,
      .node_i,
      .route_i(route),
      .request_i(request),
      .flush_i(stop[c]),
      .valid_i(descriptor_valid[c]),
      .descriptor_i(descriptor[c]),
      .ready_o(descriptor_ready[c]),
      .valid_o(piece_valid[c]),
      .piece_o(piece[c]),
      .ready_i(piece_ready[c])
    );
  end

  logic put_valid, put_last, put_empty, written;
  logic [Width-1:0] put_data;
  answer_t put;
  logic [MaxTagBits-1:0] written_tag;
  logic post_valid, post_short, post_ready, read_active, data_waiting;
  logic [63:0] post_address, post_data;

  dma_read #(
    .Width(Width),
    .Tags(Tags)
  ) u_read (
    .clk_i,
    .rst_ni,
    .node_i,
    .tags_i(tags),
    .timeout_i(timeout),
    .start_i(start),
    .clear_i(clear),
    .bell_i(bell),
    .value_i(value),
    .done_i(done),
    .msi_address_i(msi_address),
    .msi_data_i(msi_data),
    .stop_o(stop),
    .cause_o(cause),
    .finished_o(finished),
    .piece_valid_i(piece_valid),
    .piece_i(piece),
    .piece_ready_o(piece_ready),
    .fetch_idle_i(fetch_idle),
    .fetch_failed_i(fetch_failed),
    .read_valid_o(data_read_valid),
    .read_header_o(data_read),
    .read_ready_i(data_read_ready),
    .completion_valid_i(host_valid_i && host_way == ToDma && !host_is_fetch),
    .completion_data_i(host_data_i),
    .completion_last_i(host_last_i),
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

  logic write_valid, write_last, write_ready;
  logic [Width-1:0] write_data;

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
    .valid_o(write_valid),
    .data_o(write_data),
    .last_o(write_last),
    .ready_i(write_ready)
  );

  // --- Into the router: the DMA's writes and the host's --------------------------------------

  logic pio_ready, enter_valid, enter_last, enter_ready, entry_valid, entry_last, entry_credit;
  logic [Width-1:0] enter_data, entry_data;

  tlp_mux #(
    .Width(Width),
    .Inputs(2)
  ) u_to_router (
    .clk_i,
    .rst_ni,
    .valid_i({write_valid, request_valid && request_way == ToRouter}),
    .data_i({write_data, request_data}),
    .last_i({write_last, request_last}),
    .ready_o({write_ready, pio_ready}),
    .valid_o(enter_valid),
    .data_o(enter_data),
    .last_o(enter_last),
    .ready_i(enter_ready)
  );

  tlp_sender #(
    .Width(Width),
    .Credits(BufferBeats / max_tlp_beats(Width)),
    .WholePackets(1'b1)
  ) u_entry (
    .clk_i,
    .rst_ni,
    .valid_i(enter_valid),
    .data_i(enter_data),
    .last_i(enter_last),
    .ready_o(enter_ready),
    .valid_o(entry_valid),
    .data_o(entry_data),
    .last_o(entry_last),
    .credit_i(entry_credit)
  );

  logic router_idle;

  tca_router #(
    .Width(Width),
    .BufferBeats(BufferBeats),
    .LocalBeats(LocalBeats)
  ) u_router (
    .clk_i,
    .rst_ni,
    .node_i,
    .route_i(route),
    .valid_i({entry_valid, cable_valid_i}),
    .data_i({entry_data, cable_data_i}),
    .last_i({entry_last, cable_last_i}),
    .credit_o({entry_credit, cable_credit_o}),
    .valid_o({arrival_valid, cable_valid_o}),
    .data_o({arrival_data, cable_data_o}),
    .last_o({arrival_last, cable_last_o}),
    .credit_i({local_left && local_last, cable_credit_i}),
    .dropped_o(dropped),
    .idle_o(router_idle)
  );

  // --- To the host: what arrived for it, reads, and answers to its reads -----------------------

  logic out_valid, out_last, out_ready, deliver_ready;
  logic [Width-1:0] out_data;

  tlp_mux #(
    .Width(Width),
    .Inputs(4)
  ) u_to_host (
    .clk_i,
    .rst_ni,
    .valid_i({answer_valid, fetch_read_valid, data_read_valid, local_valid && !local_to_hub}),
    .data_i({answer_data, Width'(fetch_read), Width'(data_read), local_data}),
    .last_i({answer_last, 1'b1, 1'b1, local_last}),
    .ready_o({answer_ready, fetch_read_ready, data_read_ready, deliver_ready}),
    .valid_o(out_valid),
    .data_o(out_data),
    .last_o(out_last),
    .ready_i(out_ready)
  );

  tlp_sender #(
    .Width(Width),
    .Credits(HostCredits)
  ) u_to_host_credits (
    .clk_i,
    .rst_ni,
    .valid_i(out_valid),
    .data_i(out_data),
    .last_i(out_last),
    .ready_o(out_ready),
    .valid_o(host_valid_o),
    .data_o(host_data_o),
    .last_o(host_last_o),
    .credit_i(host_credit_i)
  );

  assign local_ready = local_to_hub ? to_regs_ready[1] : deliver_ready;

  always_comb begin
    unique case (request_way)
      ToRegisters: request_ready = to_regs_ready[0];
      ToRouter: request_ready = pio_ready;
      default: request_ready = 1'b1;
    endcase
  end

  // --- Rest ------------------------------------------------------------------------------------
  // Whatever moves inside shows at one of these within a few cycles.

  localparam logic [3:0] Rest = 4'd15;

  logic moves;
  logic [3:0] quiet_q;

  assign moves = host_valid_i || host_credit_i || host_valid_o || cable_valid_i != '0 ||
      cable_credit_i != '0 || !request_empty || !local_empty || !router_idle || !put_empty ||
      read_active || fetch_read_valid || descriptor_valid != '0 || start != '0 || memory_read ||
      stream_valid_i && stream_ready_o || answer_valid || regs_valid;
  assign idle_o = quiet_q == Rest && !moves;
  assign waiting_o = data_waiting || fetch_waiting;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) quiet_q <= '0;
    else if (moves) quiet_q <= '0;
    else if (quiet_q != Rest) quiet_q <= quiet_q + 4'd1;
  end

  logic unused;
  assign unused = &{1'b0, host_answer, host_target, arrival_target};

endmodule
