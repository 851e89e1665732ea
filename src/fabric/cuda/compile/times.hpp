// The times of a timed chain's messages: the room in which kernels record what they have seen, and what the
// host makes of it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/codec.hpp"
#include "fabric/arrivals.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/fabric.hpp"
#include "fabric/partner_clock.hpp"
#include "tca/device/times.hpp"

namespace tca::cuda {

// What the host has read of the kernels' records.
class RecordedTimes {
 public:
  // `steps`: as in a DeviceChain.
  RecordedTimes(fabric::Arrivals& arrivals, HostCopier& copier, const Word* steps)
      : arrivals_(arrivals), copier_(copier), steps_(steps) {}

  void add_sender(int rank, const device::TimeRecord* records) { senders_.push_back({rank, records, {}}); }

  // Reports the messages of the steps that have ended since the last call.
  void tell();

 private:
  struct Sender {
    int rank;
    const device::TimeRecord* records;  // in device memory
    fabric::PartnerClock clock;
  };

  void tell_of(Sender& sender, Word finished);

  fabric::Arrivals& arrivals_;
  HostCopier& copier_;
  const Word* steps_;
  Word told_ = 0;  // the last step reported
  std::vector<Sender> senders_;
};

// Reports the steps from `first` to `last`, at most TimeRecord::kept of them, as far as `ring` has them.
void tell_of_records(std::span<const device::TimeRecord> ring, Word first, Word last, int from,
                     fabric::PartnerClock& clock, fabric::Arrivals& arrivals);

class TimedLinks {
 public:
  // There are none if the chain is not timed.
  explicit TimedLinks(const fabric::ChainSpec& share);

  // Reserves room for the stamps and the records of this rank's senders. Throws Error{out_of_memory}.
  void take_room(Room& room);

  // What a partner needs to know about this rank's room.
  void tell(base::Writer& writer, int partner) const;
  void hear(base::Reader& reader, int partner, bool is_for_me);

  // Returns what kernels need, and sets up `recorded`; nothing if the chain is not timed.
  device::Times build(const std::map<int, Word>& links, const Word* steps, Room& room, Inbox& inbox,
                      HostCopier& copier, std::unique_ptr<RecordedTimes>& recorded) const;

 private:
  struct Sender {
    std::uint64_t stamps = 0, records = 0, last = 0;  // offsets in this rank's inbox
  };

  fabric::Arrivals* arrivals_;
  std::map<int, Sender> senders_;
  std::map<int, std::uint64_t> their_stamps_;  // by target: the offset in its inbox
};

}  // namespace tca::cuda
