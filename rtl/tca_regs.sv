// The hub's registers and its memory, as hosts see them. Writes come from the own host and over the
// cables, are taken dword by dword, and reach whatever stands at their address; reads come from the
// own host alone, of one to four dwords.
module tca_regs
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned Tags = 32,
  parameter int unsigned MemoryBytes = 32768,
  localparam int unsigned Rows = MemoryBytes / DescriptorBytes,
  localparam int unsigned RowBits = $clog2(Rows)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [3:0]                           node_i,

  input  logic                                 valid_i,
  input  logic [Width-1:0]                     data_i,
  input  logic                                 last_i,
  output logic                                 ready_o,
  output logic                                 valid_o,
  output logic [Width-1:0]                     data_o,
  output logic                                 last_o,
  input  logic                                 ready_i,

  // A row of the memory, in the cycle behind its address. The DMA comes first.
  input  logic                                 memory_read_i,
  input  logic [RowBits-1:0]                   memory_row_i,
  output logic [DescriptorBits-1:0]            memory_data_o,

  output logic [8:0]                           request_o,
  output logic [5:0]                           tags_o,
  output logic [31:0]                          timeout_o,
  output logic [63:0]                          msi_address_o,
  output logic [31:0]                          msi_data_o,
  output logic [15:0][3:0]                     route_o,

  output logic [Channels-1:0]                  start_o,
  output logic [Channels-1:0]                  clear_o,
  output logic [Channels-1:0]                  bell_o,  // rung while the channel ran
  output logic [Channels-1:0][AddressBits-1:0] chain_o,
  output logic [Channels-1:0][63:0]            value_o,
  output logic [Channels-1:0][AddressBits-1:0] done_o,
  input  logic [Channels-1:0]                  finished_i,
  input  logic [Channels-1:0][3:0]             cause_i,
  input  logic [Channels-1:0][AddressBits-1:0] where_i,

  // User logic starts a chain of the last channel.
  output logic                                 stream_o,
  output logic                                 stream_free_o,
  input  logic                                 stream_start_i,
  input  logic [63:0]                          stream_value_i,

  // What happened elsewhere in the hub: no way, unexpected answer, request outside of the window.
  input  logic                                 dropped_i,
  input  logic                                 unexpected_i,
  input  logic                                 outside_i
);

  localparam logic [31:0] Identity = 32'h4841_4354;  // "TCAH"
  localparam int unsigned DwordsABeat = Width / 32;

  typedef enum logic [3:0] {
    Header,
    Decode,   // a read
    Payload,  // wait for a beat of it
    Write,
    Fetch,    // address a dword to be read
    Read,
    Answer,
    AnswerData,
    Discard
  } state_e;

  // --- Packets ---------------------------------------------------------------------------------

  state_e state_q;
  request_t header, header_q;
  logic [32:0] offset_q;      // of the dword at hand
  logic [9:0] left_q;         // dwords
  logic first_q, last_beat_q;
  logic [Width-1:0] beat_q;
  logic [$clog2(DwordsABeat+1)-1:0] in_beat_q;
  logic [3:0][31:0] answer_q;
  logic [1:0] slot_q;
  logic [2:0] status_q;

  // Writes that come here are for this hub; reads may be for anything.
  address_t target;
  logic [2:0] status;
  assign header = request_t'(data_i[HeaderBits-1:0]);
  assign target = address_t'(AddressBits'(request_address(header_q)));

  always_comb begin
    status = StatusSuccess;
    if (!in_window(request_address(header_q)) || target.node != node_i ||
        target.target != TargetHub) begin
      status = StatusUnsupported;
    end else if (header_q.dw0.dwords - 10'd1 > 10'd3) begin
      status = StatusAbort;
    end
  end

  logic writes, in_memory, in_registers, read_granted;
  logic [3:0] enables;
  logic [31:0] word;

  assign writes = state_q == Write;
  assign word = beat_q[31:0];
  assign enables = first_q ? header_q.first_be : (left_q == 10'd1) ? header_q.last_be : 4'hf;
  assign in_registers = offset_q < 33'h200;
  assign in_memory = offset_q >= HubMemoryOffset && offset_q < HubMemoryOffset + 33'(MemoryBytes);

  assign ready_o = state_q == Header || state_q == Payload || state_q == Discard;

  logic [31:0] read_word;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Header;
      header_q <= '0;
      offset_q <= '0;
      left_q <= '0;
      first_q <= 1'b0;
      last_beat_q <= 1'b0;
      in_beat_q <= '0;
      answer_q <= '0;
      slot_q <= '0;
      status_q <= StatusSuccess;
    end else begin
      unique case (state_q)
        Header: if (valid_i) begin
          header_q <= header;
          offset_q <= 33'(request_address(header));
          left_q <= header.dw0.dwords;
          first_q <= 1'b1;
          slot_q <= 2'd0;
          answer_q <= '0;
          if (!is_write(header.dw0)) state_q <= Decode;
          else state_q <= header.dw0.poisoned ? Discard : Payload;
        end
        Decode: begin
          status_q <= status;
          state_q <= (status == StatusSuccess) ? Fetch : Answer;
        end
        Payload: if (valid_i) begin
          state_q <= Write;
          last_beat_q <= last_i;
          in_beat_q <= '0;
        end
        Write: begin
          offset_q <= offset_q + 33'd4;
          left_q <= left_q - 10'd1;
          first_q <= 1'b0;
          in_beat_q <= in_beat_q + 1'b1;
          if (left_q == 10'd1 || 32'(in_beat_q) == DwordsABeat - 1) begin
            if (!last_beat_q) state_q <= (left_q == 10'd1) ? Discard : Payload;
            else state_q <= Header;
          end
        end
        Fetch: if (read_granted) state_q <= Read;
        Read: begin
          answer_q[slot_q] <= read_word;
          slot_q <= slot_q + 2'd1;
          offset_q <= offset_q + 33'd4;
          left_q <= left_q - 10'd1;
          state_q <= (left_q == 10'd1) ? Answer : Fetch;
        end
        Answer: if (ready_i) state_q <= (status_q == StatusSuccess) ? AnswerData : Header;
        AnswerData: if (ready_i) state_q <= Header;
        default: if (valid_i && last_i) state_q <= Header;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Payload && valid_i) beat_q <= data_i;
    else if (writes) beat_q <= {32'd0, beat_q[Width-1:32]};
  end

  // --- Answers ---------------------------------------------------------------------------------

  completion_t completion;
  logic [1:0] lane, spare;

  always_comb begin
    lane = 2'd0;
    for (int k = 3; k >= 0; --k) if (header_q.first_be[k]) lane = 2'(k);
    spare = 2'd0;
    for (int k = 0; k <= 3; ++k) begin
      if (header_q.dw0.dwords == 10'd1 ? header_q.first_be[k] : header_q.last_be[k]) begin
        spare = 2'(3 - k);
      end
    end
    completion = '0;
    completion.dw0.fmt = (status_q == StatusSuccess) ? Fmt3DwData : Fmt3Dw;
    completion.dw0.kind = TypeCompletion;
    completion.dw0.tc = header_q.dw0.tc;
    completion.dw0.attr = header_q.dw0.attr;
    completion.dw0.dwords = (status_q == StatusSuccess) ? header_q.dw0.dwords : 10'd0;
    completion.completer = {12'd0, node_i};
    completion.status = status_q;
    completion.byte_count = {header_q.dw0.dwords, 2'b00} - {10'd0, lane} - {10'd0, spare};
    completion.requester = header_q.requester;
    completion.tag = header_q.tag;
    completion.lower_address = {header_q.dw0.fmt[0] ? header_q.word3[6:2] : header_q.word2[6:2],
                                lane};
  end

  assign valid_o = state_q == Answer || state_q == AnswerData;
  assign data_o = (state_q == Answer) ? Width'(completion) : Width'(answer_q);
  assign last_o = state_q == AnswerData || status_q != StatusSuccess;

  // --- Memory ----------------------------------------------------------------------------------

  logic [DescriptorBits-1:0] memory[Rows];
  logic [RowBits-1:0] row;
  logic [3:0] dword_q;

  assign read_granted = !memory_read_i;
  assign row = memory_read_i ? memory_row_i : offset_q[6+:RowBits];

  always_ff @(posedge clk_i) begin
    for (int unsigned k = 0; k < DescriptorBytes; ++k) begin
      if (writes && in_memory && offset_q[5:2] == 4'(k / 4) && enables[k%4]) begin
        memory[offset_q[6+:RowBits]][8*k+:8] <= word[8*(k%4)+:8];
      end
    end
    memory_data_o <= memory[row];
    dword_q <= offset_q[5:2];
  end

  // --- Registers -------------------------------------------------------------------------------

  logic [4:0] errors_q;
  logic [Channels-1:0] busy_q;
  logic [Channels-1:0][63:0] chain_q, done_q;
  logic set, set_channel;
  logic [ChannelBits-1:0] channel;
  logic bad_access;

  assign set = writes && in_registers && enables == 4'hf && !offset_q[8];
  assign set_channel = writes && in_registers && enables == 4'hf && offset_q[8];
  assign channel = offset_q[6+:ChannelBits];
  // A configuration with which reads can go out.
  logic sound;
  assign sound = (word[8:0] == 9'd64 || word[8:0] == 9'd128 || word[8:0] == 9'd256) &&
      word[21:16] != 6'd0 && word[21:16] <= 6'(Tags);
  assign bad_access = (writes && !in_memory && !(in_registers && enables == 4'hf)) ||
      (set && offset_q[7:2] == 6'h04 && !sound);

  // The upper dword of a value rings the doorbell.
  logic [Channels-1:0] start, clear, bell;

  always_comb begin
    start = '0;
    bell = '0;
    clear = '0;
    if (set_channel && offset_q[5:2] == 4'h3) begin
      start[channel] = !busy_q[channel] && cause_i[channel] == CauseNone;
      bell[channel] = busy_q[channel];
    end
    if (set_channel && offset_q[5:2] == 4'h4) clear[channel] = word[1] && !busy_q[channel];
    if (stream_start_i) start[StreamChannel] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_o <= '0;
      clear_o <= '0;
      bell_o <= '0;
    end else begin
      start_o <= start;
      clear_o <= clear;
      bell_o <= bell;
    end
  end

  // A doorbell goes before a descriptor of the same cycle.
  logic rings;
  assign rings = set_channel && offset_q[5:2] == 4'h3 && channel == ChannelBits'(StreamChannel);
  assign stream_free_o = !busy_q[StreamChannel] && cause_i[StreamChannel] == CauseNone && !rings;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      errors_q <= '0;
      busy_q <= '0;
      chain_q <= '0;
      done_q <= '0;
      value_o <= '0;
      stream_o <= 1'b0;
      request_o <= 9'(MaxPayloadBytes);
      tags_o <= 6'(Tags);
      timeout_o <= 32'h0010_0000;
      msi_address_o <= '0;
      msi_data_o <= '0;
      route_o <= '1;
    end else begin
      errors_q <= (errors_q & ~((set && offset_q[7:2] == 6'h02) ? word[4:0] : 5'd0)) |
          {outside_i, unexpected_i, bad_access, state_q == Header && valid_i &&
           is_write(header.dw0) && header.dw0.poisoned, dropped_i};
      busy_q <= (busy_q & ~finished_i) | start;
      if (set) begin
        unique case (offset_q[7:2])
          6'h04: if (sound) begin
            request_o <= word[8:0];
            tags_o <= word[21:16];
          end
          6'h05: timeout_o <= word;
          6'h06: msi_address_o[31:0] <= word;
          6'h07: msi_address_o[63:32] <= word;
          6'h08: msi_data_o <= word;
          6'h0a: route_o[7:0] <= word;
          6'h0b: route_o[15:8] <= word;
          default: ;
        endcase
      end
      if (set_channel) begin
        unique case (offset_q[5:2])
          4'h0: chain_q[channel][31:0] <= word;
          4'h1: chain_q[channel][63:32] <= word;
          4'h2: if (!busy_q[channel]) value_o[channel][31:0] <= word;
          4'h3: if (!busy_q[channel]) value_o[channel][63:32] <= word;
          4'h5: if (channel == ChannelBits'(StreamChannel)) stream_o <= word[0];
          4'h6: done_q[channel][31:0] <= word;
          4'h7: done_q[channel][63:32] <= word;
          default: ;
        endcase
      end
      if (stream_start_i) value_o[StreamChannel] <= stream_value_i;
    end
  end

  always_comb begin
    for (int unsigned c = 0; c < Channels; ++c) begin
      chain_o[c] = chain_q[c][AddressBits-1:0];
      done_o[c] = done_q[c][AddressBits-1:0];
    end
  end

  // Where a chain is, or was when it stopped.
  logic [Channels-1:0][AddressBits-1:0] where_q;
  logic [Channels-1:0] stopped_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      where_q <= '0;
      stopped_q <= '0;
    end else begin
      for (int unsigned c = 0; c < Channels; ++c) begin
        stopped_q[c] <= cause_i[c] != CauseNone;
        if (!stopped_q[c]) where_q[c] <= where_i[c];
      end
    end
  end

  logic [31:0] own_word, channel_word;

  always_comb begin
    unique case (offset_q[7:2])
      6'h00: own_word = Identity;
      6'h01: own_word = {12'(MemoryBytes / 1024), 4'(Channels), 6'(Tags), 10'(Width)};
      6'h02: own_word = {27'd0, errors_q};
      6'h04: own_word = {10'd0, tags_o, 7'd0, request_o};
      6'h05: own_word = timeout_o;
      6'h06: own_word = msi_address_o[31:0];
      6'h07: own_word = msi_address_o[63:32];
      6'h08: own_word = msi_data_o;
      6'h0a: own_word = route_o[7:0];
      6'h0b: own_word = route_o[15:8];
      default: own_word = '0;
    endcase
    unique case (offset_q[5:2])
      4'h0: channel_word = chain_q[channel][31:0];
      4'h1: channel_word = chain_q[channel][63:32];
      4'h2: channel_word = value_o[channel][31:0];
      4'h3: channel_word = value_o[channel][63:32];
      4'h4: channel_word = {24'd0, cause_i[channel], 2'd0, cause_i[channel] != CauseNone,
                            busy_q[channel]};
      4'h5: channel_word = {31'd0, stream_o && channel == ChannelBits'(StreamChannel)};
      4'h6: channel_word = done_q[channel][31:0];
      4'h7: channel_word = done_q[channel][63:32];
      4'h8: channel_word = where_q[channel][31:0];
      4'h9: channel_word = {24'd0, where_q[channel][AddressBits-1:32]};
      default: channel_word = '0;
    endcase
    read_word = '0;
    if (in_memory) read_word = memory_data_o[32*dword_q+:32];
    else if (in_registers) read_word = offset_q[8] ? channel_word : own_word;
  end

  logic unused;
  assign unused = &{1'b0, header_q, chain_q, done_q, target};

endmodule
