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

  // A step of all ranks: lay_down(rank, put) calls put(to, bytes) for what a rank sends. Where `is_strided`,
  // what messages carry is packed by a kernel before and unpacked by another one afterwards.
  using Put = std::function<void(std::uint32_t to, std::uint64_t bytes)>;
  void step(bool is_strided, const std::function<void(std::uint32_t rank, const Put& put)>& lay_down);

  // A sum of a word over all ranks. It is copied out of the GPUs, and the processors add up.
  void sum();

  std::uint64_t bytes() const { return bytes_; }  // that all ranks together send in the steps of a pass
  void run(std::uint64_t passes);

 private:
  struct Kernel {
    std::string_view what;
    double bytes, flops;
  };
  struct Step {
    std::size_t number;
    std::vector<double> sent, received;  // by rank: what kernels pack and unpack
  };
  struct Sum {
    std::uint64_t number;
  };
  using Phase = std::variant<Kernel, Step, Sum>;

  des::Task play(std::uint32_t rank, std::uint64_t passes);
  des::Task perform(std::uint32_t rank, std::uint64_t pass, const Phase& phase);
  des::Task exchange(std::uint32_t rank, std::uint64_t pass, const Step& step);
  des::Task move(std::uint32_t rank, std::string_view what, double bytes);
  des::Task add_up(std::uint32_t rank, std::uint64_t time);

  Stage& stage_;
  Prices prices_;
  Walk::Carry carry_;
  Steps steps_;
  std::unique_ptr<Walk> sum_;
  std::vector<Phase> phases_;
  std::size_t steps_laid_ = 0;
  std::uint64_t sums_ = 0, bytes_ = 0;
};

}  // namespace tca::tool
