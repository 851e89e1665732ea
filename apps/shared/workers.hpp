// Threads among which a rank shares out work on its host, before anything is measured.
#pragma once

#include <future>
#include <vector>

namespace tca::apps {

class Workers {
 public:
  // The calling thread alone, or so many threads with it.
  Workers() = default;
  explicit Workers(int count) : count_(count) {}

  // As many threads as there are processors for each of `ranks` on this host. `tca run` binds a rank to one
  // processor; workers may run on all that whoever started the rank may use.
  static Workers for_each_of(int ranks);

  int count() const { return count_; }

  // Calls act(part, count()) for every part from 0 on, the first in the calling thread, and returns when all have
  // returned. Throws what one of them throws.
  template <class Act>
  void share(const Act& act) const {
    std::vector<std::future<void>> others;
    for (int part = 1; part < count_; ++part)
      others.push_back(std::async(std::launch::async, [this, part, &act] {
        run_anywhere();
        act(part, count_);
      }));
    act(0, count_);
    for (std::future<void>& other : others) other.get();
  }

 private:
  void run_anywhere() const;

  int count_ = 1;
};

// Where a part of `total` things begins, when they are shared out evenly; `part` may be the number of parts.
template <class Number>
Number begin_of_part(Number total, int part, int parts) {
  const auto number = static_cast<Number>(part), all = static_cast<Number>(parts);
  return total / all * number + total % all * number / all;
}

}  // namespace tca::apps
