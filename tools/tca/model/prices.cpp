#include "model/prices.hpp"

namespace tca::tool {

double Prices::us(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Carrier carrier) {
  const net::Endpoint source = stage_.memory(from), target = stage_.memory(to);
  const auto [known, is_new] =
      us_.try_emplace(Key{carrier, stage_.distance(from, to), source.unit, target.unit, bytes}, 0);
  if (is_new) known->second = run(from, to, bytes, carrier);
  return known->second;
}

double Prices::run(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Carrier carrier) {
  if (!idle_) idle_ = stage_.idle();
  Steps steps(*idle_);
  steps.put({from, 0}, {to, 0}, {.bytes = bytes}, carrier);
  const des::Time begin = idle_->simulator().now();
  for (const std::uint32_t rank : {from, to})
    idle_->simulator().spawn(steps.run({rank, 0}, 1), {"rank", rank});
  idle_->simulator().run();
  return des::to_us(idle_->simulator().now() - begin);
}

Walk::Carry carry_by(Scheme scheme, Stage& stage, Prices& prices) {
  if (scheme == Scheme::mpi) return [](auto...) { return Carrier::mpi; };
  if (scheme == Scheme::direct) return [](auto...) { return Carrier::chain; };
  return [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    if (!stage.reaches(from, to)) return Carrier::mpi;
    const double direct = prices.us(from, to, bytes, Carrier::chain);
    return direct <= prices.us(from, to, bytes, Carrier::mpi) ? Carrier::chain : Carrier::mpi;
  };
}

}  // namespace tca::tool
