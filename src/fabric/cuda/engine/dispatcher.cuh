// The dispatcher: the warp of a block that polls the rings and gives the block's worker groups their work
// items.
#pragma once

#include "fabric/cuda/engine/engine_warp.cuh"

namespace tca::cuda::engine {

// It is a separate warp because a poll of the host's ring takes 1 us, for which no group should wait. There
// is only one per block: several see a command no earlier, and every fence of the multiprocessor waits for
// the polls that are under way (8 bytes from host to host took 4.7, 5.9 and 9.4 us with 1, 4 and 8 such
// warps). Its variables must fit into registers, since each poll evicts from the L1 what a thread keeps in
// memory.
//
// In the first block each of the first lanes polls one producer's ring. In the other blocks lane 0 polls
// the relay, through which the first block's dispatcher passes on what it has found.
class Dispatcher {
 public:
  __device__ Dispatcher(const EngineView& view, WorkerGroup* all) : view_(view), worker_groups_(all) {
    if (!is_first_block()) {
      if (lane() == 0) ring_ = view.shared->relay;
    } else if (lane() < EngineView::producers) {
      ring_ = view.rings[lane()].commands;
      seen_ = view.rings[lane()].consumed;
    }
  }

  __device__ void run() {
    if (is_first_block() && lane() == 0) device::store_relaxed(view_.awake, 1);
    idle_since_ = time();
    for (Word turn = 1; !over_; ++turn) {
      const std::uint64_t command = poll();
      for (Word found = __ballot_sync(all_lanes, command != 0); found != 0 && !over_; found &= found - 1) {
        const int producer = __ffs(static_cast<int>(found)) - 1;
        if (lane() == static_cast<Word>(producer)) note_seen();
        dispatch(__shfl_sync(all_lanes, command, producer));
      }
      if (is_first_block() && turn % turns_between_clocks == 0) over_ = over_ || leaves_when_idle();
    }
    for (Word workers = 0; workers < worker_groups; ++workers)
      give_item(worker_groups_[workers], WorkItem::quit);
  }

 private:
  static constexpr Word turns_between_clocks = 256;
  static constexpr std::uint64_t idle_ns = 2'000'000;  // see engine.hpp
  static constexpr Word half_of_relay = EngineCommand::count / 2;

  static __device__ std::uint64_t time() { return __shfl_sync(all_lanes, device::now_ns(), 0); }

  __device__ void note_seen() {
    // Release: pairs with the acquire in `relay`, after which this half of the relay is overwritten.
    if (++seen_ % half_of_relay == 0 && !is_first_block())
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(&view_.shared->halves_seen) : "memory");
  }

  // Returns the next command of this lane's ring; 0 if there is none, or if the kernels have as many under
  // way as they may.
  __device__ std::uint64_t poll() {
    if (ring_ == nullptr || (is_first_block() && lane() == EngineView::kernels && kernels_are_at_limit()))
      return 0;
    const Word next = seen_ + 1;
    std::uint64_t command;
    // Acquire: pairs with the producer's release.
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(command)
                 : "l"(&ring_[next % EngineCommand::count].command)
                 : "memory");
    return EngineCommand::is_at(command, next) ? command : 0;
  }

  __device__ bool kernels_are_at_limit() {
    if (kernel_commands_ - kernel_steps_seen_ < EngineView::in_flight) return false;
    kernel_steps_seen_ = device::load_relaxed(&view_.shared->finished[EngineView::kernels]);
    return kernel_commands_ - kernel_steps_seen_ >= EngineView::in_flight;
  }

  __device__ void dispatch(std::uint64_t command) {
    const Word what = EngineCommand::what_of(command);
    if (is_first_block() && gridDim.x > 1) relay(what, EngineCommand::number_of(command));
    if (what == EngineCommand::quit) {
      end();
      return;
    }
    const Word chain = what & EngineCommand::chain_mask;
    const bool by_kernel = (what & EngineCommand::by_kernel) != 0;
    if (by_kernel) ++kernel_commands_;
    WorkerGroup& workers =
        worker_groups_[by_kernel ? choose_group(chain) : (what & EngineCommand::second_group) != 0];
    if (workers.prepared_chain != chain) load_chain(workers, chain);
    if (lane() == 0) workers.command_number = EngineCommand::number_of(command);
    ++commands_;
    give_item(workers, by_kernel || (what & EngineCommand::others_ran_it) != 0 ? WorkItem::refresh : 0);
  }

  // Passes a command on to the other blocks. Before it begins another half of the relay it waits until all
  // of them have seen what that half held, so that no block is lapped, however slow or late.
  __device__ void relay(Word what, Word number) {
    const Word position = ++relayed_, half = position / half_of_relay;
    if (lane() != 0) return;
    if (position % half_of_relay == 0 && half > 1) {
      while (
          !device::reached(device::load_acquire(&view_.shared->halves_seen), (half - 1) * (gridDim.x - 1))) {
      }
    }
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(
                     &view_.shared->relay[position % EngineCommand::count].command),
                 "l"(EngineCommand::make(position, what, number))
                 : "memory");
  }

  __device__ void give_item(WorkerGroup& workers, Word flags) {
    if (lane() != 0) return;
    const WorkItem item =
        WorkItem::make(WorkItem{workers.last_item}.number() + 1, workers.preparations, flags);
    workers.last_item = item.word;
    if (workers.busy_warps == 0) workers.finished_item = item.word;
    // Release: pairs with the acquire in `next_item`.
    asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(
                     static_cast<Word>(__cvta_generic_to_shared(&workers.item.word))),
                 "r"(item.word)
                 : "memory");
  }

  // Chooses a free one of the kernels' worker groups: the one that has the chain prepared, if it is free.
  // There is a free one, or will be as soon as this block has finished what the others have. (For its own
  // commands the host chooses the group.)
  __device__ Word choose_group(Word chain) {
    const Word first = EngineView::kernels * EngineView::in_flight;
    Word chosen = worker_groups;
    while (chosen == worker_groups) {
      for (Word workers = first; workers < first + EngineView::in_flight; ++workers) {
        const bool is_free =
            is_seen_by_all(worker_groups_[workers].finished_item, worker_groups_[workers].last_item);
        if (is_free && (chosen == worker_groups || worker_groups_[workers].prepared_chain == chain))
          chosen = workers;
      }
    }
    return chosen;
  }

  // Gives a group another chain. No other group keeps it prepared, since its step number there would soon
  // be out of date.
  __device__ void load_chain(WorkerGroup& workers, Word chain) {
    // A warp that has no units of the group's last chain may still be reading about that chain.
    const Word reader = lane() < workers_in_group ? lane() : 0;
    while (!EngineWarp::all(shared_word(workers.read_item[reader]) == workers.last_item)) {
    }
    const EngineSlot& entry = view_.slots[chain & EngineCommand::slot_mask];
    for (Word i = lane(); i < sizeof(DeviceChain) / sizeof(Word); i += warp_lanes)
      workers.chain_words[i] = reinterpret_cast<const Word*>(&entry.chain)[i];
    if (lane() < worker_groups && worker_groups_[lane()].prepared_chain == chain)
      worker_groups_[lane()].prepared_chain = no_chain;
    __syncwarp();
    if (lane() == 0) {
      workers.prepared_chain = chain;
      workers.busy_warps = busy_warps(entry.chain);
      workers.last_busy_block = busy_blocks(entry.chain) - 1;
      ++workers.preparations;
      workers.done_word = entry.done;
      workers.finished_steps = entry.finished;
      workers.lands_on_host = entry.lands_on_host;
    }
    __syncwarp();
  }

  // Whether the engine has been idle for so long that it leaves the GPU. Only the first block decides that,
  // since blocks need not see the same time; the others learn of it through the relay.
  __device__ bool leaves_when_idle() {
    const std::uint64_t now = time();
    const Word finished = device::load_relaxed(&view_.shared->finished[EngineView::host]) +
                          device::load_relaxed(&view_.shared->finished[EngineView::kernels]);
    if (!EngineWarp::all(commands_ == finished && commands_ == commands_at_last_look_)) {
      commands_at_last_look_ = commands_;
      idle_since_ = now;
    }
    if (now - idle_since_ <= idle_ns) return false;
    if (lane() == 0) {
      device::store_relaxed(view_.state, leaving);
      // Release: pairs with the acquire of a kernel that posts. If that kernel then calls the host's
      // relauncher, the relauncher finds `leaving`.
      device::store_release(view_.awake, 0);
    }
    __syncwarp();
    // Pairs with the producers' fences: either this poll finds their command, or they find that the engine
    // has left.
    asm volatile("fence.sc.sys;" ::: "memory");
    const bool stays = EngineWarp::any(poll() != 0);
    if (!stays) {
      if (gridDim.x > 1) relay(EngineCommand::quit, 0);
      end();
    } else if (lane() == 0) {
      device::store_relaxed(view_.awake, 1);
      device::store_release(view_.state, running);
    }
    return !stays;
  }

  // Ends the engine; the first block tells the host how far it has consumed.
  __device__ void end() {
    over_ = true;
    if (!is_first_block()) return;
    if (lane() < EngineView::producers) device::store_relaxed(view_.consumed + lane(), seen_);
    __syncwarp();
    if (lane() == 0) {
      device::store_relaxed(view_.awake, 0);
      device::store_release(view_.state, ended);
    }
  }

  const EngineView& view_;
  WorkerGroup* worker_groups_;
  const EngineCommand* ring_ = nullptr;  // the ring that this lane polls, if any
  Word seen_ = 0;                        // the position of the last command found there
  Word commands_ = 0;                    // how many have been turned into work items
  // How many of them were posted by kernels, and how many of those had been finished at the last check.
  Word kernel_commands_ = 0, kernel_steps_seen_ = 0;
  Word relayed_ = 0;  // the position of the last command in the relay
  Word commands_at_last_look_ = 0;
  std::uint64_t idle_since_ = 0;
  bool over_ = false;
};

}  // namespace tca::cuda::engine
