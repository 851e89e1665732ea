// Every packet leaves whole, by the way of its address and by no other, or is dropped where it has
// none. Nothing leaves without room for it. What enters a ring leaves room for one more packet,
// and waits no longer than its patience while a packet of the ring could go.
//
// Beats carry marks in the header's requester and tag, which the router does not look at: the
// input, the beat's place in its packet, and one beat, whichever, that is watched.
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
    if (!header[30] || header[28:24] != 5'd0) return 3'd7;
    if (!window || header[67+:4] == node) return 3'd4;
    return (route[header[67+:4]] > 4'd4) ? 3'd7 : route[header[67+:4]][2:0];
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      node_q <= node_i;
      route_q <= route_i;
    end else begin
      node_q <= node_q;
      route_q <= route_q;
    end
  end

  // -------------------------------------------------------------------------------------------
  // Senders: whole packets, each with a credit.

  logic [Ports-1:0][3:0] sent_q;    // packets for which no credit has come back
  logic [Ports-1:0][2:0] place_q;   // of the next beat in its packet
  logic watched_q;                  // the watched beat has gone in, and has not come out
  logic over_q;                     // it has come out
  logic [Ports-1:0][2:0] packet_way_q;
  logic [Ports-1:0] goes_in, goes_out, is_dropped;  // the watched beat

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

    assign goes_in[i] = valid_i[i] && data_i[i][WatchBit];

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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      watched_q <= 1'b0;
      over_q <= 1'b0;
    end else begin
      watched_q <= (watched_q || goes_in != '0) && goes_out == '0 && is_dropped == '0;
      over_q <= over_q || goes_out != '0 || is_dropped != '0;
    end
  end

  // -------------------------------------------------------------------------------------------
  // Buffers: what is in them is whole packets of their input, but for the first and the last.

  logic [Ports-1:0][2:0] left_q;       // the place of the next beat that leaves
  logic [Ports-1:0][7:0] marks_in;     // watched beats inside
  logic [Ports-1:0] empty;

  for (genvar i = 0; i < Ports; i++) begin : gen_buffer
    localparam int unsigned BeatBits = Width + Ports + 1;
    logic [Depth-1:0][BeatBits-1:0] beats;
    logic [7:0] count;
    assign beats = dut.gen_input[i].u_buffer.beats_q;
    assign count = 8'(dut.gen_input[i].u_buffer.count_q);
    assign empty[i] = count == '0;

    logic [2:0] place;
    logic [7:0] lasts;
    assign is_dropped[i] = dut.leaves[i] && dut.way[i] == '0 && beats[0][WatchBit];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) left_q[i] <= '0;
      else if (dut.leaves[i]) left_q[i] <= beats[0][BeatBits-1] ? '0 : left_q[i] + 1'b1;
    end

    always_comb begin
      place = left_q[i];
      lasts = '0;
      marks_in[i] = '0;
      for (int unsigned k = 0; k < Depth; k++) begin
        if (8'(k) < count && rst_ni) begin
          assert (beats[k][InputBit+:3] == 3'(i));
          assert (beats[k][PlaceBit+:3] == place);
          assert (place < 3'(MaxBeats - 1) || beats[k][BeatBits-1]);
          if (place == '0) begin
            assert (beats[k][Width+:Ports] ==
                    Ports'(8'd1 << way(beats[k][127:0], node_q, route_q)));
          end
          place = beats[k][BeatBits-1] ? '0 : place + 1'b1;
          lasts = lasts + 8'(beats[k][BeatBits-1]);
          marks_in[i] = marks_in[i] + 8'(beats[k][WatchBit]);
        end
      end
      if (rst_ni) begin
        assert (count <= 8'(Depth));
        assert (place == place_q[i]);
        assert (place_q[i] < 3'(MaxBeats) && left_q[i] < 3'(MaxBeats));
        assert (dut.gen_input[i].arrives_first_q == (place_q[i] == '0));
        assert (dut.gen_input[i].leaves_first_q == (left_q[i] == '0));
        // A sender's credits are packets inside and those on their way back.
        assert (8'(sent_q[i]) == lasts + 8'(place_q[i] != '0) + 8'(credit[i]));
        assert (sent_q[i] <= 4'(Slots));
        assert (left_q[i] == '0 || $onehot0(dut.gen_input[i].packet_way_q));
        if (dut.crossing_valid_q[i]) begin
          assert (dut.crossing_data_q[i][InputBit+:3] == 3'(i));
          assert ($onehot0(dut.crossing_way_q[i]));
          assert (left_q[i] == (dut.crossing_last_q[i] ? '0 :
                                dut.crossing_data_q[i][PlaceBit+:3] + 1'b1));
          assert (left_q[i] == '0 || dut.gen_input[i].packet_way_q == dut.crossing_way_q[i]);
          if (dut.crossing_data_q[i][PlaceBit+:3] == '0) begin
            assert (dut.crossing_way_q[i] ==
                    Ports'(8'd1 << way(dut.crossing_data_q[i][127:0], node_q, route_q)));
          end
        end
      end
    end
  end

  // -------------------------------------------------------------------------------------------
  // Receivers

  logic [Ports-1:0][7:0] marks_out;

  for (genvar o = 0; o < Ports; o++) begin : gen_receiver
    localparam bit Ring = o == PortEast || o == PortWest;
    localparam int unsigned Opposite = (o == PortEast) ? PortWest : PortEast;

    logic [3:0] used_q, whole_q;  // packets without a credit yet, and those of them that are whole
    logic [2:0] place_out_q;      // the place of the next beat
    logic [2:0] from_q;           // the input of the packet that is coming
    logic header;
    logic [2:0] place, from;
    assign header = valid[o] && place_out_q == '0;
    assign place = data[o][PlaceBit+:3];
    assign from = data[o][InputBit+:3];
    assign goes_out[o] = valid[o] && data[o][WatchBit];

    always_comb assume (!credit_i[o] || whole_q != '0);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        used_q <= '0;
        whole_q <= '0;
        place_out_q <= '0;
        from_q <= '0;
      end else begin
        used_q <= used_q + 4'(header) - 4'(credit_i[o]);
        whole_q <= whole_q + 4'(valid[o] && last[o]) - 4'(credit_i[o]);
        if (valid[o]) begin
          place_out_q <= last[o] ? '0 : place + 1'b1;
          from_q <= from;
        end
      end
    end

    // What crosses to this output, and how far the packet that is leaving has come there.
    logic [Ports-1:0] crosses, crosses_header, middle;
    logic [2:0] expected, source;
    always_comb begin
      marks_out[o] = 8'(goes_out[o]);
      for (int unsigned i = 0; i < Ports; i++) begin
        crosses[i] = dut.crossing_valid_q[i] && dut.crossing_way_q[i][o];
        crosses_header[i] = crosses[i] && dut.crossing_data_q[i][PlaceBit+:3] == '0;
        marks_out[o] = marks_out[o] + 8'(crosses[i] && dut.crossing_data_q[i][WatchBit]);
      end
    end

    for (genvar i = 0; i < Ports; i++) begin : gen_middle
      assign middle[i] = left_q[i] != '0 && dut.gen_input[i].packet_way_q[o];
    end

    // The cycles for which a packet of the ring could have gone.
    logic [7:0] held_q;
    logic could_go, starts;
    assign could_go = Ring && dut.gen_output[o].wants[Opposite] && !dut.gen_output[o].busy_q &&
                      dut.gen_output[o].credits_q != '0;
    assign starts = dut.start[o] != '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) held_q <= '0;
      else held_q <= (could_go && !starts) ? held_q + 1'b1 : '0;
    end

    always_comb begin
      expected = place_out_q;
      source = from_q;
      if (valid[o]) begin
        if (rst_ni) begin
          assert (place == expected);
          assert (expected == '0 || from == source);
          if (expected == '0) assert (way(data[o][127:0], node_q, route_q) == 3'(o));
          if (expected == '0) assert (used_q < 4'(Slots));
          if (Ring && expected == '0 && from != 3'(Opposite)) assert (used_q < 4'(Slots - 1));
        end
        expected = last[o] ? '0 : place + 1'b1;
        source = from;
      end
      if (rst_ni) assert ($onehot0(crosses));
      for (int unsigned i = 0; i < Ports; i++) begin
        if (crosses[i]) begin
          if (rst_ni) begin
            assert (dut.crossing_data_q[i][PlaceBit+:3] == expected);
            assert (expected == '0 || 3'(i) == source);
            if (Ring && expected == '0 && i != Opposite) assert (dut.gen_output[o].credits_q != '0);
          end
          expected = dut.crossing_last_q[i] ? '0 : dut.crossing_data_q[i][PlaceBit+:3] + 1'b1;
          source = 3'(i);
        end
      end
      if (rst_ni) begin
        assert ($onehot0(middle));
        assert (dut.gen_output[o].busy_q == (expected != '0));
        assert (place_out_q < 3'(MaxBeats));
        for (int unsigned i = 0; i < Ports; i++) begin
          assert (middle[i] == (expected != '0 && source == 3'(i)));
          assert (!middle[i] || left_q[i] == expected);
        end
        assert (4'(dut.gen_output[o].credits_q) + used_q + 4'(header) + 4'(crosses_header != '0)
                == 4'(Slots));
        assert (used_q == whole_q + 4'(place_out_q != '0) && whole_q <= used_q);
        assert (used_q <= 4'(Slots) && dut.gen_output[o].credits_q <= Slots);
        // Whoever wants an output that is free and has room gets it, or somebody else does.
        if (dut.gen_output[o].wants != '0 && !dut.gen_output[o].busy_q &&
            dut.gen_output[o].credits_q > 1) begin
          assert (starts);
        end
        assert (held_q <= 8'(dut.gen_output[o].held_q));
        assert (8'(dut.gen_output[o].held_q) <= 8'(Patience));
        assert (dut.gen_output[o].patience_over_q ==
                (8'(dut.gen_output[o].held_q) == 8'(Patience)));
        assert (dut.gen_output[o].room_q == (dut.gen_output[o].credits_q != '0));
        assert (dut.gen_output[o].bubble_q == (dut.gen_output[o].credits_q > 1));
        assert (!(could_go && held_q == 8'(Patience)) || starts);
      end
    end
  end

  // The watched beat is in one place as long as it is inside.
  logic [7:0] marks;
  always_comb begin
    marks = '0;
    for (int unsigned i = 0; i < Ports; i++) marks = marks + marks_in[i] + marks_out[i];
    if (rst_ni) assert (marks == 8'(watched_q));
    if (rst_ni) assert (!watched_q || !over_q);
  end

  // Without new beats an idle router stays idle.
  logic quiet_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) quiet_q <= 1'b0;
    else quiet_q <= idle && valid_i == '0;
  end
  always_comb begin
    if (rst_ni && quiet_q) assert (idle && valid == '0 && credit == '0 && !dropped);
  end

endmodule
