#include "trigger/trigger.hpp"

#include <fmt/format.h>

#include <thread>

#include "tca/device/memory.hpp"
#include "tca/error.hpp"

namespace tca::trigger {
namespace {

using device::now_ns;

constexpr std::uint64_t second_ns = 1'000'000'000;

// How long a detector or a kernel may be silent, and how long the last datagrams may take through the operating system.
constexpr std::uint64_t patience_ns = 30 * second_ns, on_the_way_ns = second_ns / 5;

class Loop {
 public:
  Loop(const Station& station, SlotRing& ring, Answerer& answerer)
      : station_(station),
        run_(station.run),
        link_(station.link),
        deadline_ns_(static_cast<std::uint64_t>(1000 * station.deadline_us)),
        socket_(station.socket),
        ring_(ring),
        answerer_(answerer),
        outcome_(run_, link_) {}

  Outcome take(DetectorProcess& detector) {
    heard_ns_ = now_ns();
    constexpr unsigned before_a_look = 256;  // without anything to do; a look is a system call or two
    unsigned idle = 0;
    while (!has_ended_ || ring_.freed() < ring_.filled()) {
      const bool has_received = receive(), has_answered = answer();
      if (has_received || has_answered) idle = 0;
      if (++idle % before_a_look == 0) look_at(detector);
    }
    outcome_.seconds = first_ns_ == 0 ? 0 : static_cast<double>(heard_ns_ - first_ns_) / 1e9;
    return std::move(outcome_);
  }

 private:
  // Whether anything has come. What comes is taken at once, even where the ring has no room, so that it is known what was
  // lost, and that nothing is answered that is old.
  bool receive() {
    bool has_come = false;
    constexpr unsigned calls = 8;  // before it is the answers' turn
    for (unsigned call = 0; call < calls; ++call) {
      const unsigned count = socket_.receive(ring_);
      for (unsigned i = 0; i < count; ++i) take_in(socket_.datagram(i), socket_.bytes(i));
      if (count > 0 && socket_.is_in_ring()) ring_.publish();
      has_come |= count > 0;
      if (socket_.is_empty()) break;
    }
    if (!has_come) return false;
    heard_ns_ = now_ns();
    if (first_ns_ == 0) first_ns_ = heard_ns_;
    return true;
  }

  // What is not to be answered leaves its slot without events.
  void take_in(const Header& header, std::size_t bytes) {
    std::uint32_t events = 0;
    if (!is_of(run_, link_, header, bytes)) {
      ++outcome_.foreign;
    } else {
      outcome_.bytes += bytes;
      if (outcome_.seen.take(header.sequence, socket_.is_in_ring()))
        events = header.events;
      else
        ++outcome_.duplicates;
    }
    if (socket_.is_in_ring()) ring_.fill(events);
  }

  // Whether anything has been answered.
  bool answer() {
    const std::uint64_t answered = answerer_.advance(ring_, has_ended_ || outcome_.seen.is_complete());
    if (answered == ring_.freed()) return false;
    heard_ns_ = now_ns();
    for (; ring_.freed() < answered; ring_.free()) {
      const Header& header = *ring_.host().header(ring_.freed());
      if (header.events == 0) continue;
      const std::uint64_t taken = heard_ns_ - header.stamp_ns;
      outcome_.latency.record(taken, header.events);
      outcome_.seen.answer(header.sequence, taken > deadline_ns_);
      outcome_.book.enter(header, ring_.host().answers_of(ring_.freed()));
    }
    return true;
  }

  // While nothing happens.
  void look_at(DetectorProcess& detector) {
    std::this_thread::yield();
    station_.others.look();
    const std::uint64_t silent = now_ns() - heard_ns_;
    // What it has sent is there at once, but the operating system may have put that off.
    if (detector.has_ended() && (outcome_.seen.is_complete() || silent > on_the_way_ns)) has_ended_ = true;
    if (silent < patience_ns) return;
    if (const std::uint64_t waiting = ring_.filled() - ring_.freed(); waiting > 0)
      throw Error(Errc::timed_out,
                  fmt::format("{} datagrams have had no answer for {} s", waiting, patience_ns / second_ns));
    throw Error(Errc::timed_out,
                fmt::format("the detector has sent nothing for {} s, after {} of {} datagrams of this link",
                            patience_ns / second_ns, outcome_.seen.came(), link_.datagrams(run_)));
  }

  const Station& station_;
  const Run& run_;
  const Link& link_;
  std::uint64_t deadline_ns_;
  Socket& socket_;
  SlotRing& ring_;
  Answerer& answerer_;
  Outcome outcome_;
  std::uint64_t heard_ns_ = 0, first_ns_ = 0;
  bool has_ended_ = false;  // the detector, and nothing of it is on its way
};

}  // namespace

Outcome run_trigger(const Station& station, DetectorProcess& detector, SlotRing& ring, Answerer& answerer) {
  Loop loop(station, ring, answerer);  // which takes milliseconds to make room for what it will write down
  detector.start();
  return loop.take(detector);
}

}  // namespace tca::trigger
