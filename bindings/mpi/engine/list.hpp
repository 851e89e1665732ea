// A list whose members bring their own links: to add and to remove allocates nothing.
#pragma once

#include <cstdint>

namespace tca::p2p {

struct Linked {
  Linked* before = nullptr;
  Linked* behind = nullptr;
  std::uint64_t order = 0;  // among all members of the lists of a communicator
};

template <class T>
class List {
 public:
  T* first() const { return static_cast<T*>(first_); }
  static T* next(const T* member) { return static_cast<T*>(member->behind); }

  void add(T& member) {
    member.before = last_;
    member.behind = nullptr;
    (last_ != nullptr ? last_->behind : first_) = &member;
    last_ = &member;
  }
  void remove(T& member) {
    (member.before != nullptr ? member.before->behind : first_) = member.behind;
    (member.behind != nullptr ? member.behind->before : last_) = member.before;
  }

 private:
  Linked* first_ = nullptr;
  Linked* last_ = nullptr;
};

}  // namespace tca::p2p
