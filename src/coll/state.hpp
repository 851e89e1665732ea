// A collective as one rank runs it: either the rounds of its schedule, each a committed chain, or the
// fabric's kernels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coll/choose.hpp"
#include "coll/kernels.hpp"

namespace tca::coll {

class State {
 public:
  State(World& world, raw::Request request, Elements elements);

  void require_startable() const;
  void start();
  bool test();
  void wait();
  bool wait_for(std::chrono::nanoseconds duration);
  // Order a run on a stream: by the fabric's kernels, or as a sequence of chains. They throw
  // Error{invalid_argument} if work between the chains needs the host.
  void start_on(Stream stream);
  void wait_on(Stream stream);
  void run_on(Stream stream);
  const std::string& algorithm() const { return algorithm_; }
  std::string explain() const;
  const Elements& elements() const { return elements_; }
  bool on_host() const { return on_host_; }
  std::string title() const;

 private:
  // A Combine with its addresses, so that the host or the fabric's fold can carry it out.
  struct Work {
    Combine what;
    std::byte* into = nullptr;
    std::vector<const std::byte*> operands;
    std::unique_ptr<fabric::Fold> fold;
  };
  struct Step {
    Chain* chain;  // null if this rank only has local work
    std::vector<Work> copies, combines;
  };

  std::vector<Candidate> find_candidates(const World& world) const;
  const Candidate* choose() const;
  void agree_on(World& world, const Candidate* chosen) const;
  void build(World& world, const Candidate& chosen);
  void require_streams(const char* call);
  void require_whole() const;
  void require_waitable(const char* call) const;
  void require_started(const char* call) const;
  Round as_chain(const Round& round) const;
  void commit(World& world, const Schedule& schedule);
  void add_step(const World& world, const Round& round, Chain& chain);
  void add(Chain& chain, const Put& put) const;
  std::vector<Work> resolve(const World& world, const std::vector<Combine>& combines) const;
  std::byte* address(const Slice& slice) const;
  void begin_round();
  void end_round();
  void run_on(const Step& step, Stream stream);
  void fold_on(const Step& step, Stream stream);
  void run(const std::vector<Work>& all);
  void combine(std::byte* into, const std::byte* const* operands, std::size_t operand_count,
               std::size_t count);
  void combine_staged(const Combine& what);

  // Lines form the block of `block_bytes` through which a combination of three or more operands accumulates,
  // so that it stays in the first-level cache.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static constexpr std::size_t block_bytes = 4096;

  raw::Request request_;
  Elements elements_;
  Problem problem_;
  std::vector<Candidate> candidates_;  // the preferred one first
  std::string algorithm_;
  bool on_host_, checks_steps_;
  std::optional<InKernels> kernels_;  // if set, the members below are unused
  std::vector<Chain> chains_;
  std::vector<Step> steps_;
  std::vector<Line> block_;
  std::size_t at_ = 0;  // the next step or the one under way; steps_.size() if there is none
  bool begun_ = false;  // whether that step is under way
  bool running_ = false;
  bool on_stream_ = false;        // the last run was ordered on a stream
  bool awaited_ = true;           // no run has been started since the last wait
  bool partly_combined_ = false;  // set for good once a combination or a copy has failed
};

}  // namespace tca::coll
