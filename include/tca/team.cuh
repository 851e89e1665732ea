// What one block of a kernel does together with one block on every other rank: sums, barriers, single signals and puts.
#pragma once

#include "tca/chain.cuh"
#include "tca/device_team.hpp"

namespace tca {

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Min {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

// Every thread of the block makes every call. Calls that wait return false, on every thread, once a rank has not come
// within the time limit or the world has met an error; see tca/chain.cuh.
class BlockTeam {
 public:
  __device__ explicit BlockTeam(const DeviceTeam& team) : team_(team), step_(*team.step) {}
  BlockTeam(const BlockTeam&) = delete;
  __device__ ~BlockTeam() {
    __syncthreads();  // every thread has read the number
    if (lane() == 0) *team_.step = step_;
  }

  __device__ device::Word rank() const { return team_.rank; }
  __device__ device::Word size() const { return team_.size; }

  // In place: the values of all ranks combined, in the order of the ranks, so that all get the same bits. `values` are in
  // shared or global memory, of 4 or 8 bytes each, at most as many as the team was made for.
  template <class T, class Op>
  __device__ bool allreduce(T* values, device::Word count, Op op) {
    ++step_;
    __syncthreads();
    const bool few = count * size() <= warp && lane() < warp;
    if (count * size() > warp) {
      for (device::Word v = lane(); good_ && v < count; v += device::threads_in_block())
        combine(values + v, v, op);
    } else if (few) {
      combine_in_warp(values, count, op);
    }
    return agree();
  }
  __device__ bool allreduce_sum(double* values, device::Word count) {
    return allreduce(values, count, Sum());
  }

  // Everything that a rank's block has stored before it, on any rank, can be read after it by the blocks of the others.
  __device__ bool barrier() {
    __syncthreads();
    ++step_;
    for (device::Word r = lane(); r < size(); r += device::threads_in_block()) {
      __threadfence_system();
      send(r, 0, 0);
    }
    for (device::Word r = lane(); r < size(); r += device::threads_in_block()) {
      std::uint64_t ignored;
      good_ = good_ && receive(r, 0, ignored);
      __threadfence_system();
    }
    return agree();
  }

  // Raises a signal at a rank: whatever this block has stored before it, also by puts (tca/window.cuh), is there by then.
  __device__ void signal(device::Word to) {
    __syncthreads();
    if (lane() == 0) device::store_release(team_.raise[to], ++team_.sent[to]);
  }
  // Waits for the next signal from a rank.
  __device__ bool wait_signal(device::Word from) {
    if (lane() == 0) {
      const device::Word next = team_.seen[from] + 1;
      if (good_ && !device::await(team_.raised + from, next, from, team_.patience)) {
        good_ = false;
        device::store_relaxed(team_.patience.waiting + size(), from + 1);
      }
      team_.seen[from] = next;
    }
    return agree();
  }

 private:
  static constexpr device::Word warp = 32;

  __device__ static device::Word lane() { return device::thread_number(); }
  __device__ bool agree() { return good_ = __syncthreads_and(good_) != 0; }

  template <class T>
  __device__ static std::uint64_t bits(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    std::uint64_t raw = 0;
    memcpy(&raw, &value, sizeof(T));
    return raw;
  }
  template <class T>
  __device__ static T value(std::uint64_t raw) {
    T typed;
    memcpy(&typed, &raw, sizeof(T));
    return typed;
  }

  __device__ void send(device::Word to, device::Word number, std::uint64_t raw) const {
    store_line(team_.theirs[to] + (step_ % 2) * team_.max_values + number, device::make_line(raw, step_));
  }
  __device__ const device::Line* box(device::Word from, device::Word number) const {
    return team_.mine + (from * 2 + step_ % 2) * team_.max_values + number;
  }
  __device__ bool receive(device::Word from, device::Word number, std::uint64_t& raw) const {
    device::Waiting waiting(team_.patience, step_);
    device::Line line = load_line(box(from, number));
    while (!carries(line, step_)) {
      if (!waiting.goes_on(from)) return false;
      line = load_line(box(from, number));
    }
    raw = data_of(line);
    return true;
  }

  // One thread, one value of every rank. Four lines are asked for at a time, since each takes a trip to the L2.
  template <class T, class Op>
  __device__ void combine(T* at, device::Word number, Op op) {
    constexpr device::Word in_flight = 4;
    const std::uint64_t own = bits(*at);
    for (device::Word i = 1; i < size(); ++i) send((rank() + i) % size(), number, own);
    T total{};
    for (device::Word first = 0; first < size(); first += in_flight) {
      device::Line lines[in_flight];
#pragma unroll
      for (device::Word k = 0; k < in_flight; ++k) {
        if (first + k < size() && first + k != rank()) lines[k] = load_line(box(first + k, number));
      }
#pragma unroll
      for (device::Word k = 0; k < in_flight; ++k) {
        const device::Word from = first + k;
        if (from >= size()) break;
        std::uint64_t raw = own;
        if (from != rank()) {
          raw = data_of(lines[k]);
          if (!carries(lines[k], step_) && !receive(from, number, raw)) {
            good_ = false;
            return;
          }
        }
        total = from == 0 ? value<T>(raw) : op(total, value<T>(raw));
      }
    }
    *at = total;
  }

  // A lane for each value of each rank.
  template <class T, class Op>
  __device__ void combine_in_warp(T* values, device::Word count, Op op) {
    const device::Word partner = lane() / count, number = lane() % count;
    std::uint64_t raw = 0;
    if (partner < size()) {
      raw = bits(values[number]);
      if (partner != rank()) {
        send(partner, number, raw);
        good_ = good_ && receive(partner, number, raw);
      }
    }
    T total = value<T>(__shfl_sync(0xffffffffu, raw, number));
    for (device::Word r = 1; r < size(); ++r)
      total = op(total, value<T>(__shfl_sync(0xffffffffu, raw, r * count + number)));
    __syncwarp();  // every lane has read its value
    if (partner == 0) values[number] = total;
  }

  const DeviceTeam& team_;
  device::Word step_;
  bool good_ = true;
};

}  // namespace tca
