// A link carries a detector's datagrams to a rank: with P links every P-th datagram, from the link's number on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trigger/datagram.hpp"
#include "trigger/draws.hpp"
#include "trigger/events.hpp"

namespace tca::trigger {

// What is done to datagrams on purpose: each with a probability.
struct Faults {
  double loss = 0, reorder = 0, duplicate = 0;

  bool loses(std::uint64_t seed, std::uint64_t sequence) const {
    return loss > 0 && Draws(seed, Purpose::loss, sequence).uniform() < loss;
  }
  // It is sent after the next one of its link.
  bool delays(std::uint64_t seed, std::uint64_t sequence) const {
    return reorder > 0 && Draws(seed, Purpose::reorder, sequence).uniform() < reorder;
  }
  bool doubles(std::uint64_t seed, std::uint64_t sequence) const {
    return duplicate > 0 && Draws(seed, Purpose::duplicate, sequence).uniform() < duplicate;
  }
};

// What all ranks and their detectors agree on.
struct Run {
  std::uint64_t events = 20000;
  std::uint32_t batch = 8;  // events of a datagram; the last one may have fewer
  double rate = 10000;      // events a second, on all links together
  Physics physics = {};
  Faults faults = {};
  std::uint32_t number = 0;  // tells its datagrams from others

  std::uint64_t datagrams() const { return (events + batch - 1) / batch; }
};

// Events repeat after so many, so that they can be made before the run, and be judged after it.
inline constexpr std::uint64_t distinct_events = 1 << 17;

struct Link {
  int number = 0, links = 1;

  std::uint64_t datagrams(const Run& run) const {
    const auto all = static_cast<std::uint64_t>(links), own = static_cast<std::uint64_t>(number);
    return (run.datagrams() + all - 1 - own) / all;
  }
  std::uint64_t sequence(std::uint64_t index) const {
    return index * static_cast<std::uint64_t>(links) + static_cast<std::uint64_t>(number);
  }
  bool carries(const Run& run, std::uint64_t seq) const {
    return seq < run.datagrams() &&
           seq % static_cast<std::uint64_t>(links) == static_cast<std::uint64_t>(number);
  }
  std::uint64_t index(std::uint64_t seq) const { return seq / static_cast<std::uint64_t>(links); }
  // Datagrams of this link until they repeat.
  std::uint64_t distinct(const Run& run) const {
    const std::uint64_t period = distinct_events / run.batch / static_cast<std::uint64_t>(links);
    return std::min(datagrams(run), std::max<std::uint64_t>(1, period));
  }
  // Which of the distinct events is in a place of a datagram of this link.
  std::uint64_t physical_event(const Run& run, std::uint64_t index, std::uint32_t event) const {
    return sequence(index % distinct(run)) * run.batch + event;
  }
};

inline std::uint32_t events_of(const Run& run, std::uint64_t sequence) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(run.batch, run.events - sequence * run.batch));
}

// Whether so many bytes are a datagram of this run, and of this link.
inline bool is_of(const Run& run, const Link& link, const Header& header, std::size_t bytes) {
  return is_sound(header, bytes, run.number, run.batch) && link.carries(run, header.sequence) &&
         header.events == events_of(run, header.sequence) &&
         header.first_event == header.sequence * run.batch;
}

}  // namespace tca::trigger
