// A loop whose passes are kernels, steps and sums, one after the other and the same for every rank: what
// iterative solvers and transforms do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "model/prices.hpp"
#include "model/program.hpp"
#include "model/steps.hpp"
#include "model/walk.hpp"

namespace tca::tool {

class Loop {
 public:
  Loop(Stage& stage, Scheme scheme);

  // A kernel on every rank. `what` is a literal.
  void kernel(std::string_view what, double bytes, double flops);

  // An exchange of all ranks, in so many steps: lay_down(step, rank, put) calls put(to, bytes) for what a rank
  // sends in one. Where `is_strided`, what messages carry is packed by a kernel before the first step and
  // unpacked by another one after the last.
  using Put = std::function<void(std::uint32_t to, std::uint64_t bytes)>;
  using LayDown = std::function<void(std::uint32_t step, std::uint32_t rank, const Put& put)>;
  void exchange(std::uint32_t steps, bool is_strided, const LayDown& lay_down);

  // A sum of a word over all ranks. It is copied out of the GPUs, and the processors add up.
  void sum();

  std::uint64_t bytes() const { return bytes_; }  // that all ranks together send in a pass, sums aside
  void run(std::uint64_t passes);

 private:
  struct Kernel {
    std::string_view what;
    double bytes, flops;
  };
  struct Exchange {
    std::size_t first, end;              // steps
    std::vector<double> sent, received;  // by rank: what kernels pack and unpack
  };
  struct Sum {
    std::uint64_t number;
  };
  using Phase = std::variant<Kernel, Exchange, Sum>;

  des::Task play(std::uint32_t rank, std::uint64_t passes);
  des::Task perform(std::uint32_t rank, std::uint64_t pass, const Phase& phase);
  des::Task play(std::uint32_t rank, std::uint64_t pass, const Exchange& exchange);
  des::Task move(std::uint32_t rank, std::string_view what, double bytes);
  des::Task add_up(std::uint32_t rank, std::uint64_t time);

  Stage& stage_;
  Prices prices_;
  Walk::Carry carry_;
  Steps steps_;
  std::unique_ptr<Walk> sum_;
  std::vector<Phase> phases_;
  std::size_t steps_laid_ = 0, puts_ = 0;
  std::uint64_t sums_ = 0, bytes_ = 0;
};

}  // namespace tca::tool
