// The control plane: how ranks meet and agree outside the hot path. Whatever brings the ranks up implements
// it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/codec.hpp"
#include "base/poll.hpp"
#include "control/all_gather.hpp"
#include "control/per_rank.hpp"
#include "tca/error.hpp"

namespace tca::control {

// Where the ranks are: for each rank, the number of its host and that of its sub-cluster. The ranks of a
// sub-cluster reach each other's memory directly; all are on one host.
struct Places {
  PerRank host, sub_cluster;
  // Why ranks of a host that was not meant to be divided are in several sub-clusters; empty if none are.
  std::string obstacle = {};

  bool same_sub_cluster(int rank, int other) const {
    return sub_cluster[static_cast<std::size_t>(rank)] == sub_cluster[static_cast<std::size_t>(other)];
  }
  // Returns how many lower ranks are on the same host.
  int seat(int rank) const {
    const auto end = host.begin() + rank;
    return static_cast<int>(std::count(host.begin(), end, *end));
  }

  // Returns the places of a world that is one sub-cluster.
  static Places together(int ranks) {
    const PerRank same(std::vector<int>(static_cast<std::size_t>(ranks), 0));
    return {same, same};
  }
};

// Describes what a rank is waiting for. Only called when an error message needs it.
class Wait {
 public:
  virtual ~Wait() = default;
  virtual std::string what() const = 0;  // completes the sentence "waits in ..."
  // The ranks that are missing, and in which chain and step.
  virtual ErrorFields about() const = 0;
};

// Why a rank leaves its world early, as the others are told: `reason` completes a sentence about the rank
// where the trouble began.
struct Trouble {
  std::string reason;
  std::optional<int> origin = {};  // that rank, if it is another one
};

// Why a rank will never answer again.
struct Loss {
  enum class How { left, failed, died } how = How::left;
  Trouble trouble = {};  // of a rank that failed or died

  // Completes a sentence that begins with the rank: "left the world", "failed (rank 2 died (...))".
  std::string in_words() const;

  // Returns what a rank that has encountered this loss of `rank` tells others. If the trouble began
  // elsewhere, it is passed on unchanged.
  Trouble passed_on(int rank) const;
};

// Bytes from one rank for another: `rank` is the recipient and, after delivery, the sender.
struct Letter {
  int rank = 0;
  base::Blob bytes = {};
};

// Numbers by which ranks agree: for each, the largest that any rank contributes.
using Votes = std::array<std::uint64_t, 5>;

// Contributed by every rank, these two numbers come out unchanged only if all ranks have contributed the
// same.
inline std::pair<std::uint64_t, std::uint64_t> vote_for(std::uint64_t same) { return {same, ~same}; }
inline bool all_voted_alike(std::uint64_t first, std::uint64_t second) { return first == ~second; }

// The votes of a meeting, preceded by those that tell whether all ranks make the same call.
struct Ballot {
  std::uint64_t call = 0, not_call = ~std::uint64_t{0};
  Votes votes = {};

  // `what` names the call in errors.
  static Ballot in(std::string_view what, const Votes& votes = {});
  void add(const Ballot& other);
  bool is_of_one_call() const { return all_voted_alike(call, not_call); }
};

// What an exchange has delivered to a rank: letters in the order of their senders, and the votes of all
// ranks.
struct Exchanged {
  std::vector<Letter> letters;
  Votes votes = {};
};

class Control {
 public:
  virtual ~Control() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Returns the number that messages use for a rank.
  virtual int called(int rank) const { return rank; }

  // Collective. Returns every rank's bytes, by rank. `what` names the call in errors ("... while waiting
  // for it in <what>"). Throws:
  //   - Error{timed_out} or Error{rank_lost}, which names the ranks that have not arrived, and whatever
  //     `while_waiting` throws. The ranks are then at different calls, so every further call throws the same.
  //   - Error{refused}, on every rank alike, if the ranks' `what` shows that they are in different calls.
  std::vector<base::Blob> all_gather(const base::Blob& mine, std::string_view what);

  // The same without a copy: calls `read` with what each rank has contributed, in rank order.
  void all_gather_each(const base::Blob& mine, std::string_view what,
                       const std::function<void(std::size_t rank, std::span<const std::byte> theirs)>& read);

  // The same for a value whose bytes mean the same on every rank.
  template <class T>
  std::vector<T> all_gather_value(const T& mine, std::string_view what) {
    std::vector<T> all;
    for (const base::Blob& blob : all_gather(base::Writer().put(mine).blob(), what))
      all.push_back(base::Reader(blob).get<T>());
    return all;
  }

  // Collective. Delivers letters to their recipients, who need not expect them, and has all ranks vote. The
  // cost to a rank grows with its letters, and with the number of ranks only as one reduction does. A rank
  // has at most one letter for each other rank, and none for itself. Throws like `all_gather`.
  Exchanged exchange(const std::vector<Letter>& letters, const Votes& votes, std::string_view what);

  // Returns how often this rank has met the others so far, in all_gather, in exchange, and in calls built
  // on them.
  std::uint64_t meetings() const { return meetings_; }

  // Returns why `rank` will never answer again, or nothing while it may still answer.
  virtual std::optional<Loss> lost(int rank) = 0;

  // Throws Error{rank_lost}: `rank` was lost while this one was `meanwhile`; `loss` is what `lost`
  // returned. `trouble` then tells the others so.
  [[noreturn]] void fail_lost(int rank, const Loss& loss, std::string_view meanwhile, ErrorFields about = {});

  // Throws Error{invalid_argument}: this rank has left its world, and `what` needs the others.
  [[noreturn]] void fail_over(std::string_view what) const;

  // Throws Error{timed_out}: those in `about.missing` have not arrived in time, or, if no rank is missing,
  // what `otherwise` says. `trouble` then tells the others so.
  [[noreturn]] void fail_late(std::chrono::nanoseconds waited, std::string_view where, ErrorFields about,
                              std::string_view what_to_do, std::string_view otherwise = {});

  // Returns whether `rank` is lost. Any thread may call this, unlike `lost`.
  virtual bool is_gone(int /*rank*/) const { return false; }

  // Tells the others that this rank is leaving: in good order, or because of trouble.
  virtual void leave(const std::optional<Trouble>& trouble) = 0;

  virtual base::Cores cores() const = 0;

  // Returns whether ranks wait for one another's cores. They do not if they take turns (sim), because the
  // clock stands still meanwhile.
  virtual bool crowded() const { return cores() == base::Cores::crowded; }

  // If ranks take turns (sim): lets the others run until something has happened to this rank, or `at_most`
  // has passed on the modelled clock, then returns true. Throws Error{rank_lost} or Error{timed_out} if
  // nothing ever will. If ranks run by themselves, returns false at once.
  virtual bool wait_turn(const Wait&,
                         std::chrono::nanoseconds /*at_most*/ = std::chrono::nanoseconds::max()) {
    return false;
  }

  // Returns the time on the ranks' clock, which may be a modelled one.
  virtual std::chrono::duration<double> now() const {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  // Begins an exchange among some ranks, including this one, which must begin the exchanges that they share
  // in the same order. Ends when the object is destroyed. Called by GroupControl.
  virtual std::unique_ptr<AllGather> begin_among(const Subset& subset, const base::Blob& mine) = 0;

  std::chrono::milliseconds time_limit{30'000};

  // Cores that ranks may run on, over all hosts; the same on every rank.
  int usable_cores = 1;

  // What the others are told if an error ends this rank. Once it has lost a rank or waited for one in vain,
  // this names that rank.
  Trouble trouble{"it ended with an error"};

  // Called periodically while a collective waits. A peer may be stuck in an earlier chain until this rank
  // progresses it, and would never reach the collective. Returns whether messages of such chains move only
  // while this rank polls.
  std::function<bool()> while_waiting = [] { return false; };

  void barrier(std::string_view what) { exchange({}, {}, what); }

  // Collective. Calls `make` and returns what it has returned on each rank, by rank. If it throws an Error
  // or std::bad_alloc on some ranks, every rank throws the error of the lowest of them, which names all
  // ranks that hit the same one. So a rank that cannot continue, even because of its arguments, leaves no
  // other waiting for it.
  std::vector<base::Blob> make_together(std::string_view what, const std::function<base::Blob()>& make);

  // The two halves of make_together, for calls that gather in their own way. `attempt` returns what this
  // rank contributes: what `make` returns, or its error. `require_all` takes what `attempt` has returned on
  // all ranks, and leaves what `make` returned.
  base::Blob attempt(std::string_view what, const std::function<base::Blob()>& make) const;
  void require_all(std::vector<base::Blob>& all) const;

  // Like make_together, for a function that returns nothing. Ranks gather only if it throws on some rank.
  void do_together(std::string_view what, const std::function<void()>& act);

 protected:
  // What the ranks of an exchange have laid out for this one, in one piece each, and how all have voted.
  struct Delivered {
    std::vector<Letter> from;
    Ballot ballot = {};
  };

  // Waits until an exchange is complete, and returns its result. Throws like `all_gather`; `what_to_do`
  // ends the sentence about ranks that have not arrived in time.
  std::vector<base::Blob> complete(AllGather& exchange, std::string_view what, std::string_view what_to_do);

  // The same, for an exchange whose bytes the caller takes itself.
  void await(AllGather& exchange, std::string_view what, std::string_view what_to_do);

 private:
  friend class GroupControl;

  template <class Meet>
  auto meet(std::string_view what, const Meet& how);

  // Throws if this rank may not make a collective call. It is called before anything is sent.
  virtual void check_call(std::string_view /*what*/) {}

  virtual std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) = 0;

  // The same, as a result that nobody modifies. A control plane overrides this if ranks can share it.
  virtual std::shared_ptr<const std::vector<base::Blob>> gather_shared(const base::Blob& mine,
                                                                       std::string_view what) {
    return std::make_shared<const std::vector<base::Blob>>(gather(mine, what));
  }

  // Delivers what this rank lays out, at least to its readers. If the ballots are not all of one call,
  // returns what every rank has laid out. A control plane overrides this if it can do better than `gather`.
  virtual Delivered deliver(const base::Blob& mine, std::span<const int> readers, const Ballot& ballot,
                            std::string_view what);

  // Called when this rank is about to give up waiting, with Errc::timed_out or Errc::rank_lost.
  virtual void note_failure(Errc) {}

  std::uint64_t meetings_ = 0;
  std::exception_ptr broken_;  // the error that has ended a gather in the middle
};

}  // namespace tca::control
