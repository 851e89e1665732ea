// The control plane: how ranks meet and agree outside the hot path. It is implemented by whatever brings the
// ranks up.
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
// sub-cluster reach each other's memory directly; it lies within a host.
struct Places {
  PerRank host, sub_cluster;
  // Why ranks of a host that were not to be divided are in several sub-clusters; empty where none are.
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

// Describes what a rank waits for. It is asked only when an error message needs it.
class Wait {
 public:
  virtual ~Wait() = default;
  virtual std::string what() const = 0;  // completes the sentence "waits in ..."
  // The ranks that are missing, and the chain and the step that they are missing in.
  virtual ErrorFields about() const = 0;
};

// Why a rank leaves its world before the end, as the others are told: `reason` completes a sentence about the
// rank where it began.
struct Trouble {
  std::string reason;
  std::optional<int> origin = {};  // that rank, where it is another one
};

// Why a rank will never answer again.
struct Loss {
  enum class How { left, failed, died } how = How::left;
  Trouble trouble = {};  // of a rank that failed or died

  // Completes a sentence that begins with the rank: "left the world", "failed (rank 2 died (...))".
  std::string in_words() const;

  // Returns what the rank that has met this loss of `rank` tells others. Where the trouble began elsewhere,
  // it is passed on as it is.
  Trouble passed_on(int rank) const;
};

// Bytes of one rank for another: `rank` is whom they are for and, once they have come, whom they are from.
struct Letter {
  int rank = 0;
  base::Blob bytes = {};
};

// Numbers by which ranks agree: of each, the largest that one of them brings.
using Votes = std::array<std::uint64_t, 5>;

// The same two numbers, brought by every rank, come out as they went in only where all have brought the same.
inline std::pair<std::uint64_t, std::uint64_t> vote_for(std::uint64_t same) { return {same, ~same}; }
inline bool all_voted_alike(std::uint64_t first, std::uint64_t second) { return first == ~second; }

// The votes of a meeting, before which those that tell whether all ranks make the same call.
struct Ballot {
  std::uint64_t call = 0, not_call = ~std::uint64_t{0};
  Votes votes = {};

  // `what` names the call in errors.
  static Ballot in(std::string_view what, const Votes& votes = {});
  void add(const Ballot& other);
  bool is_of_one_call() const { return all_voted_alike(call, not_call); }
};

// What an exchange has brought to a rank: letters in the order of their senders, and the votes of all ranks.
struct Exchanged {
  std::vector<Letter> letters;
  Votes votes = {};
};

class Control {
 public:
  virtual ~Control() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Returns the number by which messages call a rank.
  virtual int called(int rank) const { return rank; }

  // Collective. Returns every rank's bytes, by rank. `what` names the call in errors ("... while waiting for
  // it in <what>"). Throws:
  //   - Error{timed_out} or Error{rank_lost}, which names the ranks that have not come, and whatever
  //     `while_waiting` throws. The ranks are then at different calls, so every further call throws the same.
  //   - Error{refused}, on every rank alike, when the ranks' `what` shows that they are in different calls.
  std::vector<base::Blob> all_gather(const base::Blob& mine, std::string_view what);

  // The same without a copy: calls `read` with what each rank has brought, in their order.
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

  // Collective. Brings letters to those whom they are for, who need not know of them, and has all ranks vote. What
  // it costs a rank grows with its letters, and with the number of ranks only as one reduction does. A rank has at
  // most one letter for each other rank, and none for itself. Throws as `all_gather` does.
  Exchanged exchange(const std::vector<Letter>& letters, const Votes& votes, std::string_view what);

  // Returns how often this rank has met the others so far, in all_gather, in exchange, and in what is made of them.
  std::uint64_t meetings() const { return meetings_; }

  // Returns why `rank` will never answer again, or nothing while it may still answer.
  virtual std::optional<Loss> lost(int rank) = 0;

  // Throws Error{rank_lost}: `rank` was lost while this one was `meanwhile`; `loss` is what `lost` returned.
  // `trouble` then says so to the others.
  [[noreturn]] void fail_lost(int rank, const Loss& loss, std::string_view meanwhile, ErrorFields about = {});

  // Throws Error{invalid_argument}: this rank has left its world, and `what` needs the others.
  [[noreturn]] void fail_over(std::string_view what) const;

  // Throws Error{timed_out}: those in `about.missing` have not come in time, or, where no rank is missing,
  // what `otherwise` says. `trouble` then says so to the others.
  [[noreturn]] void fail_late(std::chrono::nanoseconds waited, std::string_view where, ErrorFields about,
                              std::string_view what_to_do, std::string_view otherwise = {});

  // Returns whether `rank` is lost. Any thread may call this, unlike `lost`.
  virtual bool is_gone(int /*rank*/) const { return false; }

  // Tells the others that this rank leaves: in good order, or because of a trouble.
  virtual void leave(const std::optional<Trouble>& trouble) = 0;

  virtual base::Cores cores() const = 0;

  // Returns whether ranks wait for one another's cores. This is not so where they take turns (sim), because
  // the clock stands still meanwhile.
  virtual bool crowded() const { return cores() == base::Cores::crowded; }

  // Where ranks take turns (sim): lets the others run until something has happened to this rank, then returns
  // true, which after `at_most` by the modelled clock is so in any case. Throws Error{rank_lost} or
  // Error{timed_out} when nothing ever will. Where ranks run by themselves, returns false at once.
  virtual bool wait_turn(const Wait&,
                         std::chrono::nanoseconds /*at_most*/ = std::chrono::nanoseconds::max()) {
    return false;
  }

  // Returns the time on the clock of the ranks, which may be a modelled one.
  virtual std::chrono::duration<double> now() const {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  // Begins an exchange among some ranks, this one among them, which must begin the exchanges that they have in
  // common in the same order. Ends when the object is destroyed. Called by GroupControl.
  virtual std::unique_ptr<AllGather> begin_among(const Subset& subset, const base::Blob& mine) = 0;

  std::chrono::milliseconds time_limit{30'000};

  // Cores that ranks may run on, over all hosts; the same on every rank.
  int usable_cores = 1;

  // What the others are told when an error ends this rank. Once it has lost a rank or waited for one in vain,
  // this names that rank.
  Trouble trouble{"it ended with an error"};

  // Called periodically while a collective waits. A peer may be stuck in an earlier chain until this rank
  // progresses it, and would never reach the collective. Returns whether messages of such chains move only
  // while this rank polls.
  std::function<bool()> while_waiting = [] { return false; };

  void barrier(std::string_view what) { exchange({}, {}, what); }

  // Collective. Calls `make` and returns what it has returned on each rank, by rank. If it throws an Error or
  // std::bad_alloc on some ranks, every rank throws the error of the lowest of them, which names all ranks
  // that met the same one. So a rank that cannot go on, also for the arguments it was called with, leaves no
  // other waiting for it.
  std::vector<base::Blob> make_together(std::string_view what, const std::function<base::Blob()>& make);

  // The two halves of make_together, for calls that gather in their own way. `attempt` returns what this rank
  // brings: what `make` returns, or its error. `require_all` takes what `attempt` has returned on all ranks,
  // and leaves what `make` did.
  base::Blob attempt(std::string_view what, const std::function<base::Blob()>& make) const;
  void require_all(std::vector<base::Blob>& all) const;

  // As make_together, for a function that returns nothing. Only where it throws on some rank do the ranks gather.
  void do_together(std::string_view what, const std::function<void()>& act);

 protected:
  // What the ranks of an exchange have laid out for this one, each in one piece, and how all have voted.
  struct Delivered {
    std::vector<Letter> from;
    Ballot ballot = {};
  };

  // Waits until an exchange is complete, and returns what it brought. Throws as `all_gather` does; `what_to_do`
  // ends the sentence about ranks that have not come in time.
  std::vector<base::Blob> complete(AllGather& exchange, std::string_view what, std::string_view what_to_do);

  // The same, for an exchange whose bytes the caller takes itself.
  void await(AllGather& exchange, std::string_view what, std::string_view what_to_do);

 private:
  friend class GroupControl;

  template <class Meet>
  auto meet(std::string_view what, const Meet& how);

  // Throws where this rank may not make a collective call. It is called before anything is sent.
  virtual void check_call(std::string_view /*what*/) {}

  virtual std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) = 0;

  // The same, of which nobody changes anything. A control plane overrides this where ranks can have it in common.
  virtual std::shared_ptr<const std::vector<base::Blob>> gather_shared(const base::Blob& mine,
                                                                       std::string_view what) {
    return std::make_shared<const std::vector<base::Blob>>(gather(mine, what));
  }

  // Brings what this rank lays out to its readers, at least. Where the ballot is not of one call, returns what
  // every rank has laid out. A control plane overrides this if it can do better than `gather`.
  virtual Delivered deliver(const base::Blob& mine, std::span<const int> readers, const Ballot& ballot,
                            std::string_view what);

  // Called when this rank is about to give up waiting, with Errc::timed_out or Errc::rank_lost.
  virtual void note_failure(Errc) {}

  std::uint64_t meetings_ = 0;
  std::exception_ptr broken_;  // the error that has ended a gather in the middle
};

}  // namespace tca::control
