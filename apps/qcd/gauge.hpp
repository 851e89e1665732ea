// The gauge field: a link for each site and direction, in double precision, with ghosts all around. It is made and changed on
// the host; where windows live on GPUs the host keeps it, and copies it there and back to exchange ghosts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "qcd/lattice.hpp"
#include "qcd/su3.hpp"
#include "tca/coll.hpp"
#include "tca/halo.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

using Link = Matrix<double>;

// Averages over the whole lattice, of Re tr / 3.
struct Averages {
  double plaquette;
  double link_trace;
};

class Gauge {
 public:
  // Collective. All links are one.
  Gauge(World& world, const Lattice& lattice);

  const Lattice& lattice() const { return lattice_; }

  // Where a site lies in an array of links; ghosts are at -1 and at the extent.
  std::int64_t index(const Extents& local) const;
  std::int64_t stride(int mu) const { return stride_[static_cast<std::size_t>(mu)]; }
  Link* links(int mu) const { return links_ + mu * elements_; }

  // Collective: the neighbours' links into this rank's ghosts, corners included; after links were changed.
  void exchange(int mu);
  void exchange();

  // Collective; the ghosts must be up to date. Sums are added in rank order, so that every rank has the same bits;
  // another grid adds in another order, which changes the last digits.
  Averages averages();

  // Sum over the plaquettes that contain the link at `index`, without the link: the action's dependence on the
  // link is -beta/3 Re tr(link staple).
  Link staple(std::int64_t index, int mu) const;

  // Collective. Throws Error{refused} on every rank when some link is further than `tolerance` from SU(3); it begins with the
  // file's name, where they come from one.
  void require_unitary(double tolerance, const std::string& path = {});

  // Collective. Every link on the nearest special unitary matrix (Gram and Schmidt).
  void reunitarise();

  // Collective. Random links, from the seed and each link's place alone.
  void randomise(std::uint64_t seed);

 private:
  double local_plaquette(std::int64_t index) const;
  std::span<Link> array(int mu) const;

  World& world_;
  const Lattice& lattice_;
  std::array<std::int64_t, dims> stride_{};
  std::int64_t elements_;
  Window<Link> window_;     // an array for each direction
  std::vector<Link> here_;  // where the window is not host memory
  Link* links_;
  std::vector<Halo> halos_;
  AllReduce<double> sum_;
};

// Gram and Schmidt on the first two rows; the third follows.
Link nearest_su3(const Link& link);

// Depends on the stream alone; not distributed by the invariant measure, which a start does not need.
class RandomStream;
Link random_su3(RandomStream& random);

}  // namespace tca::qcd
