#include "trigger/answerer.hpp"
#include "trigger/finder/find.hpp"

namespace tca::trigger {
namespace {

class HostAnswerer : public Answerer {
 public:
  HostAnswerer(const Gather& gather, float resolution)
      : gathering_(gather), resolution_(resolution), scratch_(std::make_unique<Scratch>()) {}

  std::uint64_t advance(SlotRing& ring, bool is_last) override {
    if (answered_ == end_) {
      if (!gathering_.is_due(ring, answered_, events_, is_last)) return answered_;
      end_ = ring.filled();
    }
    // One slot in a call, so that what comes meanwhile is taken out of the socket.
    const RingView& view = ring.host();
    const Header* const header = view.header(answered_);
    for (std::uint32_t event = 0; event < header->events; ++event)
      answer_event(Alone{}, view, answered_, event, resolution_, *scratch_);
    events_ += header->events;
    ++answered_;
    return answered_;
  }

 private:
  Gathering gathering_;
  float resolution_;
  std::unique_ptr<Scratch> scratch_;
  std::uint64_t answered_ = 0, events_ = 0;  // so far
  std::uint64_t end_ = 0;                    // of the slots that are being worked on
};

}  // namespace

std::unique_ptr<Answerer> host_answerer(const Gather& gather, float resolution) {
  return std::make_unique<HostAnswerer>(gather, resolution);
}

}  // namespace tca::trigger
