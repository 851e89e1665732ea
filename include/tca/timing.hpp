/// @file
/// How long the messages of a chain take, with waiting for a partner and carriage reported separately:
///
///     tca::Chain chain = world.chain("faces", {.timed = true});  // or OPENTCA_TIMING=1
///     ...
///     std::cout << chain.timing().describe();
///
/// A message is all that one rank puts to another in a step. Its receiver takes the times; the time at
/// which the sender began its `start` arrives with the message:
///
///   - Waiting: from the receiver's first look (by `wait`, `wait_for` or `test`) until the sender began its
///     start; 0 if that was before.
///   - Carriage: from the start of the step on both ranks, the later one, until the receiver has seen that
///     all of the message is in place. `Chain::explain` shows it beside the prediction for all puts and for
///     the crossing of the signal that ends them.
///
/// Anything that the first look finds in place has arrived while the receiver did something else, and
/// nobody knows when: it counts as `there_at_once`, with a waiting of 0 and no carriage. Carriage is as
/// exact as looks are frequent; `wait` looks all the time.
///
/// The clock is the one that the ranks of a host share, and on sim the virtual one. Ranks of different
/// hosts, and GPUs, do not share one. There a stamp goes ahead of each message, and from the arrival times
/// of the stamps in the last steps a rank knows when its partner began, by its own clock: this is exact if
/// stamps take equally long both ways. If a rank sends nothing back it is not known how long a stamp takes,
/// and that counts as waiting.
///
/// On GPUs kernels take the times: those with which the host, a stream or a graph runs the steps, and the
/// program's own that make a TimedBlockChain or a TimedGridChain from `Chain::device_timed`
/// (tca/chain.cuh). The last 1,024 messages of each sender are kept until `Chain::timing` reads them, after
/// a kernel's end. Older ones, and those whose kernel at either end took no times (a plain BlockChain, the
/// resident engine), are `untimed`.
///
/// Over MPI a message has arrived when MPI says so, which is when this rank looks. Messages of GPU memory
/// over MPI, messages that use several fabrics, and produced puts are not timed; `describe` names the ranks
/// concerned. A chain that is not timed spends nothing on all this: the timed steps are separate code,
/// which `commit` chooses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tca/detail/api.hpp"

namespace tca {

/// Times, counted in 64 buckets: 0, and those from 1, 16, 24, 32, 48, 64... ns on, two per power of two;
/// the last is for everything from 26 s on.
class TCA_API TimeDistribution {
 public:
  static constexpr int bucket_count = 64;

  /// Returns the bucket of a time, and the shortest time in a bucket. Negative times count as 0.
  static int bucket_of(std::int64_t ns);
  static std::int64_t lower_bound_ns(int bucket);

  void add(std::int64_t ns);

  std::uint64_t count() const { return count_; }
  const std::array<std::uint64_t, bucket_count>& buckets() const { return buckets_; }

  /// These are exact. All are 0 while there are no times.
  double minimum_us() const { return static_cast<double>(minimum_ns_) * 1e-3; }
  double maximum_us() const { return static_cast<double>(maximum_ns_) * 1e-3; }
  double total_us() const { return static_cast<double>(total_ns_) * 1e-3; }

  /// Returns the time that `fraction` of all do not exceed, as exactly as the buckets allow: times are
  /// assumed to be spread evenly over theirs.
  double quantile_us(double fraction) const;
  double median_us() const { return quantile_us(0.5); }
  double p99_us() const { return quantile_us(0.99); }

 private:
  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  std::int64_t minimum_ns_ = 0, maximum_ns_ = 0, total_ns_ = 0;
};

/// What a rank has seen of the messages from one other.
struct MessageTiming {
  int from = 0;
  std::string fabric = {};  ///< that carries them
  bool measured = true;     ///< whether that fabric takes times
  /// How long all puts of a message should take together, by the costs that this rank has for the opposite
  /// direction; nothing if that is not known.
  std::optional<double> predicted_us = {};
  std::uint64_t count = 0;  ///< of those whose times were taken
  std::uint64_t untimed = 0;
  std::uint64_t there_at_once = 0;
  TimeDistribution waiting = {};
  TimeDistribution carriage = {};
};

/// The times of a chain's messages to this rank, since its commit or the last `Chain::clear_timing`.
struct TCA_API Timing {
  std::string chain = {};
  bool timed = false;                        ///< whether the chain is, from its commit on
  std::vector<MessageTiming> messages = {};  ///< by their senders

  /// Returns a table with a line for every sender, or says why there is none.
  std::string describe() const;

  /// Returns one JSON object, with the buckets that are not empty as pairs of the shortest time (ns) and a count.
  std::string json() const;
};

}  // namespace tca
