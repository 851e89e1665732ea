// Ranks that walk the schedules of one of the library's collective algorithms (src/coll).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "coll/schedule.hpp"
#include "model/steps.hpp"

namespace tca::tool {

// Returns the bytes of a put of so many elements on the wires. One without elements, a signal, has one byte.
std::uint64_t put_bytes(std::int64_t count, std::uint64_t element_bytes);

class Walk {
 public:
  // Says what carries a put.
  using Carry = std::function<Carrier(std::uint32_t from, std::uint32_t to, std::uint64_t bytes)>;

  // `problem` is that of any rank. Throws Error{invalid_argument} where the algorithm does not solve it, or
  // all ranks together have too many puts to be modelled.
  Walk(Stage& stage, coll::Algorithm algorithm, coll::Problem problem, std::uint64_t element_bytes,
       const Carry& carry);

  // Runs a rank's rounds, for the `time`-th time, counted from 1. Each is a step, after which kernels combine
  // what has come, if `adds`.
  des::Task play(std::uint32_t rank, std::uint64_t time, bool adds);

 private:
  // What a kernel moves to combine values, or to copy them, in a round.
  struct Combine {
    std::size_t round;
    double bytes;
  };

  void lay_down(std::uint32_t rank, const coll::Schedule& schedule, std::uint64_t element_bytes,
                const Carry& carry);

  Stage& stage_;
  Steps steps_;
  std::vector<std::vector<Combine>> combines_;  // by rank
  std::size_t rounds_ = 0, puts_ = 0;
};

// Adds up a word of each processor: by MPI or, where the machine has none, by stores.
std::unique_ptr<Walk> sum_of_a_word(Stage& stage);

}  // namespace tca::tool
