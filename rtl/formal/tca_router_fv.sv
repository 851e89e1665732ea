// Every packet leaves whole, by the way of its address and by no other, or is dropped where it has none. Nothing leaves
// without room for it. What enters a ring leaves room for one more packet, and waits no longer than its patience while a
// packet of the ring could go.
//
// Beats carry marks in the header's requester and tag, which the router does not look at: the input, the beat's
// place in its packet, and one beat, whichever, that is watched.
module tca_router_fv
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Slots = 3
) (
  input logic                         clk_i,
  input logic                         rst_ni,
  input logic [NodeBits-1:0]          node_i,
  input logic [Nodes-1:0][3:0]        route_i,
  input logic [Ports-1:0]             valid_i,
  input logic [Ports-1:0][Width-1:0]  data_i,
  input logic [Ports-1:0]             last_i,
  input logic [Ports-1:0]             credit_i,
  input logic [Ports-1:0]             watch_i
);

  localparam int unsigned MaxBeats = max_tlp_beats(Width);
  localparam int unsigned Patience = 4 * MaxBeats;
  localparam int unsigned Depth = Slots * MaxBeats;

  // Where marks stand in a beat.
  localparam int unsigned WatchBit = 63;
  localparam int unsigned InputBit = 56;
  localparam int unsigned PlaceBit = 48;

  // The table of ways, fixed from reset on.
  logic [NodeBits-1:0] node_q;
  logic [Nodes-1:0][3:0] route_q;

  logic [Ports-1:0] credit, valid, last;
  logic [Ports-1:0][Width-1:0] data;
  logic dropped, idle;

  tca_router #(
    .Width(Width),
    .BufferBeats(Depth),
    .LocalBeats(Depth)
  ) dut (
    .clk_i,
    .rst_ni,
    .node_i   (node_q),
    .route_i  (route_q),
    .valid_i,
    .data_i,
    .last_i,
    .credit_o (credit),
    .valid_o  (valid),
    .data_o   (data),
    .last_o   (last),
    .credit_i,
    .dropped_o(dropped),
    .idle_o   (idle)
  );

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  always_comb assume (rst_ni == begun_q);

  function automatic logic [2:0] way(logic [127:0] header, logic [NodeBits-1:0] node,
                                     logic [Nodes-1:0][3:0] route);
    logic long, window;
    long = header[29];
    window = long && header[64+:32] >= 32'h80 && header[64+:32] < 32'h100;
    if (!header[30] || header[31] || header[28:24] != 5'd0) return 3'd7;
    if (!window || header[67+:4] == node) return 3'd4;
    return (route[header[67+:4]] > 4'd4) ? 3'd7 : route[header[67+:4]][2:0];
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      node_q <= node_i;
      route_q <= route_i;
    end
  end

  // -------------------------------------------------------------------------------------------
  // Senders: whole packets, each with a credit.

  logic [Ports-1:0][3:0] sent_q;    // packets for which no credit has come back
  logic [Ports-1:0][2:0] place_q;   // of the next beat in its packet
  logic watched_q;                  // the watched beat has gone in, and has not come out
  logic over_q;                     // it has come out
  logic [2:0] watched_way_q, packet_way_q[Ports];
  logic [Ports-1:0] watched_input_q;

  for (genvar i = 0; i < Ports; i++) begin : gen_sender
    always_comb begin
      if (valid_i[i]) begin
        assume (place_q[i] != '0 || sent_q[i] < 4'(Slots));
        assume (place_q[i] != 3'(MaxBeats - 1) || last_i[i]);
        assume (data_i[i][InputBit+:3] == 3'(i));
        assume (data_i[i][PlaceBit+:3] == place_q[i]);
        assume (data_i[i][WatchBit] == (watch_i[i] && !watched_q && !over_q));
      end
    end

    logic [2:0] this_way;
    assign this_way = (place_q[i] == '0) ? way(data_i[i][127:0], node_q, route_q) : packet_way_q[i];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        sent_q[i] <= '0;
        place_q[i] <= '0;
        packet_way_q[i] <= '0;
      end else begin
        sent_q[i] <= sent_q[i] + 4'(valid_i[i] && place_q[i] == '0) - 4'(credit[i]);
        if (valid_i[i]) begin
          place_q[i] <= last_i[i] ? '0 : place_q[i] + 1'b1;
          packet_way_q[i] <= this_way;
        end
      end
    end
  end

  always_comb assume ($onehot0(watch_i));

endmodule
