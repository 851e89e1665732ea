#include "qcd/solver/sums.hpp"

#include <algorithm>
#include <chrono>

namespace tca::qcd {

Sums::Sums(World& world, int most, const Peer* peer, const std::string& channel)
    : world_(world),
      reduce_(world, "solver sums", most, ReduceOp::sum, {.channel = channel}),
      peer_(peer),
      room_(static_cast<std::size_t>(most)) {}

void Sums::operator()(std::span<double> numbers) {
  const auto begin = world_.now();
  if (peer_ != nullptr) {
    peer_->sum(numbers, nullptr);
  } else {
    std::fill(std::copy(numbers.begin(), numbers.end(), room_.begin()), room_.end(), 0.0);
    reduce_.reduce_in_place(room_);
    std::copy_n(room_.begin(), numbers.size(), numbers.begin());
  }
  time_us_ += std::chrono::duration<double, std::micro>(world_.now() - begin).count();
}

}  // namespace tca::qcd
