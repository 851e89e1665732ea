// Describes an MPI library on InfiniBand that accepts GPU memory, such as MVAPICH2-GDR: which of its
// protocols carries a message, and what each costs. docs/model.md, "MPI", says where the protocols come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/des/time.hpp"

namespace tca::net {

struct MpiLibrary {
  std::string name;
  std::vector<std::uint32_t> rails;  // the interconnects that it uses
  std::int64_t split_from = 0;       // messages of at least this many bytes are split over the rails

  des::Time send = 0;     // processor time for each message sent
  des::Time receive = 0;  // processor time for each message received
  des::Time gpu = 0;      // in addition, at each end whose memory is a GPU's
  // In addition, at the sender of a message from GPU memory that is not inlined.
  des::Time read_start = 0;
  des::Time stage = 0;            // in addition, at each end where a message goes through host memory
  std::int64_t inline_limit = 0;  // up to here the processor hands the data over with the request
  // Up to here the data lands in a buffer, from which the receiver's processor copies it.
  std::int64_t eager_limit = 0;
  std::int64_t read_direct_limit = 0;   // up to here the adapter reads GPU memory
  std::int64_t write_direct_limit = 0;  // up to here the adapter writes GPU memory
  std::int64_t pipeline_from = 0;       // above this, data staged at both ends goes in overlapped blocks
  std::int64_t block = 0;               // bytes of such a block
  std::int64_t control_bytes = 0;       // size of a request to send, a clearance or a notice

  std::uint32_t packet_bytes = 0;   // on the wire (MTU)
  std::uint32_t request_bytes = 0;  // most data that one read request of the adapter asks for
  std::uint32_t requests = 0;       // read requests under way for each share of a message on a rail

  // Collectives. In a broadcast of up to eager_limit bytes, each rank that has the data sends it to tree - 1
  // others per level; larger broadcasts use a binomial tree. An allgather of ring_from to ring_to bytes per
  // rank goes around a ring; any other uses recursive doubling.
  std::uint32_t tree = 2;
  std::int64_t ring_from = 0, ring_to = 0;
};

// How a message travels.
enum class MpiWay {
  inlined,    // with the request
  eager,      // into a buffer of the receiver, and copied from there
  direct,     // straight from memory to memory after a handshake
  staged,     // as a whole through host memory, at one end or both
  pipelined,  // in blocks through host memory at both ends
};

MpiWay choose_way(const MpiLibrary& library, std::int64_t bytes);

}  // namespace tca::net
