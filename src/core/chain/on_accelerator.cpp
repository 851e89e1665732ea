// Steps ordered on streams, and what kernels need to start steps by themselves.
#include <algorithm>

#include "base/fail.hpp"
#include "core/chain/chain_state.hpp"
#include "fabric/accelerator.hpp"

namespace tca::core {

using base::fail;

// Checks the fabrics of all programs before the first program is started.
void ChainState::require_streams(const char* call) const {
  require_startable(call);
  fail_on_lost_path();
  for (std::size_t f = 0; f < programs_.size(); ++f) {
    if (programs_[f]->on_accelerator() != nullptr) continue;
    fail(Errc::invalid_argument, about(),
         "{} of chain '{}' on a stream: the fabric {} has no streams; call it without one, or choose the "
         "fabric cuda (option fabric or OPENTCA_FABRIC)",
         call, name_, world_->fabrics()[f]->name());
  }
}

void ChainState::start_on(Stream stream) {
  require_streams("start");
  world_->check();
  ++step_;
  on_stream_ = true;
  awaited_ = false;
  if (counted_ != nullptr) take_lengths();
  for (const auto& program : programs_) program->on_accelerator()->start_on(stream);
}

void ChainState::wait_on(Stream stream) {
  require_streams("wait");
  require_started("wait");
  world_->check();
  awaited_ = true;
  for (const auto& program : programs_) program->on_accelerator()->wait_on(stream);
}

void ChainState::run_on(Stream stream) {
  require_streams("run");
  world_->check();
  ++step_;
  on_stream_ = awaited_ = true;
  if (counted_ != nullptr) take_lengths();
  for (const auto& program : programs_) program->on_accelerator()->run_on(stream);
}

const DeviceChain& ChainState::device() const {
  require_committed("device()");
  if (produced_ != nullptr) {
    fail(Errc::invalid_argument, about(),
         "device() of chain '{}', which has produced puts: use device_produced(), with a ProducedBlockChain "
         "or a ProducedGridChain in the kernel (tca/produced.cuh)",
         name_);
  }
  return device_produced();
}

const DeviceProducedChain& ChainState::device_produced() const {
  require_committed("device()");
  const auto chain_of = [&](std::size_t f) {
    const fabric::AcceleratorProgram* program = programs_[f]->on_accelerator();
    return program != nullptr ? program->device_chain() : nullptr;
  };
  const DeviceProducedChain* device = chain_of(0);
  for (std::size_t f = 0; f < programs_.size(); ++f) {
    const bool drivable = chain_of(f) != nullptr || (f > 0 && programs_[f]->is_empty());
    if (drivable) continue;
    fail(Errc::invalid_argument, about(),
         "device() of chain '{}': no kernel can drive what goes over the fabric {}; {}", name_,
         world_->fabrics()[f]->name(),
         device != nullptr ? "start the chain on a stream, or put to ranks of the same sub-cluster only"
                           : "choose the fabric cuda (option fabric or OPENTCA_FABRIC)");
  }
  return *device;
}

const DeviceTimedChain& ChainState::device_timed() const {
  static_cast<void>(device());  // refuses what no kernel can drive
  const DeviceTimedChain* const timed = programs_[0]->on_accelerator()->timed_device_chain();
  if (timed != nullptr) return *timed;
  fail(Errc::invalid_argument, about(), "device_timed() of chain '{}', {}", name_,
       timed_ ? "in which this rank has no part"
              : "which is not timed: ask for it before the commit (option timed of the chain, option timing "
                "of the world, or "
                "OPENTCA_TIMING=1), or use device()");
}

const DeviceDoorbell& ChainState::doorbell() const {
  require_committed("doorbell()");
  if (produced_ != nullptr) fail_produced("doorbell()");
  fabric::AcceleratorProgram* const first = programs_.front()->on_accelerator();
  const DeviceDoorbell* doorbell = first != nullptr ? first->doorbell() : nullptr;
  const bool alone = std::all_of(programs_.begin() + 1, programs_.end(),
                                 [](const auto& program) { return program->is_empty(); });
  if (doorbell == nullptr || !alone) {
    fail(Errc::invalid_argument, about(), "doorbell() of chain '{}': no resident engine can run it; {}",
         name_,
         counted_ != nullptr
             ? "it runs no chains with counted puts; start this one in the kernel itself (tca/chain.cuh)"
         : alone ? "give it multiprocessors (option engine_blocks, on the fabric cuda) and not more "
                   "than 255 chains"
                 : "it puts to ranks of other sub-clusters, which kernels do not reach");
  }
  return *doorbell;
}

}  // namespace tca::core
