// What a put takes by itself on a Stage, and which carrier a scheme therefore takes for it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "model/program.hpp"
#include "model/walk.hpp"

namespace tca::tool {

// Prices a put by running it alone, on a second stage where nothing else happens, as the fabric `sim` does
// for the route.
class Prices {
 public:
  explicit Prices(Stage& stage) : stage_(stage) {}

  double us(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Carrier carrier);

 private:
  using Key = std::tuple<Carrier, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;

  double run(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Carrier carrier);

  Stage& stage_;
  std::unique_ptr<Stage> idle_;
  std::map<Key, double> us_;
};

// The hybrid scheme takes for each put what is faster by itself, as the route does. What is returned refers
// to the stage and to the prices.
Walk::Carry carry_by(Scheme scheme, Stage& stage, Prices& prices);

}  // namespace tca::tool
