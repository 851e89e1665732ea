#include "fabric/cuda/program.hpp"

#include <algorithm>

namespace tca::cuda {
namespace {

// Returns the number of blocks for the `direct` puts of a chain that is started separately from its wait.
// The program's own kernels run beside it, so these blocks just fill NVLink's 450 GB/s and leave the other
// multiprocessors to them. A block has 1,024 atoms on their way at once, and stores some 16 GB/s with atoms
// of 16 bytes.
Word storing_blocks(const Compiled& compiled) {
  constexpr Word of_widest_atoms = 32;
  return std::min(compiled.stored_segments, of_widest_atoms * (16 / compiled.narrowest_atom));
}

}  // namespace

std::optional<CudaProgram::Branch> CudaProgram::branch_of(const Compiled& compiled, Runner& runner) {
  if (compiled.copies.empty()) return std::nullopt;
  return std::optional<Branch>(std::in_place, runner.copies);
}

CudaProgram::CudaProgram(Runner& runner, std::string name, std::unique_ptr<Compiled> compiled)
    : runner_(runner),
      name_(std::move(name)),
      compiled_(std::move(compiled)),
      branch_(branch_of(*compiled_, runner)),
      exchange_grid_(grid(std::max(compiled_->chain.chunks_out, compiled_->chain.chunks_in),
                          compiled_->chain.segments_out)),
      start_grid_(grid(compiled_->chain.chunks_out, storing_blocks(*compiled_))),
      wait_grid_(grid(compiled_->chain.chunks_in, 0)),
      // The engine would have to be told the lengths that the host sets.
      engine_chain_(
          compiled_->sent_lengths.empty() && compiled_->lengths.come_count == 0
              ? runner.engine.prepare(compiled_->chain, compiled_->engine_done, compiled_->lands_on_host)
              : Engine::no_chain),
      // Nor does it take times.
      suits_engine_(engine_chain_ != Engine::no_chain && !compiled_->times &&
                    runner.engine.is_quick_with(compiled_->chain)) {
  runner_.programs[id()] = this;
}

CudaProgram::~CudaProgram() {
  runner_.programs.erase(id());
  runner_.engine.release(engine_chain_);
  if (runner_.waiting == this) runner_.waiting = nullptr;
  std::erase(runner_.attempting, this);
}

Grid CudaProgram::grid(Word chunks, Word segments) const {
  return grid_for(chunks, segments, runner_.block_limit);
}

const DeviceDoorbell* CudaProgram::doorbell() {
  if (engine_chain_ == Engine::no_chain) return nullptr;
  if (!doorbell_) doorbell_ = runner_.engine.doorbell(engine_chain_);
  return &*doorbell_;
}

// Returns the lengths for a start on a stream, before which it sets those that do not fit into its
// parameters.
const TimedLengths& CudaProgram::lengths(cudaStream_t stream) {
  TimedLengths& all = compiled_->lengths;
  const std::vector<const std::uint64_t*>& sent = compiled_->sent_lengths;
  const auto give = [&](Lengths& to, std::size_t first) {
    for (std::size_t i = 0; i < std::min<std::size_t>(Lengths::inlined, sent.size() - first); ++i) {
      const std::uint64_t length = *sent[first + i];
      to.given[i] = length == fabric::Length::by_kernels ? device::no_length : static_cast<Word>(length);
    }
  };
  give(all, 0);
  for (std::size_t first = Lengths::inlined; first < sent.size(); first += Lengths::inlined) {
    Lengths more;
    more.sent = all.sent + first;
    more.sent_count = static_cast<Word>(sent.size() - first);
    give(more, first);
    launch_lengths(more, stream);
  }
  return all;
}

void CudaProgram::start() {
  if (is_empty()) return;
  forget_waits();
  if (suits_engine_ && runner_.engine.has_room()) {
    way_ = Way::engine;
    posted_ = runner_.engine.post(engine_chain_, others_run_it_);
    return;
  }
  if (runner_.waiting != nullptr) {
    way_ = Way::attempts;
    runner_.attempting.push_back(this);
    sent_ = false;
    device::store_relaxed(compiled_->outcome, attempt_unsent);
    attempt();
    return;
  }
  way_ = Way::kernel;
  runner_.waiting = this;
  const Done done{compiled_->done, ++ticket_};
  if (!branch_) {
    launch_exchange(compiled_->chain, lengths(runner_.stream), exchange_grid_, done, runner_.stream);
  } else {
    launch_start(compiled_->chain, lengths(runner_.stream), start_grid_, runner_.stream);
    start_copies(runner_.stream);
    wait_on(runner_.stream, done);
  }
}

void CudaProgram::attempt() {
  // Acquire: pairs with the release at the end of the attempt.
  const Word outcome = device::load_acquire(compiled_->outcome);
  if (outcome == 0 || outcome == attempt_over) return;
  sent_ = outcome == attempt_sent;
  device::store_relaxed(compiled_->outcome, 0);
  forget_waits();  // so that the words name the ranks of this attempt, not those of the previous one
  launch_attempt(compiled_->chain, lengths(runner_.attempts), sent_, compiled_->outcome, runner_.attempts);
}

// Acquire: pairs with the release of the step's last block.
bool CudaProgram::finished() const {
  switch (way_) {
    case Way::kernel:
      return device::load_acquire(compiled_->done) == ticket_;
    case Way::attempts:
      return device::load_acquire(compiled_->outcome) == attempt_over;
    case Way::engine:
      return device::load_acquire(compiled_->engine_done) == posted_;
  }
  return false;
}

bool CudaProgram::test() {
  if (finished()) {
    if (way_ == Way::engine) runner_.engine.finished(engine_chain_);
    if (runner_.waiting == this) runner_.waiting = nullptr;
    std::erase(runner_.attempting, this);
    return true;
  }
  if (way_ == Way::attempts) attempt();
  constexpr unsigned polls_between_checks = 4096;  // asking the driver takes a microsecond
  if (++polls_ % polls_between_checks == 0) {
    const cudaError_t state = state_of(runner_.stream);
    if (state != cudaErrorNotReady) cuda::check(state, "waiting for a step");
    runner_.check();
  }
  return false;
}

// Returns the ranks that the step has waited for since the last call, or has given up on.
std::vector<int> CudaProgram::missing() const {
  if (finished()) return {};
  const std::vector<int> ranks = late().ranks;
  if (device::load_relaxed(&runner_.inbox.gave_up()) == 0) forget_waits();
  return ranks;
}

void CudaProgram::forget_waits() const {
  cuda::forget_waits(compiled_->chain.limits.waiting, static_cast<Word>(compiled_->partners.size()));
}

LatestWait CudaProgram::late() const {
  return latest_wait(compiled_->chain.limits, compiled_->partners.size());
}

void CudaProgram::start_on(Stream stream) {
  if (is_empty()) return;
  others_run_it_ = true;
  launch_start(compiled_->chain, lengths(stream), start_grid_, stream);
  runner_.throttle.keep(stream);  // it waits for the partners' permission
  if (branch_) start_copies(stream);
}

// The copies run on a separate stream, so that whatever the caller orders on its stream next overlaps with
// them.
void CudaProgram::start_copies(Stream stream) {
  const Stream beside = branch_->stream;
  check(cudaEventRecord(branch_->fork.event, stream), "starting a chain's copies");
  check(cudaStreamWaitEvent(beside, branch_->fork.event), "starting a chain's copies");
  if (compiled_->waits_for_permission) {
    launch_permission(compiled_->chain, beside);
    runner_.throttle.keep(beside);
  }
  for (const PitchedCopy& copy : compiled_->copies) {
    // A single row may be longer than the largest pitch.
    check(copy.rows == 1 ? cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyDefault, beside)
                         : cudaMemcpy2DAsync(copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.bytes,
                                             copy.rows, cudaMemcpyDefault, beside),
          "copying to another GPU");
  }
  launch_signals(compiled_->chain, beside);
  check(cudaEventRecord(branch_->join.event, beside), "starting a chain's copies");
}

void CudaProgram::wait_on(Stream stream) {
  if (is_empty()) return;
  wait_on(stream, {});
  runner_.throttle.keep(stream);
}

void CudaProgram::wait_on(Stream stream, Done done) {
  if (branch_) check(cudaStreamWaitEvent(stream, branch_->join.event), "waiting for a chain's copies");
  launch_wait(compiled_->chain, compiled_->lengths, wait_grid_, done, stream);
}

void CudaProgram::run_on(Stream stream) {
  if (is_empty()) return;
  others_run_it_ = true;
  if (!branch_) {
    launch_exchange(compiled_->chain, lengths(stream), exchange_grid_, {}, stream);
    runner_.throttle.keep(stream);
  } else {
    start_on(stream);
    wait_on(stream);
  }
}

}  // namespace tca::cuda
