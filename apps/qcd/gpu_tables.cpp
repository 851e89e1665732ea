#include "qcd/gpu_tables.hpp"

#include <algorithm>

namespace tca::qcd {
namespace {

// Where real `i` of place `s` lies among `count` places.
template <class T>
std::size_t unit_place(std::size_t i, std::size_t s, std::size_t count) {
  constexpr std::size_t reals = Unit<T>::reals;
  return (i / reals * count + s) * reals + i % reals;
}

template <class T>
void lay_out_links(const Gauge& gauge, Storage storage, bool antiperiodic, GroundTables<T>& tables) {
  const Links<T> links(gauge, storage, antiperiodic);
  const auto volume = static_cast<std::size_t>(tables.ground.volume);
  const auto reals = static_cast<std::size_t>(storage);
  const std::size_t units = link_units<T>(static_cast<int>(reals));
  tables.links.assign(dims * units * Unit<T>::reals * volume, 0);
  for (std::size_t s = 0; s < volume; ++s) {
    const auto site = static_cast<std::int64_t>(s);
    tables.time_sign.push_back(static_cast<float>(links.sign(site, dims - 1)));
    for (int mu = 0; mu < dims; ++mu) {
      T* const all = tables.links.data() + static_cast<std::size_t>(mu) * units * Unit<T>::reals * volume;
      for (std::size_t i = 0; i < reals; ++i) all[unit_place<T>(i, s, volume)] = links.of(site, mu)[i];
    }
  }
}

template <class T>
void lay_out_faces(const Lattice& lattice, GroundTables<T>& tables) {
  for (const Face& face : lattice.faces()) {
    const auto direction = static_cast<std::size_t>(face.direction);
    const auto count = static_cast<Word>(face.even.size());
    for (const Word odd : {0U, 1U}) {
      tables.ground.faces[odd][direction] = {.begin = static_cast<Word>(face.slots.begin) + odd * count,
                                             .to = static_cast<Word>(face.to) + odd * count,
                                             .count = count,
                                             .neighbour = static_cast<Word>(face.neighbour),
                                             .direction = static_cast<Word>(face.direction)};
    }
  }
}

template <class T>
void order_chunks(GroundTables<T>& tables) {
  const Ground<T>& ground = tables.ground;
  for (const Word odd : {0U, 1U}) {
    const auto has_ghosts = [&](std::int32_t chunk) {
      const Word first = static_cast<Word>(chunk) * chunk_sites;
      for (Word place = first; place < std::min(first + chunk_sites, ground.half()); ++place)
        for (Word direction = 0; direction < directions; ++direction)
          if (tables.next[direction * ground.volume + odd * ground.half() + place] < 0) return true;
      return false;
    };
    std::vector<std::int32_t>& order = tables.order[odd];
    for (Word chunk = 0; chunk < ground.chunks(); ++chunk) order.push_back(static_cast<std::int32_t>(chunk));
    const auto boundary =
        std::stable_partition(order.begin(), order.end(), [&](std::int32_t c) { return !has_ghosts(c); });
    tables.interior[odd] = static_cast<Word>(boundary - order.begin());
  }
}

}  // namespace

template <class T>
GroundTables<T>::GroundTables(const Gauge& gauge, Storage storage, bool antiperiodic) {
  const Lattice& lattice = gauge.lattice();
  lattice.require_even();
  ground.volume = static_cast<Word>(lattice.volume());
  ground.slots = static_cast<Word>(lattice.slots());
  lay_out_links(gauge, storage, antiperiodic, *this);
  const auto volume = static_cast<std::size_t>(lattice.volume());
  next.resize(directions * volume);
  for (std::size_t s = 0; s < volume; ++s)
    for (std::size_t d = 0; d < directions; ++d)
      next[d * volume + s] = lattice.neighbours()[s * directions + d];
  lay_out_faces(lattice, *this);
  order_chunks(*this);
}

template struct GroundTables<float>;
template struct GroundTables<double>;

}  // namespace tca::qcd
