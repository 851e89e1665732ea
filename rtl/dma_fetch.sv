// Fetches the descriptors of all channels, from the hub's memory in a cycle, from the host's by a
// read, or from user logic. Each channel has one descriptor in hand while its walker has the one
// before. A read that has been given up may have left an answer on its way, so that the channel's
// next one has another number in its tag.
module dma_fetch
  import tca_pkg::*;
#(
  parameter int unsigned Width = 128,
  parameter int unsigned MemoryBytes = 32768,
  localparam int unsigned RowBits = $clog2(MemoryBytes / DescriptorBytes)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [3:0]                           node_i,
  input  logic [31:0]                          timeout_i,

  input  logic [Channels-1:0]                  start_i,
  input  logic [Channels-1:0][AddressBits-1:0] chain_i,
  input  logic [Channels-1:0]                  stop_i,    // an error: fetch no more
  output logic [Channels-1:0]                  idle_o,    // nothing fetched, nothing asked for
  output logic [Channels-1:0]                  failed_o,  // a descriptor cannot be had
  output logic [Channels-1:0][AddressBits-1:0] where_o,   // the descriptor begun or not had

  // Descriptors of user logic start and feed a chain of the last channel while `stream_i`.
  input  logic                                 stream_i,
  input  logic                                 stream_free_i,  // a chain may start
  input  logic                                 stream_valid_i,
  input  descriptor_t                          stream_descriptor_i,
  output logic                                 stream_ready_o,
  output logic                                 stream_start_o,

  // The hub's memory; a row comes in the cycle behind its address.
  output logic                                 memory_read_o,
  output logic [RowBits-1:0]                   memory_row_o,
  input  descriptor_t                          memory_data_i,

  // The host's memory. Answers are taken whenever they come.
  output logic                                 read_valid_o,
  output request_t                             read_header_o,
  input  logic                                 read_ready_i,
  input  logic                                 answer_valid_i,
  input  logic [Width-1:0]                     answer_data_i,
  input  logic                                 answer_last_i,
  output logic                                 unexpected_o,  // an answer that nobody waits for
  output logic                                 waiting_o,     // an answer is owed
  output logic                                 active_o,      // something moves

  output logic [Channels-1:0]                  valid_o,
  output descriptor_t [Channels-1:0]           descriptor_o,
  input  logic [Channels-1:0]                  ready_i
);

  typedef enum logic [2:0] {
    Idle,
    Ask,     // for the descriptor at `where`
    Row,     // comes from the hub's memory in this cycle
    Answer,  // comes from the host
    Full,
    Failed   // until the channel stops
  } state_e;

  // Where a descriptor lies.
  typedef enum logic [1:0] {
    InMemory,
    InHost,
    Nowhere
  } place_e;

  function automatic place_e place_of(address_t where, logic [NodeBits-1:0] node);
    if (!where.window || where.node != node || where.offset[5:0] != 6'd0) return Nowhere;
    if (where.target != TargetHub) return InHost;
    if (where.offset < HubMemoryOffset) return Nowhere;
    return (where.offset < HubMemoryOffset + 33'(MemoryBytes)) ? InMemory : Nowhere;
  endfunction

  localparam int unsigned Beats = DescriptorBits / Width;
  localparam int unsigned BeatBits = $clog2(Beats + 1);
  localparam int unsigned NumberBits = 7 - ChannelBits;

  state_e [Channels-1:0] state_q;
  logic [Channels-1:0][AddressBits-1:0] where_q, begun_q;
  place_e [Channels-1:0] place_q;  // of what is at `where`
  descriptor_t [Channels-1:0] descriptor_q;
  logic [Channels-1:0] stale_q;  // the answer under way is of a chain that has stopped
  logic [Channels-1:0][NumberBits-1:0] number_q;
  logic [31:0] silence_q;

  // --- Who asks where --------------------------------------------------------------------------

  logic [Channels-1:0] asks_memory, asks_host, misled;
  logic [Channels-1:0] grant_memory, grant_host;
  logic streams;

  always_comb begin
    for (int unsigned c = 0; c < Channels; ++c) begin
      logic asks;
      asks = state_q[c] == Ask && !stop_i[c] && !(stream_i && c == StreamChannel);
      misled[c] = asks && place_q[c] == Nowhere;
      asks_memory[c] = asks && place_q[c] == InMemory;
      asks_host[c] = asks && place_q[c] == InHost && !read_valid_o;
    end
    // A channel asks once a descriptor, so that the lowest first starves nobody.
    grant_memory = asks_memory & (~asks_memory + Channels'(1));
    grant_host = asks_host & (~asks_host + Channels'(1));
  end

  request_t read_header;

  always_comb begin
    memory_read_o = |asks_memory;
    memory_row_o = '0;
    read_header = '0;
    for (int unsigned c = 0; c < Channels; ++c) begin
      if (grant_memory[c]) memory_row_o = where_q[c][6+:RowBits];
      if (grant_host[c]) begin
        read_header = request_header(1'b0, {24'd0, where_q[c]}, 9'(DescriptorBytes),
                                     {12'd0, node_i}, {1'b1, number_q[c], ChannelBits'(c)});
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_o <= 1'b0;
      read_header_o <= '0;
    end else if (!read_valid_o) begin
      read_valid_o <= |asks_host;
      read_header_o <= read_header;
    end else if (read_ready_i) begin
      read_valid_o <= 1'b0;
    end
  end

  assign streams = stream_i && !stop_i[StreamChannel] &&
      (state_q[StreamChannel] == Ask || (state_q[StreamChannel] == Idle && stream_free_i));
  assign stream_ready_o = streams;
  assign stream_start_o = streams && stream_valid_i && state_q[StreamChannel] == Idle;

  // --- Answers ---------------------------------------------------------------------------------

  // One completion carries a descriptor: 64 bytes at a multiple of 64 cannot be split.
  completion_t header;
  logic inside_q, good_q, awaited_q, awaited;
  logic [ChannelBits-1:0] channel_q, channel;
  logic [BeatBits-1:0] beat_q;
  logic [Channels-1:0] comes;  // the end of its answer
  logic well;                  // which is a descriptor

  assign header = completion_t'(answer_data_i[HeaderBits-1:0]);
  assign channel = inside_q ? channel_q : header.tag[ChannelBits-1:0];
  assign awaited = inside_q ? awaited_q
      : state_q[channel] == Answer && header.tag[6:ChannelBits] == number_q[channel];
  assign comes = Channels'(answer_valid_i && answer_last_i && awaited) << channel;
  assign well = inside_q && good_q && beat_q == BeatBits'(Beats - 1);
  assign unexpected_o = answer_valid_i && answer_last_i && !awaited;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      good_q <= 1'b0;
      awaited_q <= 1'b0;
      channel_q <= '0;
      beat_q <= '0;
    end else if (answer_valid_i) begin
      inside_q <= !answer_last_i;
      awaited_q <= awaited;
      beat_q <= inside_q ? beat_q + BeatBits'(1) : '0;
      if (!inside_q) begin
        channel_q <= header.tag[ChannelBits-1:0];
        good_q <= header.status == StatusSuccess && has_data(header.dw0) &&
            !header.dw0.poisoned && header.dw0.dwords == 10'd16 && header.byte_count == 12'd64;
      end
    end
  end

  // The host owes descriptors and has been silent for too long.
  logic owes, silent, timed_out_q;
  always_comb begin
    owes = 1'b0;
    for (int unsigned c = 0; c < Channels; ++c) owes |= state_q[c] == Answer;
  end
  assign waiting_o = owes;
  assign silent = timeout_i != 32'd0 && silence_q >= timeout_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      silence_q <= '0;
      timed_out_q <= 1'b0;
    end else if (!owes || answer_valid_i || timed_out_q) begin
      silence_q <= '0;
      timed_out_q <= 1'b0;
    end else begin
      if (!silent) silence_q <= silence_q + 32'd1;
      timed_out_q <= silent;
    end
  end

  // --- Channels --------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= {Channels{Idle}};
      where_q <= '0;
      place_q <= {Channels{Nowhere}};
      begun_q <= '0;
      descriptor_q <= '0;
      stale_q <= '0;
      number_q <= '0;
    end else begin
      for (int unsigned c = 0; c < Channels; ++c) begin
        unique case (state_q[c])
          Idle: begin
            stale_q[c] <= 1'b0;
            if (start_i[c]) begin
              state_q[c] <= Ask;
              where_q[c] <= chain_i[c];
              place_q[c] <= place_of(address_t'(chain_i[c]), node_i);
            end
          end
          Ask: begin
            if (stop_i[c]) state_q[c] <= Idle;
            else if (misled[c]) state_q[c] <= Failed;
            else if (grant_memory[c]) state_q[c] <= Row;
            else if (grant_host[c]) state_q[c] <= Answer;
          end
          Row: begin
            state_q[c] <= Full;
            descriptor_q[c] <= memory_data_i;
          end
          Answer: begin
            if (stop_i[c]) stale_q[c] <= 1'b1;
            if (comes[c] || timed_out_q) begin
              if (stale_q[c] || stop_i[c]) state_q[c] <= Idle;
              else state_q[c] <= (comes[c] && well) ? Full : Failed;
              if (!(comes[c] && well)) number_q[c] <= number_q[c] + NumberBits'(1);
            end
            if (answer_valid_i && inside_q && awaited_q && channel_q == ChannelBits'(c)) begin
              descriptor_q[c] <= {answer_data_i, descriptor_q[c][DescriptorBits-1:Width]};
            end
          end
          Full: begin
            if (stop_i[c]) begin
              state_q[c] <= Idle;
            end else if (ready_i[c]) begin
              state_q[c] <= descriptor_q[c].control.last ? Idle : Ask;
              where_q[c] <= descriptor_q[c].next;
              place_q[c] <= place_of(address_t'(descriptor_q[c].next), node_i);
              begun_q[c] <= where_q[c];
            end
          end
          default: if (stop_i[c]) state_q[c] <= Idle;
        endcase
      end
      if (streams && stream_valid_i) begin
        state_q[StreamChannel] <= Full;
        descriptor_q[StreamChannel] <= stream_descriptor_i;
      end
    end
  end

  always_comb begin
    active_o = timed_out_q || answer_valid_i || read_valid_o;
    for (int unsigned c = 0; c < Channels; ++c) begin
      active_o |= state_q[c] != Idle && state_q[c] != Answer;
      idle_o[c] = state_q[c] == Idle;
      failed_o[c] = state_q[c] == Failed;
      valid_o[c] = state_q[c] == Full && !stop_i[c];
      where_o[c] = (state_q[c] == Failed) ? where_q[c] : begun_q[c];
    end
  end
  assign descriptor_o = descriptor_q;

  logic unused;
  assign unused = &{1'b0, header};

endmodule
