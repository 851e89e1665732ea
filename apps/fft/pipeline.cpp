#include "fft/pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace tca::fft {

double Local::points() const {
  double points = 1;
  for (const Axis& axis : over) points *= static_cast<double>(axis.size);
  for (const Axis& axis : for_each) points *= static_cast<double>(axis.size);
  return points;
}

double Local::flops() const {
  double size = 1;
  for (const Axis& axis : over) size *= static_cast<double>(axis.size);
  return (real ? 2.5 : 5) * points() * std::log2(size);
}

namespace {

// The transforms of a part of a rank's array.
Local local_of(const Stage& stage, const Box& array, const Box& part, std::int64_t real) {
  const Extents strides{array.size[1] * array.size[2], array.size[2], 1};
  Local local;
  for (std::size_t d = 0; d < 3; ++d) {
    local.first += (part.first[d] - array.first[d]) * strides[d];
    const bool transformed = std::ranges::find(stage.over, d) != stage.over.end();
    if (transformed && d == 2 && real > 0) {
      local.real = true;
      local.over.push_back({real, 1});
    } else if (transformed) {
      local.over.push_back({part.size[d], strides[d]});
    } else if (!local.for_each.empty() && local.for_each.back().stride == part.size[d] * strides[d]) {
      local.for_each.back() = {local.for_each.back().size * part.size[d], strides[d]};
    } else {
      local.for_each.push_back({part.size[d], strides[d]});
    }
  }
  return local;
}

}  // namespace

Pipeline::Pipeline(const Decomposition& decomposition, int rank, Direction direction, int batches,
                   std::int64_t real, const MakeTransform& transform,
                   const MakeTransposition& transposition) {
  const std::size_t count = decomposition.stages().size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool forward = direction == Direction::forward, is_last = i + 1 == count;
    const std::size_t at = forward ? i : count - 1 - i, next = forward ? at + 1 : at - 1;
    const Stage& stage = decomposition.stages()[at];
    const auto dim = stage.batch_dim();
    Step step;
    if (i > 0) {
      const Stage& before = decomposition.stages()[forward ? at - 1 : at + 1];
      step.in_step = dim && before.batch_dim() == dim;
    }
    const int parts = dim && (!is_last || step.in_step) ? batches : 1;
    const Box array = decomposition.box(at, rank);
    for (int batch = 0; batch < parts; ++batch) {
      const Box part = dim ? array.part(*dim, batch, parts) : array;
      step.batches.push_back(transform(at, local_of(stage, array, part, real)));
    }
    if (!is_last) {
      step.onward = transposition({.from = at, .to = next, .dim = dim, .batches = parts});
      step.sent = parts;
    }
    steps_.push_back(std::move(step));
  }
}

void Pipeline::run(const Lap& lap) const {
  const auto note = [&](bool exchanging) {
    if (lap) lap(exchanging);
  };
  const Step* before = nullptr;
  for (const Step& step : steps_) {
    if (before && !step.in_step) {
      note(true);
      for (int batch = 0; batch < before->sent; ++batch) before->onward->wait(batch);
    }
    for (int batch = 0; batch < static_cast<int>(step.batches.size()); ++batch) {
      if (before && step.in_step) {
        note(true);
        before->onward->wait(batch);
      }
      note(false);
      step.batches[static_cast<std::size_t>(batch)]->run();
      note(true);
      if (step.onward) step.onward->start(batch);
    }
    before = &step;
  }
}

std::string Pipeline::explain() const {
  std::string all;
  for (const Step& step : steps_)
    if (step.onward) all += step.onward->explain();
  return all;
}

}  // namespace tca::fft
