// A world as Python holds it, with all that was made in it. Whatever is made in a world holds its Place, so that nothing
// outlives what it stands on; closing the world drops what was made in it, in order.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tca/raw.hpp"

namespace opentca_python {

namespace nb = nanobind;

class Place;
class WindowObject;

/// How often this process is a fork of one that has the module loaded. What was made before a fork belongs to the parent.
extern std::atomic<unsigned> forks;

/// A C++ handle of Python's object: given up by `drop` and, in a forked child, never destroyed, since the parent's ranks go
/// on with what it names.
template <class T>
class Handle {
 public:
  explicit Handle(T value) : value_(std::move(value)) {}
  ~Handle() { drop(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void drop() {
    if (value_ && made_ != forks) new T(std::move(*value_));
    value_.reset();
  }
  explicit operator bool() const { return value_.has_value(); }
  bool inherited() const { return made_ != forks; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }

 private:
  std::optional<T> value_;
  unsigned made_ = forks;
};

/// What is made in a world and closed with it.
class Member {
 public:
  /// Chains, halos and collectives go before windows, and these before groups.
  enum class Kind { step, window, group };

  Member(std::shared_ptr<Place> place, Kind kind);
  virtual ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Gives up the C++ object. Any later call is an Error{invalid_argument}.
  virtual void drop() = 0;

  Kind kind() const { return kind_; }
  const std::shared_ptr<Place>& place() const { return place_; }

 private:
  std::shared_ptr<Place> place_;
  Kind kind_;
};

class Place {
 public:
  /// `threads`: the ranks are threads of this process, which need the interpreter's lock in turn. `arrays` is the library
  /// whose arrays windows on GPUs are, or None.
  Place(tca::World world, bool threads, nb::object arrays);
  ~Place();

  /// Throw Error{invalid_argument} where the world is closed, or belongs to the process that this one was forked from.
  tca::World& world();
  void require_open(const char* what) const;

  /// Drops all members and the world. `failed`: because of an exception, which partners hear of.
  void close(bool failed);
  bool closed() const { return !world_; }
  bool threads() const { return threads_; }
  /// Whether windows lie in the memory of GPUs.
  bool on_device() const { return on_device_; }
  const nb::object& arrays() const { return arrays_; }

  /// The window that `bytes` bytes at `address` lie in, of elements of `element_bytes` where there are several; null if
  /// there is none.
  WindowObject* window_at(const void* address, std::size_t bytes, std::size_t element_bytes) const;
  /// A window of any world that the address lies in, for a message; null if there is none.
  static WindowObject* window_anywhere(const void* address);

  /// Makes it a group of the world `around`, in which its ranks are `ranks`. `membership` closes it with that.
  void enter(std::shared_ptr<Place> around, std::vector<int> ranks, std::unique_ptr<Member> membership);
  const Place* around() const { return around_.get(); }
  int rank_around(int rank) const { return ranks_around_[static_cast<std::size_t>(rank)]; }

  /// Closes every world, as the interpreter ends.
  static void close_all(bool failed);

 private:
  friend class Member;
  friend class WindowObject;

  Handle<tca::World> world_;
  bool threads_, on_device_;
  nb::object arrays_;
  std::shared_ptr<Place> around_;
  std::vector<int> ranks_around_;
  std::unique_ptr<Member> membership_;
  // Where the interpreter has no lock, objects may go in any thread.
  mutable nb::ft_mutex mutex_;  // of the two below
  std::set<Member*> members_;
  std::multimap<std::uintptr_t, WindowObject*> windows_;  // by the address where they begin
};

/// The C++ object of a member. Throws Error{invalid_argument} where it is closed or a forked child's.
template <class T>
T& present(const Member& member, Handle<T>& handle, const char* what) {
  if (!handle || handle.inherited()) [[unlikely]]
    member.place()->require_open(what);
  return *handle;
}

}  // namespace opentca_python
