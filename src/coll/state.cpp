#include "coll/state.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/fail.hpp"
#include "coll/agree.hpp"
#include "core/world/window_state.hpp"

namespace tca::coll {

State::State(World& world, raw::Request request, Elements elements)
    : request_(std::move(request)),
      elements_(std::move(elements)),
      problem_{request_.kind,
               world.rank(),
               world.size(),
               request_.root,
               request_.count.value(),
               elements_.in_place(),
               elements_.has_own_function(),
               core::WorldState::of(world).sub_cluster_of_ranks()},
      candidates_(find_candidates(world)),
      on_host_(core::WorldState::of(world).accelerator() == nullptr),
      checks_steps_(core::WorldState::of(world).checks_steps()) {
  const Candidate* const chosen = choose();
  agree_on(world, chosen);
  algorithm_ = chosen->name;
  build(world, *chosen);
  block_.resize((std::max(block_bytes, elements_.bytes()) + sizeof(Line) - 1) / sizeof(Line));
}

// Lists kernels before chains, whatever either costs: with chains the host might have to combine. An
// impossible request is refused only when all ranks compare theirs, so here something valid is priced in
// its place.
std::vector<Candidate> State::find_candidates(const World& world) const {
  Problem valid = problem_;
  if (!is_countable(valid.count, valid.ranks, elements_.bytes())) valid.count = 0;
  if (valid.root < 0 || valid.root >= valid.ranks) valid.root = 0;
  const core::WorldState& state = core::WorldState::of(world);
  std::vector<Candidate> all;
  for (const fabric::CollectiveWay& way : kernel_ways(state, request_, elements_))
    all.push_back({way.name, nullptr, way.predicted_us});
  const std::vector<Candidate> chains = candidates(valid, WorldCosts(state, elements_.bytes()));
  all.insert(all.end(), chains.begin(), chains.end());
  return all;
}

// Returns null if the forced algorithm is not among the candidates.
const Candidate* State::choose() const {
  const std::string& forced = request_.options.algorithm;
  const auto chosen = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& candidate) {
    return forced.empty() || is_called(candidate.name, forced);
  });
  return chosen == candidates_.end() ? nullptr : &*chosen;
}

// Throws, on every rank alike, unless all ranks ask for the same and have chosen the same algorithm.
void State::agree_on(World& world, const Candidate* chosen) const {
  if (chosen != nullptr) return agree(world, request_, elements_, {}, chosen->name);
  std::vector<std::string_view> names;
  for (const Candidate& candidate : candidates_) names.push_back(candidate.name);
  const std::string unknown =
      fmt::format("{} of {} ranks has no algorithm '{}'; there are {}", to_string(request_.kind),
                  problem_.ranks, request_.options.algorithm, fmt::join(names, ", "));
  agree(world, request_, elements_, unknown, {});
}

void State::build(World& world, const Candidate& chosen) {
  if (request_.count.value() == 0 && request_.kind != CollectiveKind::barrier) return;
  if (chosen.make == nullptr)
    kernels_.emplace(core::WorldState::of(world), request_, elements_, algorithm_, title());
  else
    commit(world, *chosen.make(problem_));
}

namespace {

// The C library's memcpy bypasses the caches from a certain size on. It derives that size from what it
// believes to be this core's share of the last-level cache, which on virtual machines is far too little:
// there 1 MB took five times as long in one piece as in several. Data of more pieces than this outgrows the
// caches anyway.
constexpr std::size_t piece_bytes = 128 << 10, most_pieces = 128;

std::size_t piece_of(std::size_t bytes) { return std::max(piece_bytes, bytes / most_pieces + 1); }

void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t piece = piece_of(bytes);
  for (std::size_t at = 0; at < bytes; at += piece)
    std::memcpy(to + at, from + at, std::min(piece, bytes - at));
}

}  // namespace

void State::add(Chain& chain, const Put& put) const {
  if (put.count == 0) {
    chain.signal(put.to);
    return;
  }
  const std::size_t size = elements_.bytes();
  const auto most = static_cast<std::int64_t>(
      std::max<std::size_t>(piece_of(static_cast<std::size_t>(put.count) * size) / size, 1));
  for (std::int64_t done = 0; done < put.count; done += most) {
    Put piece = put;
    piece.to_first += done;
    piece.from_first += done;
    piece.count = std::min(most, put.count - done);
    elements_.put(chain, piece);
  }
}

// Returns the round as its chain carries it. If windows are an accelerator's memory, a rank's copies become
// puts to itself, which need no host.
Round State::as_chain(const Round& round) const {
  Round chain = round;
  if (on_host_) return chain;
  chain.copies.clear();
  for (const Combine& copy : round.copies) {
    const Slice& from = copy.operands.front();
    if (copy.count == 0 || address(copy.into) == address(from)) continue;
    chain.puts.push_back(
        {problem_.rank, copy.into.buffer, copy.into.first, from.buffer, from.first, copy.count});
    chain.expect(problem_.rank);
  }
  return chain;
}

// Commits a chain for every round, on every rank, even if a rank has no part in it.
void State::commit(World& world, const Schedule& schedule) {
  if (schedule.scratch > 0) {
    elements_.make_scratch(world, schedule.scratch, title_of("scratch", request_.kind, request_.name));
  }
  std::vector<Round> rounds;
  for (const Round& laid_down : schedule.rounds) rounds.push_back(as_chain(laid_down));
  chains_.reserve(rounds.size());
  for (const Round& round : rounds) {
    Chain& chain = chains_.emplace_back(world.chain(
        fmt::format("{}: {} by {}, round {} of {}", request_.name, to_string(request_.kind), algorithm_,
                    chains_.size() + 1, rounds.size()),
        {.guarded = true, .time_limit = request_.options.time_limit, .channel = request_.options.channel}));
    for (const Put& put : round.puts) add(chain, put);
    for (const int rank : round.expected) chain.expect(rank);
    chain.commit();
  }
  const auto add_steps = [&] {
    for (std::size_t i = 0; i < rounds.size(); ++i) add_step(world, rounds[i], chains_[i]);
  };
  // On an accelerator one rank may lack the room for what it combines; then all must throw.
  if (on_host_)
    add_steps();
  else
    core::WorldState::of(world).control().do_together(title(), add_steps);
  at_ = steps_.size();
}

void State::add_step(const World& world, const Round& round, Chain& chain) {
  const bool communicates = !round.puts.empty() || !round.expected.empty();
  Step step{communicates ? &chain : nullptr, resolve(world, round.copies), resolve(world, round.combines)};
  if (communicates || !step.copies.empty() || !step.combines.empty()) steps_.push_back(std::move(step));
}

std::byte* State::address(const Slice& slice) const {
  return elements_.data(slice.buffer) + static_cast<std::size_t>(slice.first) * elements_.bytes();
}

std::vector<State::Work> State::resolve(const World& world, const std::vector<Combine>& combines) const {
  const std::optional<fabric::Reduction> reduction = reduction_of(elements_);
  fabric::Accelerator* const accelerator = core::WorldState::of(world).accelerator();
  std::vector<Work> all;
  for (const Combine& combine : combines) {
    if (combine.count == 0) continue;
    Work work{combine, address(combine.into), {}, nullptr};
    for (const Slice& slice : combine.operands) work.operands.push_back(address(slice));
    if (work.operands.size() == 1 && work.operands[0] == work.into) continue;
    const std::uint64_t bytes = static_cast<std::uint64_t>(combine.count) * elements_.bytes();
    const bool copies = work.operands.size() == 1;
    if (accelerator != nullptr && (copies || reduction))
      work.fold =
          accelerator->make_fold({copies ? std::nullopt : reduction, work.into, work.operands, bytes});
    all.push_back(std::move(work));
  }
  return all;
}

std::string State::title() const { return fmt::format("{} '{}'", to_string(request_.kind), request_.name); }

void State::require_startable() const {
  require_whole();
  if (running_) {
    base::fail(Errc::invalid_argument, "start of the {} while a run of it is under way; wait for it first",
               title());
  }
}

void State::start() {
  require_startable();
  running_ = true;
  on_stream_ = awaited_ = false;
  if (kernels_) return kernels_->share().start();
  at_ = 0;
  if (!steps_.empty()) begin_round();
}

void State::require_streams(const char* call) {
  require_whole();
  if (running_) {
    base::fail(Errc::invalid_argument,
               "{} of the {} on a stream while a run of it by the host is under way; wait for it first", call,
               title());
  }
  if (on_host_) {
    base::fail(
        Errc::invalid_argument,
        "{} of the {} on a stream: the world's fabric has no streams; call it without one, or choose the "
        "fabric cuda (option fabric or OPENTCA_FABRIC)",
        call, title());
  }
  if (kernels_) return kernels_->check();
  const bool by_host = std::any_of(steps_.begin(), steps_.end(), [](const Step& step) {
    const auto needs_host = [](const Work& work) { return work.fold == nullptr; };
    return !step.copies.empty() || std::any_of(step.combines.begin(), step.combines.end(), needs_host);
  });
  if (!by_host) return;
  base::fail(Errc::invalid_argument,
             "{} of the {} on a stream: it goes by {}, whose values the host combines; call it without a "
             "stream, or, if it combines, with a sum, min, max or product of float, double, int32 or int64",
             call, title(), algorithm_);
}

void State::run_on(const Step& step, Stream stream) {
  if (step.chain != nullptr) step.chain->run(stream);
  fold_on(step, stream);
}

void State::fold_on(const Step& step, Stream stream) {
  for (const Work& work : step.combines) work.fold->run_on(stream);
}

void State::start_on(Stream stream) {
  require_streams("start");
  on_stream_ = true;
  awaited_ = false;
  if (kernels_) return kernels_->share().start_on(stream);
  for (const Step& step : steps_) {
    if (&step != &steps_.back())
      run_on(step, stream);
    else if (step.chain != nullptr)
      step.chain->start(stream);
  }
}

void State::wait_on(Stream stream) {
  require_streams("wait");
  require_started("wait");
  awaited_ = true;
  if (kernels_) return kernels_->share().wait_on(stream);
  if (steps_.empty()) return;
  const Step& last = steps_.back();
  if (last.chain != nullptr) last.chain->wait(stream);
  fold_on(last, stream);
}

void State::run_on(Stream stream) {
  require_streams("run");
  on_stream_ = awaited_ = true;
  if (kernels_) return kernels_->share().run_on(stream);
  for (const Step& step : steps_) run_on(step, stream);
}

// Throws if an earlier run failed in the middle of a combination: what is partly combined cannot be
// combined again.
void State::require_whole() const {
  if (!partly_combined_) return;
  base::fail(
      Errc::invalid_argument,
      "the {} cannot go on: copying or combining its values has failed, and they are combined in part; "
      "destroy it and make another on every rank",
      title());
}

// Throws, as a chain does, for a run on a stream: returning at once would look like an arrival.
void State::require_waitable(const char* call) const {
  require_whole();
  if (running_) return;
  if (on_stream_) {
    base::fail(Errc::invalid_argument,
               "{} of the {}, whose last run was ordered on a stream: order the wait on that stream as well "
               "(wait(stream)), and synchronise with it where the host needs the output",
               call, title());
  }
  require_started(call);
}

// If steps are checked, throws unless a run was started that has not been waited for yet.
void State::require_started(const char* call) const {
  if (!awaited_ || !checks_steps_) return;
  base::fail(Errc::invalid_argument,
             "{} of the {} without a start: no run of it was started since the last wait; call start first "
             "(steps are checked: OPENTCA_CHECK or option check_steps)",
             call, title());
}

void State::begin_round() {
  const Step& step = steps_[at_];
  if (step.chain != nullptr) step.chain->start();
  run(step.copies);
  begun_ = true;
}

void State::end_round() {
  run(steps_[at_].combines);
  begun_ = false;
  ++at_;
}

bool State::test() {
  require_waitable("test");
  if (!running_) return true;
  if (kernels_) {
    running_ = !kernels_->share().test();
    return !running_;
  }
  for (; at_ < steps_.size(); end_round()) {
    if (!begun_) begin_round();
    if (steps_[at_].chain != nullptr && !steps_[at_].chain->test()) return false;
  }
  running_ = false;
  return true;
}

void State::wait() {
  require_waitable("wait");
  awaited_ = true;
  if (!running_) return;
  if (kernels_) kernels_->wait();
  for (; at_ < steps_.size(); end_round()) {
    if (!begun_) begin_round();
    if (steps_[at_].chain != nullptr) steps_[at_].chain->wait();
  }
  running_ = false;
}

bool State::wait_for(std::chrono::nanoseconds duration) {
  require_waitable("wait_for");
  const control::Control& control = core::WindowState::of(elements_.input())->world().control();
  const std::chrono::duration<double> begin = control.now();
  const auto left = [&] {
    const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(control.now() - begin);
    return std::max<std::chrono::nanoseconds>(duration - passed, {});
  };
  if (running_ && kernels_ && !kernels_->wait(left())) return false;
  for (; at_ < steps_.size(); end_round()) {
    if (!begun_) begin_round();
    if (steps_[at_].chain != nullptr && !steps_[at_].chain->wait_for(left())) return false;
  }
  awaited_ = true;
  running_ = false;
  return true;
}

namespace {

// Sets `failed` during its lifetime. It stays set if an exception ends that.
class FailureMark {
 public:
  explicit FailureMark(bool& failed) : failed_(failed) { failed_ = true; }
  FailureMark(const FailureMark&) = delete;
  ~FailureMark() { failed_ = std::uncaught_exceptions() > thrown_before_; }

 private:
  bool& failed_;
  const int thrown_before_ = std::uncaught_exceptions();
};

}  // namespace

void State::run(const std::vector<Work>& all) {
  if (all.empty()) return;
  const FailureMark mark(partly_combined_);
  for (const Work& work : all) {
    if (work.fold != nullptr) {
      work.fold->run();
    } else if (on_host_) {
      combine(work.into, work.operands.data(), work.operands.size(),
              static_cast<std::size_t>(work.what.count));
    } else {
      combine_staged(work.what);
    }
  }
}

// Only the last combination writes the result, so the result may be in the same place as one of the
// operands.
void State::combine(std::byte* into, const std::byte* const* operands, std::size_t operand_count,
                    std::size_t count) {
  const std::size_t size = elements_.bytes();
  if (operand_count == 1) {
    copy(into, operands[0], count * size);
    return;
  }
  if (operand_count == 2) return elements_.combine(into, operands[0], operands[1], count);
  std::byte* block = block_.front().bytes;
  const std::size_t most = std::max<std::size_t>(block_bytes / size, 1);
  for (std::size_t begin = 0; begin < count; begin += most) {
    const std::size_t n = std::min(most, count - begin), at = begin * size;
    elements_.combine(block, operands[0] + at, operands[1] + at, n);
    for (std::size_t i = 2; i + 1 < operand_count; ++i) elements_.combine(block, block, operands[i] + at, n);
    elements_.combine(into + at, block, operands[operand_count - 1] + at, n);
  }
}

// Combines on the host, using copies of values in an accelerator's memory, if the fabric has no fold for
// them.
void State::combine_staged(const Combine& what) {
  const std::size_t bytes = static_cast<std::size_t>(what.count) * elements_.bytes();
  const std::size_t lines = (bytes + sizeof(Line) - 1) / sizeof(Line);
  std::vector<std::vector<Line>> copies;
  std::vector<const std::byte*> operands;
  for (const Slice& slice : what.operands) {
    std::byte* copy = copies.emplace_back(lines).front().bytes;
    elements_.read(slice.buffer, slice.first, {copy, bytes});
    operands.push_back(copy);
  }
  std::byte* result = copies.front().front().bytes;
  if (operands.size() > 1)
    combine(result, operands.data(), operands.size(), static_cast<std::size_t>(what.count));
  elements_.write(what.into.buffer, what.into.first, {result, bytes});
}

std::string State::explain() const {
  std::string text =
      fmt::format("{}, {} elements of {} bytes:\n", title(), request_.count.value(), elements_.bytes());
  for (const Candidate& candidate : candidates_) {
    text += fmt::format("  {}{}: predicted {:.2f} us{}\n", candidate.name,
                        candidate.name == algorithm_ ? " (taken)" : "", candidate.predicted_us,
                        candidate.for_fewer_bytes ? ", meant for fewer bytes" : "");
  }
  for (const Chain& chain : chains_) text += chain.explain();
  return text;
}

}  // namespace tca::coll
