// A transform in one direction: stages of local work, each in batches, with exchanges between them that hide behind the work
// on other batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fft/decomposition.hpp"

namespace tca::fft {

enum class Direction { forward, backward };

// A dimension of an array in memory. Strides are in complex numbers.
struct Axis {
  std::int64_t size, stride;
};

// Transforms of lines, planes or a box that lie on one rank, in place.
struct Local {
  std::int64_t first = 0;      // the complex number where they begin
  std::vector<Axis> over;      // the dimensions transformed, the slowest first
  std::vector<Axis> for_each;  // those in which that is repeated, the slowest first, joined where they can be
  // Before the transform, the last of `over` has real numbers, as many as its size says, at the place of the complex ones
  // behind it, of which there are half as many and one more.
  bool real = false;

  double points() const;  // transformed, repetitions included
  double flops() const;   // as the field counts them: 5 n log2 n
};

class Transform {
 public:
  virtual ~Transform() = default;
  virtual void run() = 0;
};

// The exchanges of a hop. What `start` sends is in place everywhere when all ranks of the group have returned from `wait`,
// which then may also overwrite what they have sent.
class Transposition {
 public:
  virtual ~Transposition() = default;
  virtual void start(int batch) = 0;
  virtual void wait(int batch) = 0;
  virtual std::string explain() const { return {}; }
};

using MakeTransform = std::function<std::unique_ptr<Transform>(std::size_t stage, const Local& local)>;
using MakeTransposition = std::function<std::unique_ptr<Transposition>(const Hop& hop)>;

class Pipeline {
 public:
  // Of the share of one rank; `real` is the size of z where the array is real before the transform, and 0 where it is complex.
  Pipeline(const Decomposition& decomposition, int rank, Direction direction, int batches, std::int64_t real,
           const MakeTransform& transform, const MakeTransposition& transposition);

  // Calls `lap`, if it is given, whenever an exchange begins (true) or work on this rank does (false).
  using Lap = std::function<void(bool exchanging)>;
  void run(const Lap& lap = {}) const;

  std::string explain() const;

 private:
  struct Step {
    std::vector<std::unique_ptr<Transform>> batches;
    std::unique_ptr<Transposition> onward;  // null behind the last stage
    int sent = 0;                           // batches of `onward`
    bool in_step = false;                   // a batch needs the same batch of the stage before alone
  };
  std::vector<Step> steps_;
};

}  // namespace tca::fft
