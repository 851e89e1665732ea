#include "trigger/peers/plain_loop.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <memory>

#include "tca/device/memory.hpp"
#include "tca/error.hpp"
#include "trigger/finder/find.hpp"

namespace tca::trigger {
namespace {

// Where a datagram is, alone.
class Place {
 public:
  explicit Place(std::uint32_t batch)
      : words_(bytes_of_slot(batch) / sizeof(std::uint64_t)), answers_(batch), batch_(batch) {}

  RingView view() {
    return {.slots = reinterpret_cast<std::byte*>(words_.data()),
            .answers = answers_.data(),
            .signals = nullptr,
            .slot_bytes = bytes_of_slot(batch_),
            .size = 1,
            .batch = batch_};
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<Answer> answers_;
  std::uint32_t batch_;
};

}  // namespace

Outcome run_plain_loop(const Station& station, DetectorProcess& detector) {
  const Run& run = station.run;
  const Link& link = station.link;
  const int socket = station.socket.fd();
  constexpr suseconds_t look_us = 50'000;  // so often it looks after the detector, while nothing comes
  const timeval look{0, look_us};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look);
  Outcome outcome(run, link);
  const auto scratch = std::make_unique<Scratch>();
  Place place(run.batch);
  const RingView view = place.view();
  const Header& header = *view.header(0);
  const auto deadline_ns = static_cast<std::uint64_t>(1000 * station.deadline_us);
  detector.start();
  for (std::uint64_t first_ns = 0, in_vain = 0; in_vain < 600;) {
    const ssize_t got = recv(socket, view.slots, view.slot_bytes, MSG_TRUNC);
    if (got < 0) {
      ++in_vain;
      station.others.look();
      if (detector.has_ended() && (outcome.seen.is_complete() || in_vain > 3)) return outcome;
      continue;
    }
    in_vain = 0;
    if (!is_of(run, link, header, static_cast<std::size_t>(got))) {
      ++outcome.foreign;
      continue;
    }
    if (first_ns == 0) first_ns = device::now_ns();
    outcome.bytes += static_cast<std::size_t>(got);
    if (!outcome.seen.take(header.sequence, true)) {
      ++outcome.duplicates;
      continue;
    }
    for (std::uint32_t event = 0; event < header.events; ++event)
      answer_event(Alone{}, view, 0, event, static_cast<float>(run.physics.resolution), *scratch);
    const std::uint64_t now = device::now_ns();
    outcome.latency.record(now - header.stamp_ns, header.events);
    outcome.seen.answer(header.sequence, now - header.stamp_ns > deadline_ns);
    outcome.book.enter(header, view.answers);
    outcome.seconds = static_cast<double>(now - first_ns) / 1e9;
  }
  throw Error(Errc::timed_out,
              fmt::format("the detector has sent nothing for 30 s, after {} of {} datagrams of this link",
                          outcome.seen.came(), link.datagrams(run)));
}

}  // namespace tca::trigger
