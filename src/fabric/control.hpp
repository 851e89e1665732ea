// The control plane: how ranks meet and agree outside the hot path. Whatever brings the ranks up provides it.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.hpp"
#include "base/poll.hpp"
#include "tca/error.hpp"

namespace tca::fabric {

// Where the ranks are: by rank, the number of its host and of its sub-cluster, the ranks that reach each other's memory
// directly. A sub-cluster lies within a host.
struct Places {
  std::vector<int> host, sub_cluster;

  bool same_sub_cluster(int rank, int other) const {
    return sub_cluster[static_cast<std::size_t>(rank)] == sub_cluster[static_cast<std::size_t>(other)];
  }
  // How many ranks of its host come before it.
  int seat(int rank) const {
    const auto end = host.begin() + rank;
    return static_cast<int>(std::count(host.begin(), end, *end));
  }

  // Those of a world that is one sub-cluster.
  static Places together(int ranks) {
    const std::vector<int> same(static_cast<std::size_t>(ranks), 0);
    return {same, same};
  }
};

// What a rank waits for; asked only when somebody has to be told.
class Wait {
 public:
  virtual ~Wait() = default;
  virtual std::string what() const = 0;  // ends the sentence "waits in ..."
  virtual std::vector<int> missing() const = 0;
};

class Control {
 public:
  virtual ~Control() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Every rank's bytes, by rank. Collective. `what` ends the sentence "... while waiting in" of an error.
  // Throws Error{timed_out} or Error{rank_lost}, naming the ranks that have not come, and whatever `while_waiting` does. From then
  // on the ranks are at different calls, and every further one throws the same. Throws Error{refused}, on every rank alike, where
  // their `what` tells that they already are.
  std::vector<base::Blob> all_gather(const base::Blob& mine, std::string_view what);

  // The same of a plain value.
  template <class T>
  std::vector<T> all_gather_value(const T& mine, std::string_view what) {
    std::vector<T> all;
    for (const base::Blob& blob : all_gather(base::Writer().put(mine).blob(), what))
      all.push_back(base::Reader(blob).get<T>());
    return all;
  }

  // Why `rank` will never answer again ("left the world", "failed (...)", ...), or nothing while it may.
  virtual std::optional<std::string> lost(int rank) = 0;

  // Throws Error{rank_lost}: `rank` is lost, `how` as `lost` says it, while this one was `meanwhile`. The others are told.
  [[noreturn]] void fail_lost(int rank, std::string_view how, std::string_view meanwhile);

  // Throws Error{invalid_argument}: this rank has left its world, and `what` needs the others.
  [[noreturn]] void fail_over(std::string_view what) const;

  // Throws Error{timed_out}: `whom` ("rank 2 and 3") has not come in time. The others are told.
  [[noreturn]] void fail_late(std::chrono::nanoseconds waited, std::string_view where, std::string_view whom,
                              std::string_view what_to_do);

  // The same question for any thread, without the reason.
  virtual bool is_gone(int /*rank*/) const { return false; }

  // Tells the others that this rank is going, and why when it is not in good order.
  virtual void leave(std::string_view reason) = 0;

  virtual base::Cores cores() const = 0;

  // Whether ranks wait for one another's cores. Not where they take turns (sim): the clock stands still meanwhile.
  virtual bool crowded() const { return cores() == base::Cores::crowded; }

  // Where ranks take turns (sim): the others go on until something has happened to this rank; true. Throws
  // Error{rank_lost} or Error{timed_out} when nothing ever will. False, at once, where ranks run by themselves.
  virtual bool wait_turn(const Wait&) { return false; }

  // The clock that the ranks live by.
  virtual std::chrono::duration<double> now() const {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  std::chrono::milliseconds time_limit{30'000};

  // That ranks may run on, of all hosts together: the same on every rank.
  int usable_cores = 1;

  // What the others are told when an error ends this rank: the rank that it lost or waited for in vain, once
  // there is one.
  std::string trouble = "it ended with an error";

  // Called now and then while a collective call waits: a partner may still need this rank's share of a chain that it
  // has started before it can come to the same call. Whether messages of such chains move only while this rank looks.
  std::function<bool()> while_waiting = [] { return false; };

  void barrier(std::string_view what) { all_gather({}, what); }

  // Collective: what `make` gives on each rank, by rank. Where it throws an Error or finds no memory, every rank throws the first of
  // these, which names the rank.
  std::vector<base::Blob> make_together(std::string_view what, const std::function<base::Blob()>& make);

  // The same of what gives nothing.
  void do_together(std::string_view what, const std::function<void()>& act) {
    make_together(what, [&] {
      act();
      return base::Blob{};
    });
  }

 private:
  // Throws where this rank may not make a collective call, before it has told anybody anything.
  virtual void check_call(std::string_view /*what*/) {}

  virtual std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) = 0;

  // This rank is about to throw that it waits no longer: Errc::timed_out or Errc::rank_lost.
  virtual void note_failure(Errc) {}

  std::exception_ptr broken_;  // what has left a gather in the middle
};

}  // namespace tca::fabric
