#include "qcd/balance.hpp"

#include <fmt/format.h>

#include "qcd/operators/wilson_hop.hpp"
#include "qcd/spinor.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

double volume(const Extents& extents) {
  double sites = 1;
  for (const std::int64_t extent : extents) sites *= static_cast<double>(extent);
  return sites;
}

}  // namespace

std::int64_t sent_sites(const Extents& node, const Extents& nodes) {
  std::int64_t sites = 0;
  for (std::size_t mu = 0; mu < dims; ++mu) {
    if (nodes[mu] == 1) continue;
    std::int64_t face = 2;  // one to each side
    for (std::size_t nu = 0; nu < dims; ++nu)
      if (nu != mu) face *= node[nu];
    sites += face;
  }
  return sites;
}

Balance balance_of(const Extents& global, const Extents& domain, int gpus, double gflops, int bytes_of_real) {
  Balance balance{.node = domain};
  balance.node[dims - 1] *= gpus;
  for (std::size_t mu = 0; mu < dims; ++mu) {
    if (global[mu] % balance.node[mu] != 0)
      throw Error(
          Errc::invalid_argument,
          fmt::format("{} GPUs with {} sites each make a node of {}, which does not divide a lattice of {}",
                      gpus, describe(domain), describe(balance.node), describe(global)));
    balance.nodes[mu] = global[mu] / balance.node[mu];
  }
  balance.faces = sent_sites(balance.node, balance.nodes);
  balance.bytes = static_cast<double>(balance.faces) * half_reals * bytes_of_real;
  balance.us = volume(balance.node) * wilson_flops / (gpus * gflops) * 1e-3;
  return balance;
}

}  // namespace tca::qcd
