// A trigger: takes datagrams from its link, has their events answered, and keeps what came of each.
#pragma once

#include <cstdint>

#include "tca/world.hpp"
#include "trigger/answerer.hpp"
#include "trigger/books/book.hpp"
#include "trigger/books/latency.hpp"
#include "trigger/books/seen.hpp"
#include "trigger/detector/process.hpp"
#include "trigger/others.hpp"
#include "trigger/ring.hpp"
#include "trigger/socket.hpp"

namespace tca::trigger {

// What came of a link's run.
struct Outcome {
  Outcome(const Run& run, const Link& link) : seen(run, link), book(run, link) {}

  Seen seen;
  Book book;
  Histogram latency;             // of every event, from its datagram's stamp to its answer
  std::uint64_t duplicates = 0;  // datagrams that had come before
  std::uint64_t foreign = 0;     // that are none of this run
  std::uint64_t bytes = 0;       // of all that came
  double seconds = 0;            // from the first datagram to the last answer
};

// What a rank has for its link.
struct Station {
  Run run;
  Link link;
  double deadline_us;
  Socket& socket;
  Others& others;
};

// Starts the detector and answers until it has sent everything, and all that came is answered. Throws Error{rank_lost} where
// the detector dies, or another rank, and Error{timed_out} where it sends nothing, or a kernel answers nothing, for too long.
Outcome run_trigger(const Station& station, DetectorProcess& detector, SlotRing& ring, Answerer& answerer);

}  // namespace tca::trigger
