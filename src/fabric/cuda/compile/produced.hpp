// A chain's produced puts: the packets and acknowledgements of both ends, and what is kept if elements are
// checked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/codec.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/fabric.hpp"
#include "tca/device/produced.hpp"

namespace tca::cuda {

class ProducedPuts {
 public:
  explicit ProducedPuts(const fabric::ChainSpec& share);

  // The ranks that this rank produces for, and those that produce for it.
  std::vector<int> partners() const;

  // Reserves room for this rank's ends. Throws Error{out_of_memory}.
  void take_room(Room& room, Inbox& inbox, HostCopier& copier, Word chain);

  // What a partner needs to know about this rank's room, written and read in one piece.
  void tell(base::Writer& writer, int partner) const;
  void hear(base::Reader& reader, int partner, bool is_for_me);

  // Sets the views of all ends, and of what kernels do for all of them together.
  void build(DeviceProducedChain& chain, const std::map<int, Word>& links, Room& room, Inbox& inbox,
             HostCopier& copier);

 private:
  struct End {
    const fabric::Elements* elements;
    int partner;
    std::uint64_t offset =
        0;  // in this rank's inbox: of the packets or, at the sender, of the acknowledgements
    const device::ElementCheck* check = nullptr;
  };

  static bool is_signal(const End& end) { return end.elements->count == 0; }
  bool has_acks(const End& end) const { return guarded_ && !is_signal(end); }
  static std::vector<End> ends_of(std::span<const fabric::Put> puts, int fabric::Put::*partner);
  device::Produced view(const End& end, const std::map<int, Word>& links) const;

  bool guarded_, checked_;
  std::vector<End> out_, in_;
  // By partner, in the order in which the sender declared the puts: the offsets in the partner's inbox.
  std::map<int, std::vector<std::uint64_t>> their_packets_, their_acks_;
};

// Describes what a kernel of `rank` has done wrong; see device::Mistake. `partner` is at the other end of
// the put.
std::string describe(const device::Mistake& mistake, int rank, int partner, const std::string& chain);

}  // namespace tca::cuda
