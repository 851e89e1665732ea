// Which event was answered how often, and how.
#pragma once

#include <cstdint>
#include <vector>

#include "trigger/link.hpp"

namespace tca::trigger {

class Book {
 public:
  Book(const Run& run, const Link& link);

  // The answers to a datagram's events.
  void enter(const Header& header, const Answer* answers);

  // Events that were answered more than once, and answers that name another event than the one they are for, or differ
  // from an earlier answer to the same hits.
  std::uint64_t again() const { return again_; }
  std::uint64_t wrong() const { return wrong_; }
  std::uint64_t answered() const { return answered_; }

  // For each distinct event of this link, in its order, the answer; null where there is none.
  const Answer* answer(std::uint64_t index, std::uint32_t event) const;
  const Run& run() const { return run_; }
  const Link& link() const { return link_; }

 private:
  std::uint64_t place(std::uint64_t index, std::uint32_t event) const { return index * run_.batch + event; }

  Run run_;
  Link link_;
  std::uint64_t distinct_;
  std::vector<std::uint8_t> times_;  // of each event
  std::vector<Answer> answers_;      // of the distinct ones
  std::uint64_t again_ = 0, wrong_ = 0, answered_ = 0;
};

}  // namespace tca::trigger
