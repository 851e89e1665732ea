// A chain's counted puts: where kernels find the lengths of both ends.
#pragma once

#include <map>
#include <vector>

#include "base/codec.hpp"
#include "fabric/cuda/kernels.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/fabric.hpp"

namespace tca::cuda {

// Throws Error{invalid_argument} for a counted put that is too large for the lengths in kernels.
void check_capacity(const fabric::Put& put, std::string_view chain);

class CountedPuts {
 public:
  explicit CountedPuts(const fabric::ChainSpec& share);

  // Reserves room for this rank's ends. Throws Error{out_of_memory}.
  void take_room(Room& room, Inbox& inbox, HostCopier& copier, Word chain);

  // What a partner needs to know about this rank's room, written and read in one piece.
  void tell(base::Writer& writer, int partner) const;
  void hear(base::Reader& reader, int partner, bool is_for_me);

  // Sets the views of all ends.
  void build(const std::map<int, Word>& links) const;

  // Returns the word for one of this rank's ends: the one that the sender's kernels read, or where the
  // receiver's length arrives.
  Word* length(const fabric::Put& put) const;
  // Returns the word of a put's receiver.
  Word* length_there(const fabric::Put& put, const Inbox& inbox) const;

  const Lengths& lengths() const { return lengths_; }
  // Where the host has set the lengths in `lengths().sent`; see fabric::Length.
  const std::vector<const std::uint64_t*>& sent() const { return sent_; }

 private:
  using Puts = std::vector<const fabric::Put*>;

  Puts out_, in_;
  std::vector<const std::uint64_t*> sent_;
  std::vector<const device::ElementCheck*> checks_;  // of `out_`
  Word* come_ = nullptr;
  std::uint64_t come_offset_ = 0;
  Lengths lengths_;
  // By partner, in the order in which this rank declared its puts to it: the offsets in the partner's inbox.
  std::map<int, std::vector<std::uint64_t>> theirs_;
};

}  // namespace tca::cuda
