#include "fabric/cuda/call.hpp"
#include "fabric/cuda/engine_view.hpp"
#include "tca/chain.cuh"

namespace tca::cuda {

namespace {

constexpr Word worker_threads = 128, listener_threads = 32, threads = worker_threads + listener_threads;

// The threads of a block that run its chains, as the carrier of them. The block's own barrier would wait for the others.
class Workers {
 public:
  __device__ Workers(Word part, Word parts) : part_(part), parts_(parts) {}
  __device__ Word part() const { return part_; }
  __device__ Word parts() const { return parts_; }
  __device__ Word lane() const { return threadIdx.x; }
  static constexpr __device__ Word lanes() { return worker_threads; }
  static __device__ void sync() { asm volatile("barrier.sync 1, %0;" ::"n"(worker_threads) : "memory"); }
  static __device__ bool any(bool mine) {
    unsigned result;
    asm volatile(
        "{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\tbarrier.red.or.pred q, 1, %2, p;\n\t"
        "selp.u32 %0, 1, 0, q;\n\t}"
        : "=r"(result)
        : "r"(unsigned{mine}), "n"(worker_threads)
        : "memory");
    return result != 0;
  }
  static __device__ bool all(bool mine) { return !any(!mine); }

 private:
  Word part_, parts_;
};

// One block's share of a chain, prepared once for many steps.
class EngineChain : public device::ChainPart<Workers> {
 public:
  __device__ EngineChain(const DeviceChain& chain, Word* done)
      : ChainPart(chain, {blockIdx.x, gridDim.x}, true), done_(done) {
    read_step();
  }

  using ChainPart::try_start;
  using ChainPart::try_wait;

  __device__ void refresh() { read_step(); }

  // Whether the step is given up, because it has taken `ns` already or the world has met an error.
  __device__ bool is_over(std::uint64_t ns) {
    const bool too_late = ns > chain_.patience.limit_ns;
    if (too_late && block_.lane() == 0) device::end_in_vain(chain_.patience);
    const bool aborted = block_.any(block_.lane() == 0 && device::load_relaxed(chain_.patience.abort) != 0);
    good_ = good_ && !too_late && !aborted;
    return !good_;
  }

  // This part has finished the step: keeps the number for other kernels, tells the host when all parts have, and only then
  // the partners, because the host's word waits for all that this multiprocessor has stored before it.
  __device__ void finish(Word number) {
    keep_step();
    block_.sync();
    const Word last = block_.parts() - 1;
    if (block_.lane() == 0 && (last == 0 || device::count_up(chain_.count, last) == last)) {
      // Release of the GPU's scope, which takes 1 us less than the system's: what has arrived lies in this GPU's memory,
      // and whatever reads it once the host has seen the number, be it a kernel or a copy, does so through its L2.
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      device::store_relaxed(done_, number);
    }
    acknowledge();
  }

 private:
  Word* done_;
};

// A chain that stays prepared in a block, and its flight when it is under way.
struct Place {
  alignas(EngineChain) std::byte chain[sizeof(EngineChain)];
  Word slot = ~Word{0};
  Word number;  // of the command
  bool flies = false, sent;
  bool tells;               // the host would like to know who is missing
  std::uint64_t latest_ns;  // when that is asked for; 0 until the clock has been looked at
  std::uint64_t began_ns;
};

// What the listeners of a block have heard for its workers, and what those have obeyed.
struct Ear {
  static constexpr Word room = 8;  // more than commands under way
  std::uint64_t heard[room];
  Word seen;  // the last command obeyed
  Word over;
};

// Acquire: pairs with the release of who rang.
__device__ std::uint64_t load_command(const std::uint64_t* from) {
  std::uint64_t command;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(command) : "l"(from) : "memory");
  return command;
}
__device__ Word number_of(std::uint64_t command) { return static_cast<Word>(command >> 32); }
template <class T>
__device__ volatile T& shared_word(T& word) {
  return word;
}

// A warp that does nothing but look at the bell, 1 us away in the host's memory, so that the workers need not wait for it.
// Only one: several see a command earlier, but every fence of the multiprocessor waits for the looks that are on their
// way (8 bytes from host to host with 1, 4 and 8 such warps: 4.7, 5.9 and 9.4 us).
__device__ void listen(const Bell* bells, Ear& ear) {
  if (threadIdx.x % 32 != 0) return;
  while (shared_word(ear.over) == 0) {
    const Word next = shared_word(ear.seen) + 1;
    const std::uint64_t command = load_command(&bells[next % Bell::count].command);
    if (number_of(command) != next) continue;
    __threadfence_block();  // the workers see what this thread does
    shared_word(ear.heard[next % Ear::room]) = command;
    while (shared_word(ear.over) == 0 && shared_word(ear.seen) != next) {
    }
  }
}

// The workers of a block. Those of all blocks obey the same commands in the same order, each at its own time.
//
// Everything here stays in registers: places are named by constants. In an array with an index it would be in memory.
class Operator {
 public:
  __device__ Operator(const EngineView& view, Ear& ear) : view_(view), ear_(ear), seen_(view.seen) {}

  __device__ void run() {
    idle_since_ = device::now_ns();
    while (!over_) {
      obey_if_rung();
      each_place([](Place& place, Word) {
        if (place.flies) advance(place);
      });
      if (++turn_ % turns_between_clocks == 0) look_at_clock();
    }
    if (threadIdx.x == 0) shared_word(ear_.over) = 1;
  }

  static __device__ const Bell* bells(const EngineView& view) { return leads() ? view.bells : view.relay; }

 private:
  static constexpr Word nowhere = ~Word{0};
  static constexpr Word turns_between_clocks = 256;
  static constexpr std::uint64_t idle_ns = 2'000'000;  // see engine.hpp
  static constexpr std::uint64_t late_ns = 10'000'000;

  template <class Do>
  __device__ void each_place(const Do& act) {
    static_assert(EngineView::max_in_flight == 3);
    act(places_[0], 0);
    act(places_[1], 1);
    act(places_[2], 2);
  }

  static __device__ bool leads() { return blockIdx.x == 0; }

  __device__ std::uint64_t heard() const { return shared_word(ear_.heard[(seen_ + 1) % Ear::room]); }

  __device__ void obey_if_rung() {
    if (!Workers::any(threadIdx.x == 0 && number_of(heard()) == seen_ + 1)) return;
    const std::uint64_t command = heard();
    ++seen_;
    if (leads() && gridDim.x > 1 && threadIdx.x == 0) ring_others(seen_, command);
    Workers::sync();  // everyone has read it
    if (threadIdx.x == 0) shared_word(ear_.seen) = seen_;
    obey(static_cast<Word>(command));
  }

  __device__ void ring_others(Word number, std::uint64_t command) {
    // Release: pairs with the acquire in `load_command`.
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(&view_.relay[number % Bell::count].command),
                 "l"(command)
                 : "memory");
  }

  __device__ void obey(Word what) {
    if (what == Bell::quit) {
      over_ = true;
      if (leads() && threadIdx.x == 0) device::store_release(view_.state, ended);
      return;
    }
    const Word slot = what & ~(Bell::is_new | Bell::others_ran_it);
    const Word chosen = place_for(slot);
    each_place([&](Place& place, Word at) {
      if (at != chosen) return;
      if (place.slot != slot || (what & Bell::is_new) != 0) {
        prepare(place, at, slot);
      } else if ((what & Bell::others_ran_it) != 0) {
        chain_of(place).refresh();
      }
      place.number = seen_;
      place.flies = true;
      place.sent = place.tells = false;
      place.latest_ns = 0;
    });
  }

  // Where the slot's chain is prepared, otherwise where it can be: the host sends no more commands at a time than there are
  // places.
  __device__ Word place_for(Word slot) {
    Word chosen = nowhere;
    each_place([&](const Place& place, Word at) {
      if (place.slot == slot) chosen = at;
    });
    while (chosen == nowhere) {
      next_ = (next_ + 1) % EngineView::max_in_flight;
      each_place([&](const Place& place, Word at) {
        if (at == next_ && !place.flies) chosen = at;
      });
    }
    return chosen;
  }

  // The tables go to shared memory, where no fence makes them be fetched again.
  __device__ void prepare(Place& place, Word at, Word slot) {
    __shared__ alignas(DeviceChain)
        Word tables[EngineView::max_in_flight][sizeof(DeviceChain) / sizeof(Word)];
    static_assert(sizeof(DeviceChain) % sizeof(Word) == 0);
    const EngineSlot& entry = view_.slots[slot];
    for (Word i = threadIdx.x; i < sizeof(DeviceChain) / sizeof(Word); i += worker_threads)
      tables[at][i] = reinterpret_cast<const Word*>(&entry.chain)[i];
    Workers::sync();
    place.slot = slot;
    new (place.chain) EngineChain(*reinterpret_cast<const DeviceChain*>(tables[at]), entry.done);
  }

  static __device__ EngineChain& chain_of(Place& place) {
    return *reinterpret_cast<EngineChain*>(place.chain);
  }

  static __device__ void advance(Place& place) {
    const bool tells = place.tells;
    place.tells = false;
    if (!place.sent && !chain_of(place).try_start(tells)) return;
    place.sent = true;
    if (!chain_of(place).try_wait(tells)) return;
    chain_of(place).finish(place.number);
    place.flies = false;
  }

  // Blocks of a grid need not see the same time: only the first decides to leave, and rings the others.
  __device__ void look_at_clock() {
    __shared__ std::uint64_t time;
    if (threadIdx.x == 0) time = device::now_ns();
    Workers::sync();
    const std::uint64_t now = time;
    Workers::sync();
    bool flies = false;
    each_place([&](Place& place, Word) {
      if (place.flies) be_patient(place, now);
      flies = flies || place.flies;
    });
    if (flies) {
      idle_since_ = now;
    } else if (leads() && now - idle_since_ > idle_ns && leave()) {
      over_ = true;
    }
  }

  static __device__ void be_patient(Place& place, std::uint64_t now) {
    if (place.latest_ns == 0) {
      place.began_ns = now;
      place.latest_ns = now + late_ns;
    } else if (chain_of(place).is_over(now - place.began_ns)) {
      place.flies = false;
    } else if (now > place.latest_ns) {
      place.tells = true;
      place.latest_ns = now + late_ns;
    }
  }

  // False when there is another command after all.
  __device__ bool leave() {
    bool stays = false;
    if (threadIdx.x == 0) {
      device::store_relaxed(view_.state, leaving);
      // Pairs with the fence of who rings: either the command is found here, or the host finds `leaving`.
      asm volatile("fence.sc.sys;" ::: "memory");
      const Word next = seen_ + 1;
      stays = number_of(load_command(&view_.bells[next % Bell::count].command)) == next;
      if (!stays && gridDim.x > 1) {
        ring_others(seen_ + 1, Bell::make(seen_ + 1, Bell::quit));
      }
      device::store_relaxed(view_.obeyed, seen_);
      device::store_release(view_.state, stays ? running : ended);
    }
    return !Workers::any(stays);
  }

  const EngineView& view_;
  Ear& ear_;
  Word seen_;
  std::uint64_t idle_since_ = 0;
  Place places_[EngineView::max_in_flight];
  Word next_ = 0;  // the place last taken
  Word turn_ = 0;
  bool over_ = false;
};

__global__ void __launch_bounds__(threads, 1) engine_kernel(const __grid_constant__ EngineView view) {
  __shared__ Ear ear;
  if (threadIdx.x < Ear::room) ear.heard[threadIdx.x] = std::uint64_t{view.seen} << 32;
  if (threadIdx.x == 0) {
    ear.seen = view.seen;
    ear.over = 0;
  }
  __syncthreads();
  if (threadIdx.x < worker_threads) {
    Operator(view, ear).run();
  } else {
    listen(Operator::bells(view), ear);
  }
}

}  // namespace

void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream) {
  engine_kernel<<<blocks, threads, 0, stream>>>(view);
  check(cudaGetLastError(), "starting the engine");
}

}  // namespace tca::cuda
