// The gauge field: one link for each site and direction, in double precision, with ghosts on all sides. It is
// made and changed on the host. If windows are in GPU memory, the links stay in host memory, and `exchange`
// copies them to the GPU and back.
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

// Averages of Re tr / 3 over the whole lattice.
struct Averages {
  double plaquette;
  double link_trace;
};

class Gauge {
 public:
  // Collective. Sets all links to one.
  Gauge(World& world, const Lattice& lattice);

  const Lattice& lattice() const { return lattice_; }

  // The position of a site in an array of links. Ghosts have the coordinates -1 and the extent.
  std::int64_t index(const Extents& local) const;
  std::int64_t stride(int mu) const { return stride_[static_cast<std::size_t>(mu)]; }
  Link* links(int mu) const { return links_ + mu * elements_; }

  // Collective. Updates the ghosts, corners included, with the neighbours' links. To be called after links
  // were changed.
  void exchange(int mu);
  void exchange();

  // Collective. The ghosts must be up to date. The sums are added in rank order, so that every rank gets the
  // same bits. Another grid adds in another order, which changes the last digits.
  Averages averages();

  // The sum over all plaquettes that contain the link at `index`, with that link left out. The action depends
  // on the link by -beta/3 Re tr(link staple).
  Link staple(std::int64_t index, int mu) const;

  // Collective. Throws Error{refused} on every rank if some link is further than `tolerance` from SU(3). The
  // message begins with `path`, the file that the links come from, if one is given.
  void require_unitary(double tolerance, const std::string& path = {});

  // Collective. Returns how many of all ranks' links are further than `tolerance` from SU(3).
  std::int64_t links_off_su3(double tolerance) const;

  // Collective. Replaces every link by the special unitary matrix that Gram and Schmidt's method makes of it,
  // and updates the ghosts.
  void reunitarise();

  // Collective. Sets random links, which depend only on the seed and on the link's position, and updates the
  // ghosts.
  void randomise(std::uint64_t seed);

 private:
  double local_plaquette(std::int64_t index) const;
  std::span<Link> array(int mu) const;

  World& world_;
  const Lattice& lattice_;
  std::array<std::int64_t, dims> stride_{};
  std::int64_t elements_;
  Window<Link> window_;     // one array for each direction
  std::vector<Link> here_;  // the links, if the window is not in host memory
  Link* links_;
  std::vector<Halo> halos_;
  AllReduce<double> sum_;
};

// Orthonormalises the first two rows by Gram and Schmidt's method. They determine the third.
Link nearest_su3(const Link& link);

// Returns a random link that depends only on the stream. Since its first two rows are made of Gaussian
// numbers, it is distributed by the invariant measure.
class RandomStream;
Link random_su3(RandomStream& random);

}  // namespace tca::qcd
