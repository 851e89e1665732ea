// The listener: the warp of a block that looks at the rings and gives the block's crews their orders.
#pragma once

#include "fabric/cuda/engine/carried_chain.cuh"

namespace tca::cuda::engine {

// It is a warp of its own because a look at the host's ring takes 1 us, for which no crew should wait. There
// is only one in a block: several see a command no earlier, and every fence of the multiprocessor waits for
// the looks that are under way (8 bytes from host to host took 4.7, 5.9 and 9.4 us with 1, 4 and 8 such
// warps). Its variables must fit into registers, since each look empties the L1 of what a thread keeps in
// memory.
//
// In the first block each of the first lanes looks at one ringer's ring. In the other blocks lane 0 looks at
// the relay, through which the first block's listener passes on what it has found.
class Listener {
 public:
  __device__ Listener(const EngineView& view, Crew* all) : view_(view), crews_(all) {
    if (!is_first_block()) {
      if (lane() == 0) bells_ = view.shared->relay;
    } else if (lane() < EngineView::ringers) {
      bells_ = view.rings[lane()].bells;
      heard_ = view.rings[lane()].obeyed;
    }
  }

  __device__ void run() {
    if (is_first_block() && lane() == 0) device::store_relaxed(view_.awake, 1);
    idle_since_ = time();
    for (Word turn = 1; !over_; ++turn) {
      const std::uint64_t command = look();
      for (Word rung = __ballot_sync(all_lanes, command != 0); rung != 0 && !over_; rung &= rung - 1) {
        const int ringer = __ffs(static_cast<int>(rung)) - 1;
        if (lane() == static_cast<Word>(ringer)) note_heard();
        obey(__shfl_sync(all_lanes, command, ringer));
      }
      if (is_first_block() && turn % turns_between_clocks == 0) over_ = over_ || leaves_when_idle();
    }
    for (Word crew = 0; crew < crews; ++crew) give_order(crews_[crew], Order::quit);
  }

 private:
  static constexpr Word turns_between_clocks = 256;
  static constexpr std::uint64_t idle_ns = 2'000'000;  // see engine.hpp
  static constexpr Word half_of_relay = Bell::count / 2;

  static __device__ std::uint64_t time() { return __shfl_sync(all_lanes, device::now_ns(), 0); }

  __device__ void note_heard() {
    // Release: pairs with the acquire in `relay`, after which this half of the relay is stored over.
    if (++heard_ % half_of_relay == 0 && !is_first_block())
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(&view_.shared->halves_heard) : "memory");
  }

  // Returns the next command of this lane's ring; 0 when there is none, or when the kernels have as many
  // under way as they may.
  __device__ std::uint64_t look() {
    if (bells_ == nullptr || (is_first_block() && lane() == EngineView::kernels && kernels_are_at_limit()))
      return 0;
    const Word next = heard_ + 1;
    std::uint64_t command;
    // Acquire: pairs with the ringer's release.
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(command)
                 : "l"(&bells_[next % Bell::count].command)
                 : "memory");
    return Bell::is_at(command, next) ? command : 0;
  }

  __device__ bool kernels_are_at_limit() {
    if (kernel_commands_ - kernel_steps_seen_ < EngineView::in_flight) return false;
    kernel_steps_seen_ = device::load_relaxed(&view_.shared->finished[EngineView::kernels]);
    return kernel_commands_ - kernel_steps_seen_ >= EngineView::in_flight;
  }

  __device__ void obey(std::uint64_t command) {
    const Word what = Bell::what_of(command);
    if (is_first_block() && gridDim.x > 1) relay(what, Bell::number_of(command));
    if (what == Bell::quit) {
      end();
      return;
    }
    const Word chain = what & Bell::chain_mask;
    const bool by_kernel = (what & Bell::by_kernel) != 0;
    if (by_kernel) ++kernel_commands_;
    Crew& crew = crews_[by_kernel ? choose_crew(chain) : (what & Bell::second_crew) != 0];
    if (crew.prepared_chain != chain) load_chain(crew, chain);
    if (lane() == 0) crew.command_number = Bell::number_of(command);
    ++commands_;
    give_order(crew, by_kernel || (what & Bell::others_ran_it) != 0 ? Order::refresh : 0);
  }

  // Passes a command on to the other blocks. Before it begins another half of the relay it waits until they
  // all have heard what the half held, so that no block is lapped, however slow or late.
  __device__ void relay(Word what, Word number) {
    const Word position = ++relayed_, half = position / half_of_relay;
    if (lane() != 0) return;
    if (position % half_of_relay == 0 && half > 1) {
      while (
          !device::reached(device::load_acquire(&view_.shared->halves_heard), (half - 1) * (gridDim.x - 1))) {
      }
    }
    asm volatile(
        "st.release.gpu.global.u64 [%0], %1;" ::"l"(&view_.shared->relay[position % Bell::count].command),
        "l"(Bell::make(position, what, number))
        : "memory");
  }

  __device__ void give_order(Crew& crew, Word flags) {
    if (lane() != 0) return;
    const Order order = Order::make(Order{crew.last_order}.number() + 1, crew.preparations, flags);
    crew.last_order = order.word;
    if (crew.busy_warps == 0) crew.finished_order = order.word;
    // Release: pairs with the acquire in `next_order`.
    asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(
                     static_cast<Word>(__cvta_generic_to_shared(&crew.order.word))),
                 "r"(order.word)
                 : "memory");
  }

  // Chooses one of the kernels' crews that is free: the one that has the chain prepared, if it is. There is a
  // free one, or will be as soon as this block has finished what the others have. (For its own commands the
  // host chooses the crew.)
  __device__ Word choose_crew(Word chain) {
    const Word first = EngineView::kernels * EngineView::in_flight;
    Word chosen = crews;
    while (chosen == crews) {
      for (Word crew = first; crew < first + EngineView::in_flight; ++crew) {
        const bool is_free = is_seen_by_all(crews_[crew].finished_order, crews_[crew].last_order);
        if (is_free && (chosen == crews || crews_[crew].prepared_chain == chain)) chosen = crew;
      }
    }
    return chosen;
  }

  // Gives a crew another chain. No other crew keeps it prepared, whose step number would soon be out of date.
  __device__ void load_chain(Crew& crew, Word chain) {
    // A warp that has no units of the crew's last chain may still be reading about it.
    const Word reader = lane() < crew_size ? lane() : 0;
    while (!Carrier::all(shared_word(crew.read_order[reader]) == crew.last_order)) {
    }
    const EngineSlot& entry = view_.slots[chain & Bell::slot_mask];
    for (Word i = lane(); i < sizeof(DeviceChain) / sizeof(Word); i += warp_lanes)
      crew.chain_words[i] = reinterpret_cast<const Word*>(&entry.chain)[i];
    if (lane() < crews && crews_[lane()].prepared_chain == chain) crews_[lane()].prepared_chain = no_chain;
    __syncwarp();
    if (lane() == 0) {
      crew.prepared_chain = chain;
      crew.busy_warps = CarriedChain::busy_warps(entry.chain);
      crew.last_busy_block = CarriedChain::busy_blocks(entry.chain) - 1;
      ++crew.preparations;
      crew.done_word = entry.done;
      crew.finished_steps = entry.finished;
    }
    __syncwarp();
  }

  // Whether the engine has been idle for so long that it leaves the GPU. Only the first block decides that,
  // since blocks need not see the same time; the others hear of it through the relay.
  __device__ bool leaves_when_idle() {
    const std::uint64_t now = time();
    const Word finished = device::load_relaxed(&view_.shared->finished[EngineView::host]) +
                          device::load_relaxed(&view_.shared->finished[EngineView::kernels]);
    if (!Carrier::all(commands_ == finished && commands_ == commands_at_last_look_)) {
      commands_at_last_look_ = commands_;
      idle_since_ = now;
    }
    if (now - idle_since_ <= idle_ns) return false;
    if (lane() == 0) {
      device::store_relaxed(view_.state, leaving);
      // Release: pairs with the acquire of a kernel that rings. If that kernel then calls the host's
      // relauncher, the relauncher finds `leaving`.
      device::store_release(view_.awake, 0);
    }
    __syncwarp();
    // Pairs with the ringers' fences: either this look finds their command, or they find that the engine has
    // left.
    asm volatile("fence.sc.sys;" ::: "memory");
    const bool stays = Carrier::any(look() != 0);
    if (!stays) {
      if (gridDim.x > 1) relay(Bell::quit, 0);
      end();
    } else if (lane() == 0) {
      device::store_relaxed(view_.awake, 1);
      device::store_release(view_.state, running);
    }
    return !stays;
  }

  // Ends the engine; the first block tells the host how far it has obeyed.
  __device__ void end() {
    over_ = true;
    if (!is_first_block()) return;
    if (lane() < EngineView::ringers) device::store_relaxed(view_.obeyed + lane(), heard_);
    __syncwarp();
    if (lane() == 0) {
      device::store_relaxed(view_.awake, 0);
      device::store_release(view_.state, ended);
    }
  }

  const EngineView& view_;
  Crew* crews_;
  const Bell* bells_ = nullptr;  // the ring at which this lane looks, if any
  Word heard_ = 0;               // the position of the last command found there
  Word commands_ = 0;            // how many have become orders
  // How many of them kernels rang, and how many of those had been finished when last looked at.
  Word kernel_commands_ = 0, kernel_steps_seen_ = 0;
  Word relayed_ = 0;  // the position of the last command in the relay
  Word commands_at_last_look_ = 0;
  std::uint64_t idle_since_ = 0;
  bool over_ = false;
};

}  // namespace tca::cuda::engine
