// An MPI library on InfiniBand that takes GPUs' memory, as MVAPICH2-GDR does: which of its protocols carries a message,
// and what each costs. docs/model.md, "MPI", says where the protocols come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "des/time.hpp"

namespace tca::net {

struct MpiLibrary {
  std::string name;
  std::vector<std::uint32_t> rails;  // the interconnects it uses
  std::int64_t split_from = 0;       // messages of this many bytes and more are split over the rails

  des::Time send = 0;        // of the processor, for each message it sends
  des::Time receive = 0;     // the same for each that it receives
  des::Time gpu = 0;         // more at each end whose memory is a GPU's
  des::Time read_start = 0;  // more for one that is not inlined and whose data is in a GPU, at the sender
  des::Time stage = 0;       // more for a message that goes through host memory, at each end where it does
  std::int64_t inline_limit = 0;  // up to here the processor hands the data over with the request
  std::int64_t eager_limit =
      0;  // up to here it lands in a buffer, from which the receiver's processor copies it
  std::int64_t read_direct_limit = 0;   // up to here the adapter reads the GPU's memory
  std::int64_t write_direct_limit = 0;  // up to here the adapter writes the GPU's memory
  std::int64_t pipeline_from = 0;       // above this, what is staged at both ends goes in blocks, overlapped
  std::int64_t block = 0;
  std::int64_t control_bytes = 0;  // of a request to send, a clearance, a notice

  std::uint32_t packet_bytes = 0;   // on the wire (MTU)
  std::uint32_t request_bytes = 0;  // that one read request of the adapter asks for
  std::uint32_t requests = 0;       // such requests under way, of an adapter

  // Collectives. A broadcast up to eager_limit: each rank that has the data sends it to tree - 1 others a level; larger ones
  // take a binomial tree. An allgather of so many bytes a rank goes around a ring, any other doubles recursively.
  std::uint32_t tree = 2;
  std::int64_t ring_from = 0, ring_to = 0;
};

// How a message travels.
enum class MpiWay {
  inlined,    // with the request
  eager,      // into the receiver's buffer, copied from there
  direct,     // GPU to GPU after a handshake
  staged,     // through host memory at one end or both, whole
  pipelined,  // through host memory at both ends, in blocks
};

MpiWay choose_way(const MpiLibrary& library, std::int64_t bytes);

}  // namespace tca::net
