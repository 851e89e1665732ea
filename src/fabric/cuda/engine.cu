// A block of the engine is a few crews of warps, each of which carries one chain at a time, and a warp that listens and gives
// them their orders. No barrier of the block is on the way of a step: a small put is one warp's from the order to the word
// that it has arrived.
#include "fabric/cuda/call.hpp"
#include "fabric/cuda/engine_view.hpp"
#include "tca/chain.cuh"

namespace tca::cuda {

namespace {

constexpr Word warp_lanes = 32;
constexpr Word crew_size = EngineView::crew_size;
constexpr Word crews = EngineView::ringers * EngineView::in_flight;
constexpr Word warps = crews * crew_size + 1;
constexpr Word everyone = 0xffffffffu;
static_assert(most_engine_blocks * crew_size <= device::max_parts);
static_assert(sizeof(DeviceChain) % sizeof(Word) == 0);

__device__ Word lane() { return threadIdx.x % warp_lanes; }
__device__ Word warp() { return threadIdx.x / warp_lanes; }
__device__ bool leads() { return blockIdx.x == 0; }
// The crews are the ringers' own.
__device__ Word ringer_of(Word crew) { return crew / EngineView::in_flight; }

// What a crew is to do next. One word, so that nothing stands between its store and their loads.
struct Order {
  static constexpr Word refresh = 1, quit = 2;

  Word word = 0;

  // `number`: counts the crew's orders, from 1. `chain`: counts the chains that it has had to prepare.
  static __device__ Order make(Word number, Word chain, Word flags) {
    return {number << 16 | (chain & 0x3fff) << 2 | flags};
  }
  __device__ Word chain() const { return word >> 2 & 0x3fff; }
  __device__ bool is(Word flag) const { return (word & flag) != 0; }
};

// What is between a crew, the others of its block and its listener.
struct Crew {
  Order order;
  alignas(DeviceChain)
      Word tables[sizeof(DeviceChain) / sizeof(Word)];  // here no fence makes them be fetched again
  Word* done;                                           // of the slot
  Word* finished_steps;                                 // of the slot
  Word number;                                          // of the bell
  Word has = ~Word{0};
  Word busy = 0;              // its warps that have to do with the chain, in this block
  Word last_block = 0;        // that has
  Word last = 0;              // the order given last
  Word chain = 0;             // see Order
  Word finished = 0;          // the last order whose step this block has finished
  Word landed = 0;            // of its warps, are through with the step; above them those that gave up
  Word read[crew_size] = {};  // the last order that each of its warps has read

  __device__ const DeviceChain& tables_of_chain() const {
    return *reinterpret_cast<const DeviceChain*>(tables);
  }
};
constexpr Word in_vain = 1u << 16;

// Words that other warps are writing, all lanes alike. Whoever is to see what was written before them comes after a fence on
// both sides.
template <class T>
__device__ volatile T& shared_word(T& word) {
  return word;
}
__device__ bool all_see(Word& word, Word value) {
  return __all_sync(everyone, shared_word(word) == value) != 0;
}

// A warp as the one that carries a part of a chain. Neighbouring parts belong to different blocks.
class Carrier {
 public:
  static __device__ Word part() { return warp() % crew_size * gridDim.x + blockIdx.x; }
  static __device__ Word parts() { return crew_size * gridDim.x; }
  static __device__ Word lane() { return cuda::lane(); }
  static constexpr __device__ Word lanes() { return warp_lanes; }
  static __device__ void sync() { __syncwarp(); }
  static __device__ bool any(bool mine) { return __any_sync(everyone, mine) != 0; }
  static __device__ bool all(bool mine) {
    __syncwarp();  // a vote orders no memory
    return __all_sync(everyone, mine) != 0;
  }
};

// A carrier's part of a chain, prepared once for many steps.
class CarriedChain : public device::ChainPart<Carrier> {
 public:
  __device__ explicit CarriedChain(const DeviceChain& chain) : ChainPart(chain, Carrier(), true) {}

  using ChainPart::acknowledge;
  using ChainPart::has_only_own_lines;
  using ChainPart::read_step;
  using ChainPart::try_start;
  using ChainPart::try_start_own_lines;
  using ChainPart::try_wait;
  using ChainPart::try_wait_own_lines;

  // For whoever runs the chain next, with as many parts as it likes: also in the entries of parts that have nothing to do here.
  __device__ void keep_step() const {
    Carrier::sync();  // every lane has read the number
    const Word busy = min(busy_parts(chain_), Carrier::parts());
    for (Word e = Carrier::part() + cuda::lane() * busy; e < device::max_parts; e += warp_lanes * busy)
      chain_.steps[e] = step();
  }

  // Whether the step is given up, because it has taken `ns` already, a partner is gone or the world has met an error.
  __device__ bool is_over(std::uint64_t ns) {
    const device::Patience& patience = chain_.patience;
    if (ns > patience.limit_ns && lane() == 0) device::end_in_vain(patience);
    const bool over = lane() == 0 &&
                      (device::load_relaxed(patience.over) != 0 || device::load_relaxed(patience.abort) != 0);
    good_ = good_ && !Carrier::any(over);
    return !good_;
  }

  // Whether the host would like to know who is missing, long before the step is given up.
  __device__ bool is_late(std::uint64_t ns) const {
    constexpr std::uint64_t late_ns = 10'000'000;
    return ns > min(late_ns, chain_.patience.limit_ns / 2);
  }

  // Parts that have anything to do: unit u is carried by part u mod parts, and part 0 gives permissions.
  static __device__ Word busy_parts(const DeviceChain& chain) {
    return max(max(max(chain.chunks_out, chain.chunks_in), max(chain.segments_out, chain.segments_in)), 1u);
  }
  static __device__ Word busy_blocks(const DeviceChain& chain) { return min(busy_parts(chain), gridDim.x); }
  // Of the calling block, its first ones.
  static __device__ Word busy_carriers(const DeviceChain& chain) {
    const Word parts = busy_parts(chain);
    return parts > blockIdx.x ? min((parts - blockIdx.x - 1) / gridDim.x + 1, crew_size) : 0;
  }
};

// What a warp of a crew does.
class Operator {
 public:
  __device__ Operator(const EngineView& view, Crew& crew, Word number)
      : view_(view),
        crew_(crew),
        by_kernels_(ringer_of(number) == EngineView::kernels),
        chain_(crew.tables_of_chain()) {}

  __device__ void run() {
    while (next_order()) {
      const bool prepares = order_.chain() != prepared_;
      if (prepares) prepare();
      if (is_busy_ && (prepares || order_.is(Order::refresh))) chain_.read_step();
      if (lane() == 0) shared_word(crew_.read[warp() % crew_size]) = order_.word;
      if (is_busy_ && !carry()) return;
    }
  }

 private:
  static constexpr Word polls_between_clocks = 1024;

  // False when there will be none.
  __device__ bool next_order() {
    Order order;
    do {
      // Acquire: pairs with the listener's release, and by it with that of who rang.
      asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
                   : "=r"(order.word)
                   : "r"(static_cast<Word>(__cvta_generic_to_shared(&crew_.order.word)))
                   : "memory");
    } while (!Carrier::all(order.word != order_.word));
    order_ = order;
    return !order.is(Order::quit);
  }

  __device__ void prepare() {
    prepared_ = order_.chain();
    busy_ = crew_.busy;
    last_block_ = crew_.last_block;
    is_busy_ = warp() % crew_size < busy_;
    new (&chain_) CarriedChain(crew_.tables_of_chain());
    is_line_ = busy_ == 1 && last_block_ == 0 && chain_.has_only_own_lines();
  }

  // False when the engine is to end instead.
  __device__ bool carry() {
    began_ns_ = 0;
    tells_ = false;
    polls_ = 1;
    return is_line_ ? carry_lines() : carry_any();
  }

  // The warp finds nearly every instruction of a step gone from the instruction cache since the step before: on two H100s 8 bytes
  // take 4.2 us this way, and 4.75 through what any chain needs.
  __device__ bool carry_lines() {
    for (; !chain_.try_start_own_lines(); ++polls_) {
      if (!goes_on()) return give_up();
      if (tells_ && chain_.try_start(true)) break;
    }
    bool has_kept = false;
    for (; !chain_.try_wait_own_lines(); ++polls_) {
      if (!has_kept) chain_.keep_step();  // while what was sent is on its way
      has_kept = true;
      if (!goes_on()) return give_up();
      if (tells_ && chain_.try_wait(true)) break;
    }
    if (!has_kept) chain_.keep_step();
    __syncwarp();  // what lanes have stored comes before what lane 0 tells
    if (lane() == 0) {
      end_step(true);
      shared_word(crew_.finished) = order_.word;
    }
    __syncwarp();
    chain_.acknowledge();
    return true;
  }

  __device__ bool carry_any() {
    for (; !chain_.try_start(tells_); ++polls_) {
      if (!goes_on()) return give_up();
    }
    chain_.keep_step();  // while what was sent is on its way
    for (; !chain_.try_wait(tells_); ++polls_) {
      if (!goes_on()) return give_up();
    }
    land(1);
    // The partners hear of it only now: the last carrier's fence waits for what the multiprocessor has stored before.
    while (busy_ > 1 && !all_see(crew_.finished, order_.word)) {
      if (quits()) return false;  // and so may the one that it waits for
    }
    chain_.acknowledge();
    return true;
  }

  __device__ bool goes_on() {
    tells_ = false;
    if (polls_ % polls_between_clocks != 0) return true;
    if (quits()) return false;
    const std::uint64_t now = __shfl_sync(everyone, device::now_ns(), 0);
    if (began_ns_ == 0) began_ns_ = now;
    tells_ = chain_.is_late(now - began_ns_);
    return !chain_.is_over(now - began_ns_);
  }
  __device__ bool give_up() {
    if (quits()) return false;
    land(in_vain + 1);
    return true;
  }
  __device__ bool quits() { return Carrier::any((shared_word(crew_.order.word) & Order::quit) != 0); }

  // This carrier is through with the step, well or (`in_vain` added) badly; the last of them tells who rang.
  __device__ void land(Word arrival) {
    __syncwarp();  // what lanes have stored comes before what lane 0 tells
    if (lane() == 0) {
      Word all = arrival;
      if (busy_ > 1) {
        __threadfence_block();  // release and acquire: of what the carriers have stored, for the last one
        all += atomicAdd(&crew_.landed, arrival);
        __threadfence_block();
      }
      if (all % in_vain == busy_) finish(all < in_vain);
    }
    __syncwarp();
  }

  __device__ void finish(bool well) {
    const DeviceChain& chain = crew_.tables_of_chain();
    const bool alone = last_block_ == 0;
    crew_.landed = 0;  // before whoever hears of the end gives the crew its next order
    if (alone || device::count_up(chain.count, last_block_) == last_block_)
      end_step(well && (alone || device::load_relaxed(chain.patience.over) == 0));
    shared_word(crew_.finished) = order_.word;
  }

  __device__ void end_step(bool well) {
    if (well) tell();
    atomicAdd(&view_.shared->finished[by_kernels_ ? EngineView::kernels : EngineView::host], 1u);
  }

  // Release of the GPU's scope, which takes 1 us less than the system's: what has arrived lies in this GPU's memory, and
  // whatever reads it once the host has seen the number, be it a kernel or a copy, does so through its L2.
  __device__ void tell() {
    if (by_kernels_) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(crew_.finished_steps) : "memory");
    } else {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      device::store_relaxed(crew_.done, crew_.number);
    }
  }

  const EngineView& view_;
  Crew& crew_;
  const bool by_kernels_;
  Order order_;
  Word prepared_ = 0;     // see Order
  Word busy_ = 0;         // warps of this crew, in this block, that have to do with the chain
  Word last_block_ = 0;   // that has
  bool is_busy_ = false;  // this warp
  bool is_line_ = false;  // all that the chain is, carried by this warp
  CarriedChain chain_;
  Word polls_ = 0;
  std::uint64_t began_ns_ = 0;  // once the clock has been looked at
  bool tells_ = false;
};

// The warp that does nothing but look at the rings, of which the host's is 1 us away, so that the carriers need not wait for it.
// Only one: several see a command no earlier, and every fence of the multiprocessor waits for the looks that are on their
// way (8 bytes from host to host with 1, 4 and 8 such warps: 4.7, 5.9 and 9.4 us). Nothing of it may be in memory of a thread's
// own, which each look empties from the L1.
//
// In the first block a lane looks at each ringer's; in the others lane 0 at what that block relays.
class Listener {
 public:
  __device__ Listener(const EngineView& view, Crew* all) : view_(view), crews_(all) {
    if (!leads()) {
      if (lane() == 0) bells_ = view.shared->relay;
    } else if (lane() < EngineView::ringers) {
      bells_ = view.rings[lane()].bells;
      heard_ = view.rings[lane()].obeyed;
    }
  }

  __device__ void run() {
    if (leads() && lane() == 0) device::store_relaxed(view_.awake, 1);
    idle_since_ = time();
    for (Word turn = 1; !over_; ++turn) {
      const std::uint64_t command = look();
      for (Word rung = __ballot_sync(everyone, command != 0); rung != 0 && !over_; rung &= rung - 1) {
        const int ringer = __ffs(static_cast<int>(rung)) - 1;
        if (lane() == static_cast<Word>(ringer)) hear();
        obey(__shfl_sync(everyone, command, ringer));
      }
      if (leads() && turn % turns_between_clocks == 0) over_ = over_ || has_left();
    }
    for (Word crew = 0; crew < crews; ++crew) give(crews_[crew], Order::quit);
  }

 private:
  static constexpr Word turns_between_clocks = 256;
  static constexpr std::uint64_t idle_ns = 2'000'000;  // see engine.hpp
  static constexpr Word half_relay = Bell::count / 2;

  static __device__ std::uint64_t time() { return __shfl_sync(everyone, device::now_ns(), 0); }

  __device__ void hear() {
    // Release: pairs with the acquire in `relay`, which stores over what has been read.
    if (++heard_ % half_relay == 0 && !leads())
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(&view_.shared->halves) : "memory");
  }

  // The next command of this lane's ring; 0 when there is none, or the kernels have as many under way as they may.
  __device__ std::uint64_t look() {
    if (bells_ == nullptr || (leads() && lane() == EngineView::kernels && kernels_have_all())) return 0;
    const Word next = heard_ + 1;
    std::uint64_t command;
    // Acquire: pairs with the release of who rang.
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(command)
                 : "l"(&bells_[next % Bell::count].command)
                 : "memory");
    return Bell::is_at(command, next) ? command : 0;
  }

  __device__ bool kernels_have_all() {
    if (kernels_asked_ - kernels_got_ < EngineView::in_flight) return false;
    kernels_got_ = device::load_relaxed(&view_.shared->finished[EngineView::kernels]);
    return kernels_asked_ - kernels_got_ >= EngineView::in_flight;
  }

  __device__ void obey(std::uint64_t command) {
    const Word what = Bell::what_of(command);
    if (leads() && gridDim.x > 1) relay(what, Bell::number_of(command));
    if (what == Bell::quit) {
      end();
      return;
    }
    const Word chain = what & Bell::chain_mask;
    const bool by_kernel = (what & Bell::by_kernel) != 0;
    if (by_kernel) ++kernels_asked_;
    Crew& crew = crews_[by_kernel ? crew_for(chain) : (what & Bell::second_crew) != 0];
    if (crew.has != chain) bring(crew, chain);
    if (lane() == 0) crew.number = Bell::number_of(command);
    ++given_;
    give(crew, by_kernel || (what & Bell::others_ran_it) != 0 ? Order::refresh : 0);
  }

  // A block that has come late, or is slow, is not lapped.
  __device__ void relay(Word what, Word number) {
    const Word position = ++relayed_, half = position / half_relay;
    if (lane() != 0) return;
    if (position % half_relay == 0 && half > 1) {
      while (!device::reached(device::load_acquire(&view_.shared->halves), (half - 1) * (gridDim.x - 1))) {
      }
    }
    asm volatile(
        "st.release.gpu.global.u64 [%0], %1;" ::"l"(&view_.shared->relay[position % Bell::count].command),
        "l"(Bell::make(position, what, number))
        : "memory");
  }

  __device__ void give(Crew& crew, Word flags) {
    if (lane() != 0) return;
    const Order order = Order::make((crew.last >> 16) + 1, crew.chain, flags);
    crew.last = order.word;
    if (crew.busy == 0) crew.finished = order.word;
    // Release: pairs with the acquire in `next_order`.
    asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(
                     static_cast<Word>(__cvta_generic_to_shared(&crew.order.word))),
                 "r"(order.word)
                 : "memory");
  }

  // Of the kernels': where the chain is prepared, otherwise one that is free. There is one, or will be as soon as this
  // block has come as far as the others.
  __device__ Word crew_for(Word chain) {
    const Word first = EngineView::kernels * EngineView::in_flight;
    Word chosen = crews;
    while (chosen == crews) {
      for (Word crew = first; crew < first + EngineView::in_flight; ++crew) {
        const bool is_free = all_see(crews_[crew].finished, crews_[crew].last);
        if (is_free && (chosen == crews || crews_[crew].has == chain)) chosen = crew;
      }
    }
    return chosen;
  }

  // A crew's state of a chain is out of date once another has it.
  __device__ void bring(Crew& crew, Word chain) {
    // A warp of it that has nothing to do may still be reading what is here.
    const Word reader = lane() < crew_size ? lane() : 0;
    while (!Carrier::all(shared_word(crew.read[reader]) == crew.last)) {
    }
    const EngineSlot& entry = view_.slots[chain & Bell::slot_mask];
    for (Word i = lane(); i < sizeof(DeviceChain) / sizeof(Word); i += warp_lanes)
      crew.tables[i] = reinterpret_cast<const Word*>(&entry.chain)[i];
    if (lane() < crews && crews_[lane()].has == chain) crews_[lane()].has = nowhere;
    __syncwarp();
    if (lane() == 0) {
      crew.has = chain;
      crew.busy = CarriedChain::busy_carriers(entry.chain);
      crew.last_block = CarriedChain::busy_blocks(entry.chain) - 1;
      ++crew.chain;
      crew.done = entry.done;
      crew.finished_steps = entry.finished;
    }
    __syncwarp();
  }

  // Blocks of a grid need not see the same time: only the first decides to leave, and rings the others.
  __device__ bool has_left() {
    const std::uint64_t now = time();
    const Word finished = device::load_relaxed(&view_.shared->finished[EngineView::host]) +
                          device::load_relaxed(&view_.shared->finished[EngineView::kernels]);
    if (!Carrier::all(given_ == finished && given_ == seen_)) {
      seen_ = given_;
      idle_since_ = now;
    }
    if (now - idle_since_ <= idle_ns) return false;
    if (lane() == 0) {
      device::store_relaxed(view_.state, leaving);
      // Release: pairs with the acquire of a kernel that rings, and by its call with the caretaker's, who finds `leaving`.
      device::store_release(view_.awake, 0);
    }
    __syncwarp();
    // Pairs with the fences of those who ring: either the command is found here, or they find that it has left.
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

  __device__ void end() {
    over_ = true;
    if (!leads()) return;
    if (lane() < EngineView::ringers) device::store_relaxed(view_.obeyed + lane(), heard_);
    __syncwarp();
    if (lane() == 0) {
      device::store_relaxed(view_.awake, 0);
      device::store_release(view_.state, ended);
    }
  }

  static constexpr Word nowhere = ~Word{0};

  const EngineView& view_;
  Crew* crews_;
  const Bell* bells_ = nullptr;  // of this lane; none for most
  Word heard_ = 0;
  Word given_ = 0;                            // orders
  Word kernels_asked_ = 0, kernels_got_ = 0;  // of the latter what was last seen
  Word relayed_ = 0;
  Word seen_ = 0;
  std::uint64_t idle_since_ = 0;
  bool over_ = false;
};

__global__ void __launch_bounds__(warps* warp_lanes, 1)
    engine_kernel(const __grid_constant__ EngineView view) {
  __shared__ alignas(Crew) std::byte room[crews * sizeof(Crew)];
  Crew* const all = reinterpret_cast<Crew*>(room);
  if (threadIdx.x < crews) {
    new (all + threadIdx.x) Crew;
    for (Word& word : all[threadIdx.x].tables) word = 0;
  }
  __syncthreads();
  if (warp() == crews * crew_size) {
    Listener(view, all).run();
  } else {
    const Word crew = warp() / crew_size;
    Operator(view, all[crew], crew).run();
  }
}

}  // namespace

void load_engine() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, engine_kernel), "loading the engine");
}

void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream) {
  engine_kernel<<<blocks, warps * warp_lanes, 0, stream>>>(view);
  check(cudaGetLastError(), "starting the engine");
}

}  // namespace tca::cuda
