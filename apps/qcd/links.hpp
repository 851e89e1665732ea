// Links holds the links as an operator reads them: in its precision, with 18 reals each or only the first two
// rows (12). The boundary condition in time is a sign of the links that cross the boundary.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/gauge.hpp"

namespace tca::qcd {

// How many reals of a link are stored, row by row.
enum class Storage { full = 18, two_rows = 12 };

// Returns -1 if the site's link in time crosses an antiperiodic boundary, otherwise 1. The site may be a
// ghost.
template <class T>
T time_sign(const Lattice& lattice, const Extents& local, bool antiperiodic);

template <class T>
std::array<T, 18> reals_of(const Link& link, T sign);

template <class T>
class Links {
 public:
  Links(const Gauge& gauge, Storage storage, bool antiperiodic);

  Storage storage() const { return storage_; }

  // A site's four links are adjacent.
  const T* of(std::int64_t site, int mu) const {
    return reals_.data() + (site * dims + mu) * static_cast<std::int64_t>(storage_);
  }
  // Returns -1 for a link that crosses an antiperiodic boundary, otherwise 1.
  T sign(std::int64_t site, int mu) const {
    return mu == dims - 1 ? time_sign_[static_cast<std::size_t>(site)] : T(1);
  }

  // Returns the link, either in memory or restored into `room`.
  template <Storage storage>
  const Matrix<T>& at(std::int64_t site, int mu, Matrix<T>& room) const;

 private:
  Storage storage_;
  Field<T> reals_;
  std::vector<T> time_sign_;
};

template <class T>
template <Storage storage>
const Matrix<T>& Links<T>::at(std::int64_t site, int mu, Matrix<T>& room) const {
  const auto* const stored = reinterpret_cast<const Complex<T>*>(of(site, mu));
  if constexpr (storage == Storage::full) {
    return *reinterpret_cast<const Matrix<T>*>(stored);
  } else {
    for (int b = 0; b < 3; ++b) {
      room.m[0][b] = stored[b];
      room.m[1][b] = stored[3 + b];
    }
    restore_third_row(room, sign(site, mu));
    return room;
  }
}

}  // namespace tca::qcd
