#include "runtime/move/whole.hpp"

namespace tca::xacc {

Whole::Whole(void* descriptor) : array_(static_cast<xacc_array*>(descriptor)), section_(all_of(*array_)) {
  const Side side(section_, Loops::all);
  box_ = whole(side);
  values_.resize(static_cast<std::size_t>(volume(box_)) * bytes());
  xacc_section here = section_;
  here.array = nullptr;
  here.memory = values_.data();
  for (std::size_t d = 0; d < box_.size(); ++d) here.extent[d] = box_[d].count;
  move(Side(here, Loops::all), side);
}

void Whole::store() const {
  const int me = Runtime::get().world().rank();
  const Side side(section_, Loops::all);
  for (const Box& own : side.owned_by(me))
    copy(array_->base, side.steps(own, me), values_.data(), dense(own, box_), own, bytes());
}

std::int64_t Whole::number(std::int64_t i) {
  if (bytes() == 8) return as<std::int64_t>()[i];
  if (bytes() == 4) return as<std::int32_t>()[i];
  refuse(name() + " has elements of " + std::to_string(bytes()) + " bytes, and indices are int or long");
}

}  // namespace tca::xacc
