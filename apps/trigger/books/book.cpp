#include "trigger/books/book.hpp"

#include <algorithm>
#include <cstring>

namespace tca::trigger {
namespace {

bool are_same(const Answer& a, const Answer& b) {
  return a.rings == b.rings && a.hits == b.hits &&
         std::memcmp(a.found, b.found, std::min(a.rings, most_rings) * sizeof a.found[0]) == 0;
}

}  // namespace

Book::Book(const Run& run, const Link& link)
    : run_(run),
      link_(link),
      distinct_(link.distinct(run)),
      times_(link.datagrams(run) * run.batch),
      answers_(distinct_ * run.batch) {}

void Book::enter(const Header& header, const Answer* answers) {
  const std::uint64_t index = link_.index(header.sequence);
  for (std::uint32_t event = 0; event < header.events; ++event) {
    const Answer& answer = answers[event];
    std::uint8_t& times = times_[place(index, event)];
    if (times > 0) {
      if (times == 1) ++again_;
      times = 2;
      continue;
    }
    times = 1;
    ++answered_;
    const std::uint64_t same = place(index % distinct_, event);
    const bool is_named = answer.event == header.first_event + event && answer.rings <= most_rings;
    // The first of its kind may have been lost.
    const bool is_first = index < distinct_ || times_[same] == 0;
    if (!is_named || (!is_first && !are_same(answer, answers_[same]))) ++wrong_;
    if (index < distinct_) answers_[same] = answer;
  }
}

const Answer* Book::answer(std::uint64_t index, std::uint32_t event) const {
  return times_[place(index, event)] > 0 ? &answers_[place(index, event)] : nullptr;
}

}  // namespace tca::trigger
