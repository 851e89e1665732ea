// A rank's spins and couplings on its GPU.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "shared/gpu_call.hpp"
#include "spin/gpu/sites.hpp"
#include "spin/share.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::spin {

template <class Real>
class GpuLattice {
 public:
  // Collective; the world's fabric is cuda. The grid is of `make_grid`. With `overlap` the cells that neighbours need are a
  // shell, and otherwise all cells are. Throws Error{invalid_argument} for more cells than a kernel counts.
  GpuLattice(World& world, const Problem& problem, const Grid& grid, bool overlap);

  const Share& share() const { return share_; }
  const Window<Real>& spins(int colour) const { return spins_[static_cast<std::size_t>(colour)]; }
  // By replica.
  void set_betas(std::span<const double> betas) { std::ranges::copy(betas, sites_.beta); }
  const Sites<Real>& sites() const { return sites_; }
  const Cells& cells() const { return cells_; }
  const apps::OwnStream& stream() const { return stream_; }

  // Returns the number of the first of so many sweeps by heat bath, which all ways count together.
  std::uint32_t count_heat_baths(int sweeps) {
    const std::uint32_t first = heat_baths_;
    heat_baths_ += static_cast<std::uint32_t>(sweeps);
    return first;
  }

 private:
  Share share_;
  std::array<Window<Real>, 2> spins_;
  std::array<std::array<std::optional<apps::DeviceArray<Real>>, 3>, 2> couplings_;  // by colour and dimension
  Sites<Real> sites_{};
  Cells cells_;
  std::uint32_t heat_baths_ = 0;
  // Destroyed first, so that nothing runs any more when the memory goes.
  apps::OwnStream stream_;
};

extern template class GpuLattice<float>;
extern template class GpuLattice<double>;

}  // namespace tca::spin
