// Objects that are used again and again, so that the next one costs no allocation.
#pragma once

#include <deque>
#include <vector>

namespace tca::p2p {

template <class T>
class Pool {
 public:
  // As it was left by the last user.
  T& take() {
    if (free_.empty()) return all_.emplace_back();
    T& object = *free_.back();
    free_.pop_back();
    return object;
  }
  void give_back(T& object) { free_.push_back(&object); }

 private:
  std::deque<T> all_;
  std::vector<T*> free_;
};

}  // namespace tca::p2p
