// Takes packets by their address from five inputs to five outputs.
//
//   arrival        the way is looked up and goes into the buffer beside the header
//   buffer         three cycles (tlp_fifo)
//   arbitration    a header at the end of its buffer asks for its output, which is then its
//                  packet's alone
//   crossing       the beats go over, one a cycle, while the rest may still be coming (cut-through)
//
// A beat leaves five cycles after it came. A credit is room for one whole packet of the greatest
// length, so a packet that has begun to leave never waits for room. Counted in beats, short
// packets would break the room of a ring into pieces that hold no long one.
//
// East and west are ends of a ring. A packet enters a ring only where it leaves room for one more
// (bubble flow control), so some packet of the ring can always move. Without more, packets of the
// ring would take each credit before a second comes. Hence a packet that enters holds the output
// when its turn has come, but not for ever: that could stop the ring.
module tca_router
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned BufferBeats = 256,  // room of each input, here and at the next hub
  parameter int unsigned LocalBeats = 256    // room behind the local output
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic [NodeBits-1:0]   node_i,
  input  logic [Nodes-1:0][3:0] route_i,     // the port towards each other node, or none

  // Indices are of port_e. A credit is for a packet.
  input  logic [Ports-1:0]            valid_i,
  input  logic [Ports-1:0][Width-1:0] data_i,
  input  logic [Ports-1:0]            last_i,
  output logic [Ports-1:0]            credit_o,

  output logic [Ports-1:0]            valid_o,
  output logic [Ports-1:0][Width-1:0] data_o,
  output logic [Ports-1:0]            last_o,
  input  logic [Ports-1:0]            credit_i,

  output logic dropped_o,                    // a packet that is no write or has no way
  output logic idle_o                        // until the next beat or credit
);

  localparam int unsigned MaxBeats = max_tlp_beats(Width);

  // How long a packet that enters a ring may hold its output: as long as the next hub takes to
  // free room while its other inputs have their turns.
  localparam int unsigned Patience = 4 * MaxBeats;
  localparam int unsigned PatienceBits = $clog2(Patience + 1);

  // The inputs whose packets stay in the ring of an output, or all inputs where the output is no
  // part of one.
  function automatic logic [Ports-1:0] stays_in_ring(port_e port);
    unique case (port)
      PortEast: return Ports'(1) << PortWest;
      PortWest: return Ports'(1) << PortEast;
      default:  return '1;
    endcase
  endfunction

  // The output for a header, one-hot; zero where there is none.
  function automatic logic [Ports-1:0] way_of(request_t header, logic [NodeBits-1:0] node,
                                              logic [Nodes-1:0][3:0] route);
    logic [63:0] address;
    logic [NodeBits-1:0] target;
    logic [3:0] port;
    address = request_address(header);
    target = address[AddressBits-2-:NodeBits];
    port = (!in_window(address) || target == node) ? 4'(PortLocal) : route[target];
    return (is_write(header.dw0) && port < 4'(Ports)) ? Ports'(1) << port : '0;
  endfunction

  // -------------------------------------------------------------------------------------------
  // Inputs

  logic [Ports-1:0] buffer_empty;
  logic [Ports-1:0] head;                // a header is at the end of the buffer
  logic [Ports-1:0][Ports-1:0] head_way;
  logic [Ports-1:0] leaves, last_leaves;
  logic [Ports-1:0][Ports-1:0] way;      // of the beat at the end of the buffer
  logic [Ports-1:0] drops;
  logic [Ports-1:0] started;             // by the output that it asks for

  // The beats on their way to an output.
  logic [Ports-1:0] crossing_valid_q;
  logic [Ports-1:0] crossing_last_q;
  logic [Ports-1:0][Width-1:0] crossing_data_q;
  logic [Ports-1:0][Ports-1:0] crossing_way_q;

  for (genvar i = 0; i < Ports; i++) begin : gen_input
    logic arrives_first_q, leaves_first_q;
    logic [Ports-1:0] packet_way_q;
    logic valid, last;
    logic [Width-1:0] data;

    tlp_fifo #(
      .Width(Width + Ports),
      .Depth(BufferBeats)
    ) u_buffer (
      .clk_i,
      .rst_ni,
      .valid_i (valid_i[i]),
      .data_i  ({arrives_first_q ? way_of(data_i[i][HeaderBits-1:0], node_i, route_i) : '0,
                 data_i[i]}),
      .last_i  (last_i[i]),
      .credit_o(leaves[i]),
      .valid_o (valid),
      .data_o  ({head_way[i], data}),
      .last_o  (last),
      .ready_i (!leaves_first_q || drops[i] || started[i]),
      .empty_o (buffer_empty[i])
    );

    assign head[i] = valid && leaves_first_q;
    assign drops[i] = head[i] && head_way[i] == '0;
    assign way[i] = leaves_first_q ? head_way[i] : packet_way_q;
    assign last_leaves[i] = leaves[i] && last;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        arrives_first_q <= 1'b1;
        leaves_first_q <= 1'b1;
        packet_way_q <= '0;
        crossing_valid_q[i] <= 1'b0;
        crossing_last_q[i] <= 1'b0;
        crossing_data_q[i] <= '0;
        crossing_way_q[i] <= '0;
        credit_o[i] <= 1'b0;
      end else begin
        if (valid_i[i]) arrives_first_q <= last_i[i];
        if (leaves[i]) begin
          leaves_first_q <= last;
          packet_way_q <= way[i];
          crossing_last_q[i] <= last;
          crossing_data_q[i] <= data;
          crossing_way_q[i] <= way[i];
        end
        crossing_valid_q[i] <= leaves[i];
        credit_o[i] <= last_leaves[i];
      end
    end
  end

  // -------------------------------------------------------------------------------------------
  // Outputs

  logic [Ports-1:0][Ports-1:0] start;    // by output, then input

  for (genvar o = 0; o < Ports; o++) begin : gen_output
    localparam int unsigned Slots = (o == PortLocal ? LocalBeats : BufferBeats) / MaxBeats;
    localparam int unsigned CreditBits = $clog2(Slots + 1);
    localparam logic [Ports-1:0] Stays = stays_in_ring(port_e'(o));

    logic busy_q;                        // a packet has begun to leave and has not ended
    logic [CreditBits-1:0] credits_q, credits;
    logic room_q, bubble_q;              // for a packet, and for one more beside it
    logic [PatienceBits-1:0] held_q;
    logic patience_over_q;
    logic [Ports-1:0] wants, request, grant, to_here;
    logic starts;

    for (genvar i = 0; i < Ports; i++) begin : gen_wants
      assign wants[i] = head[i] && head_way[i][o];
      assign to_here[i] = way[i][o];
      // What may start is known but for whose turn it is.
      assign start[o][i] = grant[i] && !busy_q && (Stays[i] ? room_q : bubble_q);
    end

    assign request = (patience_over_q && (wants & Stays) != '0) ? wants & Stays : wants;
    assign starts = start[o] != '0;
    assign credits = credits_q + CreditBits'(credit_i[o]);

    rr_arbiter #(
      .N(Ports)
    ) u_arbiter (
      .clk_i,
      .rst_ni,
      .request_i(request),
      .grant_o  (grant),
      .take_i   (starts)
    );

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        busy_q <= 1'b0;
        credits_q <= CreditBits'(Slots);
        room_q <= 1'b1;
        bubble_q <= Slots > 1;
        held_q <= '0;
        patience_over_q <= 1'b0;
      end else begin
        busy_q <= (busy_q || starts) && (last_leaves & to_here) == '0;
        credits_q <= starts ? credits - CreditBits'(1) : credits;
        room_q <= credits > CreditBits'(starts);
        bubble_q <= credits > (starts ? CreditBits'(2) : CreditBits'(1));
        if (starts || wants == '0) begin
          held_q <= '0;
          patience_over_q <= 1'b0;
        end else if (!busy_q && room_q && !patience_over_q) begin
          held_q <= held_q + 1'b1;
          patience_over_q <= held_q == PatienceBits'(Patience - 1);
        end
      end
    end

    logic valid, last;
    logic [Width-1:0] data;

    always_comb begin
      valid = 1'b0;
      last = 1'b0;
      data = '0;
      for (int i = 0; i < Ports; i++) begin
        if (crossing_valid_q[i] && crossing_way_q[i][o]) begin
          valid = 1'b1;
          last |= crossing_last_q[i];
          data |= crossing_data_q[i];
        end
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_o[o] <= 1'b0;
        last_o[o] <= 1'b0;
        data_o[o] <= '0;
      end else begin
        valid_o[o] <= valid;
        if (valid) begin
          last_o[o] <= last;
          data_o[o] <= data;
        end
      end
    end
  end

  always_comb begin
    started = '0;
    for (int o = 0; o < Ports; o++) started |= start[o];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) dropped_o <= 1'b0;
    else dropped_o <= drops != '0;
  end

  assign idle_o = buffer_empty == '1 && crossing_valid_q == '0 && valid_o == '0 &&
                  credit_o == '0 && !dropped_o;

endmodule
