// A warp of a group: it waits for work items and carries its part of their chain.
#pragma once

#include <new>

#include "fabric/cuda/engine/engine_warp.cuh"

namespace tca::cuda::engine {

class WorkerWarp {
 public:
  __device__ WorkerWarp(const EngineView& view, WorkerGroup& workers, Word number)
      : view_(view),
        workers_(workers),
        by_kernels_(producer_of(number) == EngineView::kernels),
        part_(workers.chain(), EngineWarp(), device::PartsStart::together) {}

  __device__ void run() {
    while (next_item()) {
      const bool prepares = item_.preparation() != preparation_;
      if (prepares) prepare();
      if (is_busy_ && (prepares || item_.is(WorkItem::refresh))) part_.read_step();
      if (lane() == 0) shared_word(workers_.read_item[warp() % workers_in_group]) = item_.word;
      if (is_busy_ && !carry()) return;
    }
  }

 private:
  using Part = device::ChainPart<EngineWarp>;

  static constexpr Word polls_between_clocks = 1024;
  static constexpr Word gave_up = 1u << 16;

  // Waits for the next work item; false if it is to quit.
  __device__ bool next_item() {
    WorkItem item;
    do {
      // Acquire: pairs with the dispatcher's release, and through it with the producer's.
      asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
                   : "=r"(item.word)
                   : "r"(static_cast<Word>(__cvta_generic_to_shared(&workers_.item.word)))
                   : "memory");
    } while (!EngineWarp::all(item.word != item_.word));
    item_ = item;
    return !item.is(WorkItem::quit);
  }

  __device__ void prepare() {
    preparation_ = item_.preparation();
    busy_warps_ = workers_.busy_warps;
    last_busy_block_ = workers_.last_busy_block;
    is_busy_ = warp() % workers_in_group < busy_warps_;
    new (&part_) Part(workers_.chain(), EngineWarp(), device::PartsStart::together);
    has_only_own_packets_ = busy_warps_ == 1 && last_busy_block_ == 0 && part_.has_only_own_packets();
  }

  // Runs a step; false if the engine is to end instead.
  __device__ bool carry() {
    began_ns_ = 0;
    reports_missing_ = false;
    polls_ = 1;
    return has_only_own_packets_ ? carry_own_packets() : carry_whole();
  }

  // Replaces `carry_whole` for a chain of one packet per lane, in few instructions: nearly all of a step's
  // instructions have left the instruction cache since the previous step. On two H100s 8 bytes take 4.2 us
  // this way and 4.75 with `carry_whole`.
  __device__ bool carry_own_packets() {
    for (; !part_.try_start_own_packets(); ++polls_) {
      if (!keeps_trying()) return give_up();
      if (reports_missing_ && part_.try_start(true)) break;
    }
    bool has_kept = false;
    for (; !part_.try_wait_own_packets(); ++polls_) {
      if (!has_kept) keep_step();  // while what was sent is on its way
      has_kept = true;
      if (!keeps_trying()) return give_up();
      if (reports_missing_ && part_.try_wait(true)) break;
    }
    if (!has_kept) keep_step();
    __syncwarp();  // what lanes have stored is ordered before what lane 0 reports
    if (lane() == 0) {
      end_step(true);
      shared_word(workers_.finished_item) = item_.word;
    }
    __syncwarp();
    part_.acknowledge();
    return true;
  }

  __device__ bool carry_whole() {
    for (; !part_.try_start(reports_missing_); ++polls_) {
      if (!keeps_trying()) return give_up();
    }
    keep_step();  // while what was sent is on its way
    for (; !part_.try_wait(reports_missing_); ++polls_) {
      if (!keeps_trying()) return give_up();
    }
    finish_part(1);
    // The acknowledgement is sent only after the block has finished the step: the fence with which it does
    // so waits for whatever the multiprocessor has stored before.
    while (busy_warps_ > 1 && !is_seen_by_all(workers_.finished_item, item_.word)) {
      if (is_told_to_quit()) return false;  // the warp that would finish the step may have quit as well
    }
    part_.acknowledge();
    return true;
  }

  // Whether a failed poll is to be followed by another. Now and then it looks at the clock.
  __device__ bool keeps_trying() {
    reports_missing_ = false;
    if (polls_ % polls_between_clocks != 0) return true;
    if (is_told_to_quit()) return false;
    const std::uint64_t now = __shfl_sync(all_lanes, device::now_ns(), 0);
    if (began_ns_ == 0) began_ns_ = now;
    reports_missing_ = part_.is_late(now - began_ns_);
    return !part_.is_over(now - began_ns_);
  }
  __device__ void keep_step() const {
    part_.keep_sent_step(min(busy_parts(workers_.chain()), EngineWarp::parts()));
  }
  __device__ bool give_up() {
    if (is_told_to_quit()) return false;
    finish_part(gave_up + 1);
    return true;
  }
  __device__ bool is_told_to_quit() {
    return EngineWarp::any((shared_word(workers_.item.word) & WorkItem::quit) != 0);
  }

  // Counts this warp as done with the step. `arrival` is 1, plus `gave_up` if the warp gave up. The last
  // busy warp finishes the step for the block.
  __device__ void finish_part(Word arrival) {
    __syncwarp();  // what lanes have stored is ordered before what lane 0 reports
    if (lane() == 0) {
      Word all = arrival;
      if (busy_warps_ > 1) {
        __threadfence_block();  // release and acquire: the last warp sees what all have stored
        all += atomicAdd(&workers_.arrivals, arrival);
        __threadfence_block();
      }
      if (all % gave_up == busy_warps_) finish_block(all < gave_up);
    }
    __syncwarp();
  }

  // Counts this block; the last busy one ends the step.
  __device__ void finish_block(bool well) {
    const DeviceChain& chain = workers_.chain();
    const bool alone = last_busy_block_ == 0;
    workers_.arrivals = 0;  // before the producer learns of the end and the group gets its next work item
    if (alone || device::count_up(chain.count, last_busy_block_) == last_busy_block_)
      end_step(well && (alone || device::load_relaxed(chain.limits.over) == 0));
    shared_word(workers_.finished_item) = item_.word;
  }

  __device__ void end_step(bool well) {
    if (well) tell_producer();
    atomicAdd(&view_.shared->finished[by_kernels_ ? EngineView::kernels : EngineView::host], 1u);
  }

  // The release has the GPU's scope, which takes 1 us less than the system's, if what has arrived is in
  // this GPU's memory: a kernel or a copy that reads it after the host has seen the number does so through
  // the GPU's L2. What has arrived in host memory the host reads itself.
  __device__ void tell_producer() {
    if (by_kernels_) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(workers_.finished_steps) : "memory");
    } else {
      if (workers_.lands_on_host != 0)
        device::fence_system();
      else
        device::fence_gpu();
      device::store_relaxed(workers_.done_word, workers_.command_number);
    }
  }

  const EngineView& view_;
  WorkerGroup& workers_;
  const bool by_kernels_;  // whether this group's producer is the kernels
  WorkItem item_;
  Word preparation_ = 0;                       // that of the work item for which `part_` was prepared
  Word busy_warps_ = 0, last_busy_block_ = 0;  // the WorkerGroup's, kept in registers
  bool is_busy_ = false;                       // whether this warp has any units of the chain
  bool has_only_own_packets_ = false;          // whether `carry_own_packets` suffices for the whole chain
  Part part_;
  Word polls_ = 0;
  std::uint64_t began_ns_ = 0;    // 0 until the clock has been looked at
  bool reports_missing_ = false;  // whether the next poll tells the host who is missing
};

}  // namespace tca::cuda::engine
