// The hub of one node: four cables, a router between them, four DMA channels, registers, a memory
// for descriptors, and a port for descriptors of user logic.
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
  logic [Channels-1:0] start, clear, bell, finished;
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

  logic waits_valid, waits_last, waits_ready, request_valid, request_last, request_ready;
  logic request_empty;
  logic [$bits(way_e)-1:0] request_way_bits;
  way_e request_way;
  logic [Width+$bits(way_e)-1:0] waits_data;
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
    .valid_o(waits_valid),
    .data_o(waits_data),
    .last_o(waits_last),
    .ready_i(waits_ready),
    .empty_o(request_empty)
  );

  tlp_slice #(
    .Width(Width + $bits(way_e))
  ) u_request (
    .clk_i,
    .rst_ni,
    .valid_i(waits_valid),
    .data_i(waits_data),
    .last_i(waits_last),
    .ready_o(waits_ready),
    .valid_o(request_valid),
    .data_o({request_way_bits, request_data}),
    .last_o(request_last),
    .ready_i(request_ready)
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

  logic arrived_valid, arrived_last, arrived_ready, arrived_empty, arrived_left, local_credit_q;
  logic local_valid, local_last, local_to_hub, local_ready;
  logic [Width:0] arrived_data;
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
    .credit_o(arrived_left),
    .valid_o(arrived_valid),
    .data_o(arrived_data),
    .last_o(arrived_last),
    .ready_i(arrived_ready),
    .empty_o(arrived_empty)
  );

  tlp_slice #(
    .Width(Width + 1)
  ) u_arrived (
    .clk_i,
    .rst_ni,
    .valid_i(arrived_valid),
    .data_i(arrived_data),
    .last_i(arrived_last),
    .ready_o(arrived_ready),
    .valid_o(local_valid),
    .data_o({local_to_hub, local_data}),
    .last_o(local_last),
    .ready_i(local_ready)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) local_credit_q <= 1'b0;
    else local_credit_q <= arrived_left && arrived_last;
  end

  // --- Registers -------------------------------------------------------------------------------

  logic regs_valid, regs_last, regs_ready;
  logic [Width-1:0] regs_data;
  logic [1:0] to_regs_ready;
  logic answer_valid, answer_last, answer_ready;
  logic [Width-1:0] answer_data;
  logic dropped, unexpected;

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
    .unexpected_i(unexpected),
    .outside_i(request_valid && request_last && request_way == ToNobody)
  );

  // --- DMA -------------------------------------------------------------------------------------

  logic fetch_read_valid, fetch_read_ready, data_read_valid, data_read_ready;
  request_t fetch_read, data_read;
  logic write_valid, write_last, write_ready, dma_active;
  logic put_valid, put_last, put_ready;
  logic [Width-1:0] write_data, put_data;

  tca_dma #(
    .Width(Width),
    .Tags(Tags),
    .MemoryBytes(MemoryBytes)
  ) u_dma (
    .clk_i,
    .rst_ni,
    .node_i,
    .request_i(request),
    .tags_i(tags),
    .timeout_i(timeout),
    .msi_address_i(msi_address),
    .msi_data_i(msi_data),
    .route_i(route),
    .start_i(start),
    .clear_i(clear),
    .bell_i(bell),
    .chain_i(chain),
    .value_i(value),
    .done_i(done),
    .finished_o(finished),
    .cause_o(cause),
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
    .fetch_read_valid_o(fetch_read_valid),
    .fetch_read_o(fetch_read),
    .fetch_read_ready_i(fetch_read_ready),
    .data_read_valid_o(data_read_valid),
    .data_read_o(data_read),
    .data_read_ready_i(data_read_ready),
    .answer_valid_i(host_valid_i && host_way == ToDma),
    .answer_is_fetch_i(host_is_fetch),
    .answer_data_i(host_data_i),
    .answer_last_i(host_last_i),
    .unexpected_o(unexpected),
    .valid_o(write_valid),
    .data_o(write_data),
    .last_o(write_last),
    .ready_i(write_ready),
    .active_o(dma_active),
    .waiting_o
  );

  tlp_slice #(
    .Width(Width)
  ) u_puts (
    .clk_i,
    .rst_ni,
    .valid_i(write_valid),
    .data_i(write_data),
    .last_i(write_last),
    .ready_o(write_ready),
    .valid_o(put_valid),
    .data_o(put_data),
    .last_o(put_last),
    .ready_i(put_ready)
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
    .valid_i({put_valid, request_valid && request_way == ToRouter}),
    .data_i({put_data, request_data}),
    .last_i({put_last, request_last}),
    .ready_o({put_ready, pio_ready}),
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
    .credit_i({local_credit_q, cable_credit_i}),
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

  logic comes, moves_q;
  logic [3:0] quiet_q;

  assign comes = host_valid_i || host_credit_i || cable_valid_i != '0 || cable_credit_i != '0 ||
      stream_valid_i;
  assign idle_o = quiet_q == Rest && !moves_q && !comes;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      moves_q <= 1'b0;
      quiet_q <= '0;
    end else begin
      moves_q <= comes || host_valid_o || !request_empty || request_valid || !arrived_empty ||
          local_valid || !router_idle || dma_active || put_valid || start != '0 || answer_valid ||
          regs_valid;
      if (moves_q) quiet_q <= '0;
      else if (quiet_q != Rest) quiet_q <= quiet_q + 4'd1;
    end
  end

  logic unused;
  assign unused = &{1'b0, host_answer, host_target, arrival_target};

endmodule
