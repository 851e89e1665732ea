// In a ring of four routers the room of the ring is never used up, in either direction, whatever
// comes in at the other ports: there is always a place for one more packet, or one that becomes
// free without waiting for anything, since its packet is already leaving or its credit under way.
// So some packet of the ring can always move.
module tca_ring_fv
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Slots = 3,
  parameter int unsigned Hubs = 4
) (
  input logic                                       clk_i,
  input logic                                       rst_ni,
  input logic [Hubs-1:0][Nodes-1:0][3:0]            route_i,
  input logic [Hubs-1:0][Ports-1:0]                 valid_i,
  input logic [Hubs-1:0][Ports-1:0][Width-1:0]      data_i,
  input logic [Hubs-1:0][Ports-1:0]                 last_i,
  input logic [Hubs-1:0][Ports-1:0]                 credit_i
);

  localparam int unsigned Depth = Slots * max_tlp_beats(Width);

  logic [Hubs-1:0][Ports-1:0] valid, last, credit, valid_in, last_in, credit_in;
  logic [Hubs-1:0][Ports-1:0][Width-1:0] data, data_in;

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  always_comb assume (rst_ni == begun_q);

  // Places that are free, or become so: at the next hub to the east of each hub, and to the west.
  logic [Hubs-1:0][7:0] east, west;

  for (genvar h = 0; h < Hubs; h++) begin : gen_hub
    localparam int unsigned Next = (h + 1) % Hubs;
    localparam int unsigned Before = (h + Hubs - 1) % Hubs;

    always_comb begin
      valid_in[h] = valid_i[h];
      last_in[h] = last_i[h];
      data_in[h] = data_i[h];
      credit_in[h] = credit_i[h];
      valid_in[h][PortWest] = valid[Before][PortEast];
      last_in[h][PortWest] = last[Before][PortEast];
      data_in[h][PortWest] = data[Before][PortEast];
      credit_in[h][PortWest] = credit[Before][PortEast];
      valid_in[h][PortEast] = valid[Next][PortWest];
      last_in[h][PortEast] = last[Next][PortWest];
      data_in[h][PortEast] = data[Next][PortWest];
      credit_in[h][PortEast] = credit[Next][PortWest];
    end

    tca_router #(
      .Width(Width),
      .BufferBeats(Depth),
      .LocalBeats(Depth)
    ) router (
      .clk_i,
      .rst_ni,
      .node_i   (NodeBits'(h)),
      .route_i  (route_i[h]),
      .valid_i  (valid_in[h]),
      .data_i   (data_in[h]),
      .last_i   (last_in[h]),
      .credit_o (credit[h]),
      .valid_o  (valid[h]),
      .data_o   (data[h]),
      .last_o   (last[h]),
      .credit_i (credit_in[h]),
      .dropped_o(),
      .idle_o   ()
    );

    // What tca_router_fv proves of credits: there are never more than the buffer has places.
    always_comb begin
      assume (!credit_in[h][PortEast] || router.gen_output[PortEast].credits_q < Slots);
      assume (!credit_in[h][PortWest] || router.gen_output[PortWest].credits_q < Slots);
    end

    always_comb begin
      east[h] = 8'(router.gen_output[PortEast].credits_q) + 8'(credit[h][PortWest]) +
                8'(!router.gen_input[PortWest].leaves_first_q &&
                   router.gen_input[PortWest].packet_way_q[PortEast]);
      west[h] = 8'(router.gen_output[PortWest].credits_q) + 8'(credit[h][PortEast]) +
                8'(!router.gen_input[PortEast].leaves_first_q &&
                   router.gen_input[PortEast].packet_way_q[PortWest]);
    end

    // Induction
    for (genvar o = PortEast; o <= PortWest; o++) begin : gen_room
      always_comb begin
        if (rst_ni) begin
          assert (router.gen_output[o].room_q == (router.gen_output[o].credits_q != '0));
          assert (router.gen_output[o].bubble_q == (router.gen_output[o].credits_q > 1));
        end
      end
    end
  end

  logic [7:0] places_east, places_west;
  always_comb begin
    places_east = '0;
    places_west = '0;
    for (int unsigned h = 0; h < Hubs; h++) begin
      places_east = places_east + east[h];
      places_west = places_west + west[h];
    end
    if (rst_ni) assert (places_east != '0 && places_west != '0);
  end

endmodule
