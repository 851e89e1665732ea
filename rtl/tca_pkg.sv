// What all modules of the hub share: the address map, PCIe's packets, descriptors and the causes of
// errors.
package tca_pkg;

  // Each user of a package needs a part of it, and a function a part of a header.
  // verilator lint_off UNUSEDPARAM
  // verilator lint_off UNUSEDSIGNAL

  // ---------------------------------------------------------------------------------------------
  // Address map: 512 GB for all hubs of a sub-cluster, 32 GB a node, 8 GB a target.
  //   bit 39 set, 38..35 node, 34..33 target, 32..0 offset
  // What lies outside of it belongs to the node's own host (message-signalled interrupts).

  localparam int unsigned AddressBits = 40;
  localparam int unsigned Nodes = 16;
  localparam int unsigned NodeBits = 4;

  typedef enum logic [1:0] {
    TargetHost = 2'd0,
    TargetGpu0 = 2'd1,
    TargetGpu1 = 2'd2,
    TargetHub  = 2'd3
  } target_e;

  typedef struct packed {
    logic                window;
    logic [NodeBits-1:0] node;
    target_e             target;
    logic [32:0]         offset;
  } address_t;

  // Within the hub's own 8 GB: registers first, then its memory.
  localparam logic [32:0] HubMemoryOffset = 33'h10_0000;

  // ---------------------------------------------------------------------------------------------
  // Ports of the router.

  localparam int unsigned Ports = 5;
  localparam int unsigned Cables = 4;

  typedef enum logic [2:0] {
    PortNorth = 3'd0,
    PortEast  = 3'd1,
    PortWest  = 3'd2,
    PortSouth = 3'd3,
    PortLocal = 3'd4
  } port_e;

  // A route is a nibble of the route register: a port, or NoRoute.
  localparam logic [3:0] NoRoute = 4'hf;

  // ---------------------------------------------------------------------------------------------
  // Transaction-layer packets. The first beat holds the header in its lower 128 bits, dword 0
  // lowest, each dword as PCIe draws it. The payload follows, packed from its first dword, bytes in
  // memory order.

  localparam int unsigned MaxPayloadBytes = 256;

  // Beats of the longest packet.
  function automatic int unsigned max_tlp_beats(int unsigned width);
    return 1 + MaxPayloadBytes * 8 / width;
  endfunction

  localparam logic [2:0] Fmt3Dw     = 3'b000;
  localparam logic [2:0] Fmt4Dw     = 3'b001;
  localparam logic [2:0] Fmt3DwData = 3'b010;
  localparam logic [2:0] Fmt4DwData = 3'b011;

  localparam logic [4:0] TypeMemory     = 5'b00000;
  localparam logic [4:0] TypeCompletion = 5'b01010;

  localparam logic [2:0] StatusSuccess     = 3'b000;
  localparam logic [2:0] StatusUnsupported = 3'b001;
  localparam logic [2:0] StatusAbort       = 3'b100;

  typedef struct packed {
    logic [2:0] fmt;
    logic [4:0] kind;  // "Type" in PCIe
    logic       t9;
    logic [2:0] tc;
    logic       t8;
    logic       attr2;
    logic       ln;
    logic       th;
    logic       td;
    logic       poisoned;  // "EP"
    logic [1:0] attr;
    logic [1:0] at;
    logic [9:0] dwords;  // "Length"
  } tlp_dw0_t;

  // A memory read or write. With four dwords the address is {word2, word3}, with three it is word2.
  typedef struct packed {
    logic [31:0] word3;
    logic [31:0] word2;
    logic [15:0] requester;
    logic [7:0]  tag;
    logic [3:0]  last_be;
    logic [3:0]  first_be;
    tlp_dw0_t    dw0;
  } request_t;

  typedef struct packed {
    logic [31:0] unused;
    logic [15:0] requester;
    logic [7:0]  tag;
    logic        reserved;
    logic [6:0]  lower_address;
    logic [15:0] completer;
    logic [2:0]  status;
    logic        bcm;
    logic [11:0] byte_count;
    tlp_dw0_t    dw0;
  } completion_t;

  localparam int unsigned HeaderBits = 128;

  function automatic logic has_data(tlp_dw0_t dw0);
    return dw0.fmt[1];
  endfunction

  function automatic logic is_completion(tlp_dw0_t dw0);
    return dw0.kind == TypeCompletion;
  endfunction

  function automatic logic is_write(tlp_dw0_t dw0);
    return dw0.kind == TypeMemory && dw0.fmt[1];
  endfunction

  function automatic logic is_read(tlp_dw0_t dw0);
    return dw0.kind == TypeMemory && !dw0.fmt[1];
  endfunction

  function automatic logic [63:0] request_address(request_t request);
    return request.dw0.fmt[0] ? {request.word2, request.word3[31:2], 2'b00}
                              : {32'd0, request.word2[31:2], 2'b00};
  endfunction

  // The bytes at an address in the window, and none elsewhere, have an address_t.
  function automatic logic in_window(logic [63:0] address);
    return address[63:AddressBits-1] == 25'd1;
  endfunction

  // The byte enables of `bytes` bytes from `address`, {last, first}, and the dwords that hold them.
  function automatic logic [9:0] dwords_of(logic [1:0] lane, logic [8:0] bytes);
    return 10'(({1'b0, bytes} + 10'(lane) + 10'd3) >> 2);
  endfunction

  function automatic logic [7:0] byte_enables(logic [1:0] lane, logic [8:0] bytes);
    logic [3:0] first, last;
    logic [1:0] end_lane;
    end_lane = lane + bytes[1:0];
    first = 4'hf << lane;
    last = (end_lane == 2'd0) ? 4'hf : ~(4'hf << end_lane);
    return (dwords_of(lane, bytes) == 10'd1) ? {4'd0, first & last} : {last, first};
  endfunction

  // A read or write of `bytes` bytes at `address`. PCIe asks for the short form below 4 GB.
  function automatic request_t request_header(logic write, logic [63:0] address,
                                              logic [8:0] bytes, logic [15:0] requester,
                                              logic [7:0] tag);
    request_t header;
    header = '0;
    header.dw0.fmt = {1'b0, write, address[63:32] != 32'd0};
    header.dw0.kind = TypeMemory;
    header.dw0.dwords = dwords_of(address[1:0], bytes);
    header.requester = requester;
    header.tag = tag;
    {header.last_be, header.first_be} = byte_enables(address[1:0], bytes);
    header.word2 = (address[63:32] != 32'd0) ? address[63:32] : {address[31:2], 2'b00};
    header.word3 = (address[63:32] != 32'd0) ? {address[31:2], 2'b00} : 32'd0;
    return header;
  endfunction

  // ---------------------------------------------------------------------------------------------
  // Channels, and why one stopped.

  localparam int unsigned Channels = 4;
  localparam int unsigned ChannelBits = 2;

  // The channel that takes descriptors from user logic.
  localparam int unsigned StreamChannel = Channels - 1;

  localparam logic [3:0] CauseNone        = 4'd0;
  localparam logic [3:0] CauseBusy        = 4'd1;  // a doorbell while the channel ran
  localparam logic [3:0] CauseLength      = 4'd2;  // a repetition of zero, a run of 2 GB or more
  localparam logic [3:0] CauseAddress     = 4'd3;  // outside of the map or of its target, no route
  localparam logic [3:0] CauseDescriptor  = 4'd4;  // a descriptor's address, or its fetch failed
  localparam logic [3:0] CauseUnsupported = 4'd5;  // an answer "unsupported request"
  localparam logic [3:0] CauseAbort       = 4'd6;  // an answer "completer abort"
  localparam logic [3:0] CausePoisoned    = 4'd7;  // an answer with poisoned data
  localparam logic [3:0] CauseMalformed   = 4'd8;  // an answer of another length or order
  localparam logic [3:0] CauseTimeout     = 4'd9;  // no answer

  // ---------------------------------------------------------------------------------------------
  // Descriptors: 64 bytes, aligned to 64 bytes, in the hub's memory or the host's. A run of bytes
  // inside three loops; the flag is written behind the data of this and all earlier descriptors of
  // the chain.

  localparam int unsigned DescriptorBits = 512;
  localparam int unsigned DescriptorBytes = 64;
  localparam int unsigned Loops = 3;

  typedef struct packed {
    logic [20:0] reserved;
    logic        msi;     // with `last`: raise an interrupt at the end of the chain
    logic        notify;  // write the doorbell's value to `flag`
    logic        last;    // ends the chain
  } control_t;

  typedef struct packed {
    logic signed [31:0] destination;
    logic signed [31:0] source;
  } pitch_t;

  // First field highest: word 7 is pitch[2], word 0 holds the source.
  typedef struct packed {
    pitch_t [Loops-1:0]     pitch;      // words 5, 6, 7: bytes from a repetition to the next
    logic [31:0]            reserved;
    logic [31:0]            run;        // word 4: bytes; zero: no data, the flag alone
    control_t               control;    // word 3, upper 24 bits
    logic [AddressBits-1:0] next;       //         lower 40
    logic [23:0]            count2;     // word 2: repetitions of the outer loop, at least 1
    logic [AddressBits-1:0] flag;
    logic [23:0]            count1;     // word 1
    address_t               destination;
    logic [23:0]            count0;     // word 0: repetitions of the inner loop
    address_t               source;
  } descriptor_t;

  // A part of a descriptor that one read carries: inside a request, a packet and 4 KB of both
  // sides.
  typedef struct packed {
    logic                   last;       // ends the descriptor
    logic                   bad;        // the descriptor is refused: `cause` says why
    logic [3:0]             cause;
    control_t               control;
    logic [AddressBits-1:0] flag;
    address_t               source;
    address_t               destination;
    logic [8:0]             bytes;      // 0 to 256
  } piece_t;

  // What a read is for: kept by its tag.
  typedef struct packed {
    logic [ChannelBits-1:0] channel;
    logic [8:0]             bytes;
    logic [6:0]             behind;  // its last byte: the lower bits of the address at the source
    logic [AddressBits-1:0] destination;
  } read_t;

  // What is told when all data before has left: a flag, the end of a chain, or both.
  typedef struct packed {
    logic [ChannelBits-1:0] channel;
    logic                   notify;
    logic [AddressBits-1:0] flag;
    logic                   ends;
    logic                   msi;
  } notice_t;

  // What goes with the first beat of an answer that becomes a write.
  localparam int unsigned MaxTagBits = 6;

  typedef struct packed {
    logic                  failed;            // no data: gives the tag back
    logic                  ends;              // the last part of its read
    logic [MaxTagBits-1:0] tag;
    logic [1:0]            source_lane;       // of the first byte, as it came
    logic [1:0]            destination_lane;  // as it has to go
    logic                  grows;             // the write has a beat more than the answer
    logic                  shrinks;           // a beat less
  } answer_t;

endpackage
