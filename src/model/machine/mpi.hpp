// Describes an MPI library on InfiniBand that accepts GPU memory, such as MVAPICH2-GDR: which of its
// protocols carries a message, and what each costs. docs/model.md, "MPI", says where the protocols come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/des/time.hpp"

namespace tca::net {

// Which algorithm a library uses for a broadcast or an allgather of GPU memory, by size in bytes.
struct MpiCollectives {
  std::uint32_t tree = 2;     // a broadcast of up to a segment: whoever has it sends it to tree - 1 at a time
  std::uint32_t segment = 0;  // larger ones go down a binomial tree in segments,
  std::uint64_t whole_from = 0;    // from here on as a whole,
  std::uint64_t scatter_from = 0;  // and from here on are scattered, and gathered around a ring
  std::uint64_t direct = 0;        // up to here, counting all ranks together, from GPU to GPU
  std::uint64_t bcast_staged = 0;  // up to here the hosts broadcast, between one copy out and one in
  // Up to here, from each rank, the hosts gather in the same way. Larger blocks travel around a ring of
  // hosts and are copied into the GPUs one by one.
  std::uint64_t allgather_staged = 0;
  // Buffers of hosts that gather or broadcast are pinned from this size on. For smaller ones the driver
  // makes an additional copy, at this rate, before or after the GPU's engine.
  std::uint64_t pinned_from = 0;
  double unpinned_bytes_per_s = 0;
};

struct MpiLibrary {
  std::string name;
  std::vector<std::uint32_t> rails;  // the interconnects that it uses
  std::int64_t split_from = 0;       // messages of at least this many bytes are split over the rails
  std::uint32_t rails_in_turn = 1;   // rails of a rank's adapter, between which unsplit messages alternate

  des::Time send = 0;     // processor time for each message sent
  des::Time receive = 0;  // processor time for each message received
  des::Time gpu = 0;      // in addition, at each end whose memory is a GPU's
  // In addition, at the sender of a message from GPU memory that is not inlined.
  des::Time read_start = 0;
  des::Time stage = 0;                 // in addition, at each end if a message passes through host memory
  std::int64_t inline_limit = 0;       // up to here the processor hands over the data with the request
  std::int64_t host_inline_limit = 0;  // the same if the data is in host memory
  // Up to here the data lands in a buffer, from which the receiver's processor copies it. From host memory
  // the sender's processor copies it first, into a buffer that its adapter reads.
  std::int64_t eager_limit = 0;
  double eager_copy_bytes_per_s = 0;    // between such a buffer and host memory; 0 if it costs nothing
  std::int64_t read_direct_limit = 0;   // up to here the adapter reads GPU memory
  std::int64_t write_direct_limit = 0;  // up to here the adapter writes GPU memory
  std::int64_t pipeline_from = 0;       // above this, data staged at both ends is sent in overlapped blocks
  std::int64_t block = 0;               // bytes of such a block
  std::int64_t control_bytes = 0;       // size of a request to send, a clearance or a notice

  std::uint32_t packet_bytes = 0;   // on the wire (MTU)
  std::uint32_t request_bytes = 0;  // most data that one read request of the adapter asks for
  std::uint32_t requests = 0;       // read requests under way for each share of a message on a rail

  std::optional<MpiCollectives> collectives;  // empty if nothing has been published about them
};

// How a message travels.
enum class MpiWay {
  inlined,    // with the request
  eager,      // into a buffer of the receiver, and copied from there
  direct,     // straight from memory to memory after a handshake
  staged,     // as a whole through host memory, at one end or both
  pipelined,  // in blocks through host memory at both ends
};

// For a message from a GPU, or from host memory.
MpiWay choose_way(const MpiLibrary& library, std::int64_t bytes, bool in_gpu = true);

}  // namespace tca::net
