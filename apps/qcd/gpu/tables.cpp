#include "qcd/gpu/tables.hpp"

#include <algorithm>
#include <array>

#include "qcd/links.hpp"

namespace tca::qcd {
namespace {

// Stores a link as units, among `count` links whose units with the same number are adjacent.
template <class T>
void put_link(const std::array<T, 18>& link, std::size_t reals, T* all, std::size_t place,
              std::size_t count) {
  constexpr std::size_t of_unit = Unit<T>::reals;
  for (std::size_t i = 0; i < reals; ++i)
    all[(i / of_unit * count + place) * of_unit + i % of_unit] = link[i];
}

template <class T>
void lay_out_links(const Gauge& gauge, Storage storage, bool antiperiodic, GroundTables<T>& tables) {
  const Lattice& lattice = gauge.lattice();
  const std::size_t volume = tables.ground.volume, slots = tables.ground.slots;
  const auto reals = static_cast<std::size_t>(storage);
  const std::size_t stored = link_units<T>(static_cast<int>(storage)) * Unit<T>::reals;
  tables.links.assign((dims * volume + slots) * stored, 0);
  tables.time_sign.assign(volume + slots, 1);
  // Stores the link along mu of a site or ghost, and returns its sign.
  const auto put = [&](const Extents& local, int mu, T* all, std::size_t place, std::size_t count) {
    const T sign = mu == dims - 1 ? time_sign<T>(lattice, local, antiperiodic) : T(1);
    put_link(reals_of(gauge.links(mu)[gauge.index(local)], sign), reals, all, place, count);
    return static_cast<float>(sign);
  };
  T* const of_ghosts = tables.links.data() + dims * volume * stored;
  for (std::size_t s = 0; s < volume; ++s) {
    for (int mu = 0; mu < dims; ++mu) {
      Extents local = lattice.coordinates(static_cast<std::int64_t>(s));
      T* const of_sites = tables.links.data() + static_cast<std::size_t>(mu) * volume * stored;
      const float sign = put(local, mu, of_sites, s, volume);
      if (mu == dims - 1) tables.time_sign[s] = sign;
      const std::int32_t behind = tables.next[static_cast<std::size_t>(backward(mu)) * volume + s];
      if (behind >= 0) continue;
      --local[static_cast<std::size_t>(mu)];
      const auto slot = static_cast<std::size_t>(~behind);
      tables.time_sign[volume + slot] = put(local, mu, of_ghosts, slot, slots);
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
  const auto volume = static_cast<std::size_t>(lattice.volume());
  next.resize(directions * volume);
  for (std::size_t s = 0; s < volume; ++s)
    for (std::size_t d = 0; d < directions; ++d)
      next[d * volume + s] = lattice.neighbours()[s * directions + d];
  lay_out_links(gauge, storage, antiperiodic, *this);
  lay_out_faces(lattice, *this);
  order_chunks(*this);
}

template struct GroundTables<float>;
template struct GroundTables<double>;

}  // namespace tca::qcd
