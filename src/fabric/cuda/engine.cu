#include "fabric/cuda/call.hpp"
#include "fabric/cuda/engine_view.hpp"
#include "tca/chain.cuh"

namespace tca::cuda {

namespace {

// One block's share of a chain, as far as it has come.
class EngineChain : public BlockChain {
 public:
  __device__ explicit EngineChain(const EngineSlot& slot) : BlockChain(slot.chain, true), done_(slot.done) {
    keeps_step_ = false;  // `finish` does
  }

  using BlockChain::try_start;
  using BlockChain::try_wait;

  // Other kernels may have run the chain since.
  __device__ void refresh() { read_step(); }

  // This part has finished the step: keeps the number for other kernels, and tells the host when all parts have.
  __device__ void finish(Word number) {
    keep_step();
    block_.sync();
    if (block_.lane() != 0 || !good_) return;
    const Word last = block_.parts() - 1;
    // Release: the host that sees the number finds everything in place.
    if (last == 0 || device::count_up(chain_.count, last) == last) device::store_release(done_, number);
  }

 private:
  Word* done_;
};

struct Flight {
  Word slot, number;
  bool sent;
};

// A block of the engine. All of them see the same commands in the same order, each at its own time.
class Operator {
 public:
  __device__ explicit Operator(const EngineView& view) : view_(view), seen_(view.seen) {}

  __device__ void run() {
    while (!quit_) {
      while (!accept(peek())) {
      }
      while (!idle()) {
        if (flights_ == 1) {
          run_alone();
        } else {
          run_by_turns();
        }
      }
    }
  }

 private:
  __device__ bool idle() const { return flights_ == 0; }

  __device__ static std::uint64_t load_bell(const Bell* bell) {
    std::uint64_t command;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(command) : "l"(&bell->command) : "memory");
    return command;
  }

  // The next command's bell as the first thread sees it. Pinned memory is 1 us away; the caller has other work until it
  // needs the answer.
  __device__ std::uint64_t peek() const {
    return threadIdx.x == 0 ? load_bell(view_.bells + (seen_ + 1) % Bell::count) : 0;
  }

  // Whether that was a new command; on every thread.
  __device__ bool accept(std::uint64_t command) {
    __shared__ Word slot;
    bool is_new = false;
    if (threadIdx.x == 0) {
      is_new = static_cast<Word>(command >> 32) == seen_ + 1;
      if (is_new) {
        // Acquire: pairs with the release of the host that rang.
        __threadfence_system();
        slot = static_cast<Word>(command);
      }
    }
    if (!__syncthreads_or(is_new)) return false;
    ++seen_;
    if (slot == Bell::quit) {
      quit_ = true;
    } else if (slot == Bell::drop) {
      quit_ = true;
      flights_ = 0;
    } else {
      others_ran_it_ = (slot & Bell::others_ran_it) != 0;
      if (threadIdx.x == 0) flight_[flights_] = {slot & ~Bell::others_ran_it, seen_, false};
      ++flights_;
    }
    __syncthreads();
    return true;
  }

  // While one chain is all there is to do, it stays prepared from step to step.
  __device__ void run_alone() {
    const Word slot = flight_[0].slot;
    EngineChain chain(view_.slots[slot]);
    chain.refresh();
    while (flights_ == 1 && flight_[0].slot == slot) {
      bool sent = flight_[0].sent, done = false;
      while (flights_ == 1 && !done) {
        const std::uint64_t command = peek();
        // Several looks at the GPU's memory while the answer to the one look at the host's is on its way.
        for (int look = 0; look < 3 && !done; ++look) {
          sent = sent || chain.try_start();
          done = sent && chain.try_wait();
        }
        if (done) chain.finish(flight_[0].number);
        __syncthreads();
        if (threadIdx.x == 0) flight_[0].sent = sent;
        if (done) flights_ = 0;
        accept(command);
      }
      // The same chain is likely to be next.
      while (idle() && !quit_) {
        if (accept(peek()) && others_ran_it_) chain.refresh();
      }
    }
  }

  __device__ void run_by_turns() {
    const std::uint64_t command = peek();
    for (Word i = 0; i < flights_;) {
      const Flight flight = flight_[i];
      EngineChain chain(view_.slots[flight.slot]);
      chain.refresh();
      const bool sent = flight.sent || chain.try_start();
      const bool done = sent && chain.try_wait();
      if (done) chain.finish(flight.number);
      __syncthreads();
      if (done) --flights_;
      if (threadIdx.x == 0) flight_[i] = done ? flight_[flights_] : Flight{flight.slot, flight.number, sent};
      __syncthreads();
      if (!done) ++i;
    }
    accept(command);
  }

  static __device__ Flight* shared_flights() {
    __shared__ Flight flights[Bell::count];
    return flights;
  }

  const EngineView& view_;
  Flight* flight_ = shared_flights();
  Word flights_ = 0;
  Word seen_;
  bool quit_ = false;
  bool others_ran_it_ = false;  // the last command's chain, since the engine did
};

__global__ void __launch_bounds__(256) engine_kernel(const __grid_constant__ EngineView view) {
  Operator(view).run();
}

}  // namespace

void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream) {
  engine_kernel<<<blocks, 256, 0, stream>>>(view);
  check(cudaGetLastError(), "starting the engine");
}

}  // namespace tca::cuda
