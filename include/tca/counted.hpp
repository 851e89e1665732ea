/// @file
/// The two ends of a counted put, whose length is chosen anew for every step:
///
///     // on the sender
///     tca::CountedPut sent = chain.put_counted(to, from, tca::block(1000));
///     chain.commit();
///     for (...) {
///       sent.set(n);                                      // 0 to 1000
///       chain.run();
///     }
///
///     // on the receiver
///     tca::CountedArrival come = chain.expect_counted(left);
///     chain.commit();
///     for (...) {
///       chain.run();
///       use(elements, come.count());
///     }
///
/// A length counts elements in the order of the layout, from its first one on. It cuts the outermost loop
/// short, so it is a multiple of what one repetition of that loop moves: any number of the elements of a
/// block or a stride, and whole rows of a block-stride. If the two layouts of a put differ, it must be
/// whole for both.
///
/// On GPUs kernels may also set lengths and read counts: see `device` below and tca/device/counted.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tca/detail/api.hpp"
#include "tca/detail/moved.hpp"
#include "tca/layout.hpp"

namespace tca {

class Chain;
struct DeviceCountedPut;
struct DeviceCountedArrival;
namespace device {
struct Counted;
}

namespace core {

class ChainState;

// One end of a counted put. Lengths are in elements.
struct CountedEnd {
  std::uint64_t next = 0;      // sender: of the next steps
  std::uint64_t length = 0;    // of the last step; a fabric reads it, or writes it at the receiver
  std::uint64_t capacity = 0;  // the receiver knows it after the commit
  std::uint64_t unit = 1;      // lengths are multiples of it
  bool by_kernels = false;     // sender: kernels set `next`, in memory of their own
  // Receiver: where a GPU leaves the length of the last step, in place of `length`; null if none does.
  const std::uint32_t* landed = nullptr;
  std::shared_ptr<device::Counted> view;  // set by the commit
  std::string chain;
  int partner = 0;
  std::uint32_t put = 0;  // its number, at the sender
};

// Throws Error{invalid_argument} for a length that the put cannot have.
[[noreturn]] TCA_API void fail_length(const CountedEnd& put, Count elements);

TCA_API std::uint64_t landed_length(const CountedEnd& arrival);

}  // namespace core

/// The sending end. Copies name the same put; they may outlive the chain, and then do nothing.
class TCA_API CountedPut {
 public:
  /// Sets the length of the steps that are started from here on, 0 to `capacity()`; until the first call it
  /// is 0. A step that is under way keeps its own length, and so does one that is ordered on a stream; a
  /// CUDA graph that captures a start repeats the length that was set then. Throws Error{invalid_argument}
  /// for a length that is negative, above the capacity, or not a multiple of what a repetition of the
  /// outermost loop moves; the length then stays as it was.
  void set(Count elements) {
    core::CountedEnd& end = core::present(end_, "counted put");
    const auto length = static_cast<std::uint64_t>(elements.value());
    // For most layouts the unit is one element, which saves the division.
    if (length > end.capacity || (end.unit != 1 && length % end.unit != 0)) [[unlikely]]
      core::fail_length(end, elements);
    end.next = length;
    end.by_kernels = false;
  }

  /// Returns what a kernel sets lengths with. From this call on the host's own starts use what kernels have
  /// set, until it calls `set` again. Steps that a kernel starts always do; without a kernel's `set` they
  /// have the length of the last step that the host started. Throws Error{invalid_argument} before the
  /// commit, if no kernels reach the put, and for an empty layout. What it returns is valid as long as the
  /// chain.
  DeviceCountedPut device() const;

  /// Returns the length that the host has set for the next step.
  std::int64_t length() const { return static_cast<std::int64_t>(core::present(end_, "counted put").next); }
  /// Returns the number of elements of the layout.
  std::int64_t capacity() const {
    return static_cast<std::int64_t>(core::present(end_, "counted put").capacity);
  }
  /// Returns the target.
  int rank() const { return core::present(end_, "counted put").partner; }

 private:
  friend class Chain;
  explicit CountedPut(std::shared_ptr<core::CountedEnd> end) : end_(std::move(end)) {}

  std::shared_ptr<core::CountedEnd> end_;
};

/// The receiving end. Copies name the same put, and may outlive the chain.
class TCA_API CountedArrival {
 public:
  /// Returns how many elements arrived with the step whose `wait` returned last; 0 before the first one.
  /// Not to be called while a step is under way; after a `wait` on a stream, the host synchronises with the
  /// stream first. The other elements of the target are unchanged.
  std::int64_t count() const {
    const core::CountedEnd& end = core::present(end_, "counted arrival");
    return static_cast<std::int64_t>(end.landed == nullptr ? end.length : core::landed_length(end));
  }

  /// Returns what a kernel reads the count with, including for steps that it has waited for by itself, of
  /// which the host learns nothing. Throws as that of CountedPut.
  DeviceCountedArrival device() const;
  /// Returns the most that can arrive, as the sender has declared it; 0 before the commit.
  std::int64_t capacity() const {
    return static_cast<std::int64_t>(core::present(end_, "counted arrival").capacity);
  }
  /// Returns the sender.
  int rank() const { return core::present(end_, "counted arrival").partner; }

 private:
  friend class Chain;
  explicit CountedArrival(std::shared_ptr<core::CountedEnd> end) : end_(std::move(end)) {}

  std::shared_ptr<core::CountedEnd> end_;
};

}  // namespace tca
