// Walks one descriptor: cuts a run of bytes inside three loops into pieces, of which each fits a
// request and a packet and crosses no border of 4 KB on either side. A piece takes two cycles: its
// length is cut in the first, and the loop found that goes on behind it; it is offered in the
// second, while the next addresses are added up.
module dma_walk
  import tca_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [3:0]       node_i,
  input  logic [15:0][3:0] route_i,
  input  logic [8:0]       request_i,  // longest piece
  input  logic             flush_i,    // forget the descriptor

  input  logic             valid_i,
  input  descriptor_t      descriptor_i,
  output logic             ready_o,

  output logic             coming_o,   // a piece will be offered in the next cycle, or is now
  output logic             valid_o,
  output piece_t           piece_o,
  input  logic             ready_i
);

  typedef enum logic [1:0] {
    Idle,
    Cut,
    Offer,
    Refused  // until the channel stops
  } state_e;

  // Where a loop, or a piece, begins on both sides.
  typedef struct packed {
    logic [AddressBits-1:0] source;
    logic [AddressBits-1:0] destination;
  } place_t;

  function automatic place_t step(place_t place, pitch_t pitch);
    return '{
        source: place.source + {{8{pitch.source[31]}}, pitch.source},
        destination: place.destination + {{8{pitch.destination[31]}}, pitch.destination}
    };
  endfunction

  state_e state_q;
  descriptor_t descriptor_q;
  place_t piece_q;                    // of the next piece
  place_t [Loops-1:0] place_q;        // of the repetition of each loop under way
  logic [Loops-1:0][23:0] left_q;     // repetitions of each loop after that
  logic [31:0] run_q;                 // bytes left in the run
  logic [8:0] bytes_q;
  logic run_ends_q;
  logic [1:0] loop_q;                 // goes on behind the run
  logic last_q;
  logic [3:0] cause_q;

  // --- Cutting ---------------------------------------------------------------------------------

  // The longest piece whose packet has no more than the longest payload.
  localparam logic [8:0] Longest = 9'(MaxPayloadBytes);
  localparam int unsigned LengthBits = $clog2(MaxPayloadBytes);

  // From here to the end of 4 KB, as far as it matters.
  function automatic logic [8:0] to_border(logic [11:0] offset);
    return (offset[11:LengthBits] == '1) ? Longest - 9'(offset[LengthBits-1:0]) : Longest;
  endfunction

  // Each limit is compared with each at once, since one behind the other would take too long.
  logic [3:0][8:0] limits;
  logic [3:0] least;
  logic [8:0] bytes;
  logic run_is_short, run_ends;
  logic [1:0] lane;

  always_comb begin
    // The bytes before the first in its dword count against the request as well.
    lane = (piece_q.source[1:0] > piece_q.destination[1:0]) ? piece_q.source[1:0]
                                                             : piece_q.destination[1:0];
    run_is_short = run_q <= 32'(Longest);
    limits = {to_border(piece_q.source[11:0]), to_border(piece_q.destination[11:0]),
              request_i - {7'd0, lane}, run_is_short ? run_q[8:0] : Longest};
    bytes = '0;
    for (int unsigned k = 0; k < 4; ++k) begin
      least[k] = 1'b1;
      for (int unsigned other = 0; other < 4; ++other) begin
        if (other != k && limits[other] < limits[k]) least[k] = 1'b0;
      end
      if (least[k]) bytes |= limits[k];
    end
    run_ends = run_is_short && least[0];
  end

  // What a descriptor is refused for. A pitch may lead out of the target that the first byte is in.
  logic [3:0] cause;
  address_t source, destination, flag;
  logic [15:0] reachable;

  always_comb begin
    for (int unsigned n = 0; n < Nodes; ++n) reachable[n] = route_i[n] != NoRoute;
    reachable[node_i] = 1'b1;
    source = address_t'(piece_q.source);
    destination = address_t'(piece_q.destination);
    flag = address_t'(descriptor_q.flag);
    cause = CauseNone;
    if (descriptor_q.control.notify &&
        (!flag.window || !reachable[flag.node] || flag.offset[2:0] != 3'd0)) begin
      cause = CauseAddress;
    end
    if (descriptor_q.run != 32'd0) begin
      if (!source.window || source.node != node_i || source.target == TargetHub ||
          source.target != descriptor_q.source.target ||
          !destination.window || !reachable[destination.node] ||
          destination.node != descriptor_q.destination.node ||
          destination.target != descriptor_q.destination.target) begin
        cause = CauseAddress;
      end
      if (descriptor_q.run[31] || descriptor_q.count0 == 24'd0 || descriptor_q.count1 == 24'd0 ||
          descriptor_q.count2 == 24'd0) begin
        cause = CauseLength;
      end
    end
  end

  // --- Stepping --------------------------------------------------------------------------------

  // The innermost loop that has a repetition left goes on; those inside of it begin anew there.
  place_t [Loops-1:0] place_d;
  logic [Loops-1:0][23:0] left_d;
  logic [Loops-1:0][23:0] repetitions;
  logic [1:0] loop;
  place_t next;

  assign repetitions = {descriptor_q.count2 - 24'd1, descriptor_q.count1 - 24'd1,
                        descriptor_q.count0 - 24'd1};

  always_comb begin
    if (left_q[0] != 24'd0) loop = 2'd0;
    else if (left_q[1] != 24'd0) loop = 2'd1;
    else loop = 2'd2;
    next = step(place_q[loop_q], descriptor_q.pitch[loop_q]);
    place_d = place_q;
    left_d = left_q;
    for (int unsigned k = 0; k < Loops; ++k) begin
      if (k <= 32'(loop_q)) place_d[k] = next;
      if (k < 32'(loop_q)) left_d[k] = repetitions[k];
    end
    left_d[loop_q] = left_q[loop_q] - 24'd1;
  end

  // --- State -----------------------------------------------------------------------------------

  logic taken;
  assign taken = state_q == Offer && ready_i;
  assign ready_o = state_q == Idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      descriptor_q <= '0;
      piece_q <= '0;
      place_q <= '0;
      left_q <= '0;
      run_q <= '0;
      bytes_q <= '0;
      run_ends_q <= 1'b0;
      loop_q <= '0;
      last_q <= 1'b0;
      cause_q <= CauseNone;
    end else begin
      if (state_q == Idle) begin
        // Taken over without a look at whether it is one, which is known late.
        if (valid_i) state_q <= Cut;
        descriptor_q <= descriptor_i;
        piece_q <= {descriptor_i.source, descriptor_i.destination};
        place_q <= {3{descriptor_i.source, descriptor_i.destination}};
        left_q <= {descriptor_i.count2 - 24'd1, descriptor_i.count1 - 24'd1,
                   descriptor_i.count0 - 24'd1};
        run_q <= descriptor_i.run;
      end else if (state_q == Cut) begin
        state_q <= Offer;
        bytes_q <= bytes;
        run_ends_q <= run_ends;
        loop_q <= loop;
        last_q <= run_ends && (left_q == '0 || descriptor_q.run == 32'd0);
        cause_q <= cause;
      end else if (taken) begin
        if (cause_q != CauseNone) state_q <= Refused;
        else state_q <= last_q ? Idle : Cut;
        if (run_ends_q) begin
          piece_q <= next;
          place_q <= place_d;
          left_q <= left_d;
          run_q <= descriptor_q.run;
        end else begin
          piece_q.source <= piece_q.source + {31'd0, bytes_q};
          piece_q.destination <= piece_q.destination + {31'd0, bytes_q};
          run_q <= run_q - {23'd0, bytes_q};
        end
      end
      if (flush_i) state_q <= Idle;
    end
  end

  assign coming_o = state_q == Cut || state_q == Offer;
  assign valid_o = state_q == Offer;
  assign piece_o = '{
      last: last_q,
      bad: cause_q != CauseNone,
      cause: cause_q,
      control: descriptor_q.control,
      flag: descriptor_q.flag,
      source: address_t'(piece_q.source),
      destination: address_t'(piece_q.destination),
      bytes: bytes_q
  };

  logic unused;
  assign unused = &{1'b0, descriptor_q.next, descriptor_q.reserved, source, flag, destination};

endmodule
