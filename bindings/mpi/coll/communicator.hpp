// What the library knows of a communicator: whether its collectives may be served, the world that serves them once there is one,
// and a prepared collective for each shape that has come often enough.
//
// All that is decided here is decided alike on every rank of the communicator: by what MPI requires ranks to agree on, by how often
// they have asked for it, and by questions that all of them take part in.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "mpi/coll/elements.hpp"
#include "tca/raw/collective.hpp"
#include "tca/world.hpp"

namespace tca::interposer {

// What two calls have in common that one prepared collective serves. `count` are elements of `type` for reductions, and bytes
// for what is only moved.
struct Shape {
  CollectiveKind kind = CollectiveKind::barrier;
  int root = 0;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  bool operator==(const Shape&) const = default;
};

struct HashOfShape {
  std::size_t operator()(const Shape& shape) const {
    std::uint64_t hash = static_cast<std::uint64_t>(shape.count) * 8 + static_cast<std::uint64_t>(shape.kind);
    hash = (hash + static_cast<std::uint64_t>(shape.root)) * 0x9E3779B97F4A7C15u;
    hash ^= std::hash<MPI_Datatype>()(shape.type) + (hash >> 29);
    return static_cast<std::size_t>(hash * 31 + std::hash<MPI_Op>()(shape.op));
  }
};

// Why a call was left to MPI, for the report.
enum class Way : std::uint8_t {
  served,
  early,         // less often than makes a world worth it
  size,          // MPI is as fast
  type,          // a datatype or an operation of the program's own, or nothing to move
  many,          // of too many different sizes
  communicator,  // one that is not served
  denied         // by OPENTCA_MPI_DENY
};
inline constexpr std::size_t ways = 7;

// How often a call comes before it is served.
inline constexpr int often_enough = 3;

class Topology;

class Prepared {
 public:
  Prepared(World& world, raw::Request request, std::size_t window_element_bytes);
  // Runs the collective, and lets MPI progress in the meantime, as a call of MPI would.
  void run();
  std::byte* from() const { return from_; }
  const std::byte* to() const { return to_; }

 private:
  raw::Collective collective_;
  std::byte *from_ = nullptr, *to_ = nullptr;
};

class Communicator {
 public:
  explicit Communicator(MPI_Comm comm);
  Communicator(const Communicator&) = delete;
  ~Communicator();

  // Returns null for one whose collectives are left to MPI.
  static Communicator* find(MPI_Comm comm);
  // Drops all of them, before MPI is finalised.
  static void drop_all();

  bool is_served() const { return is_served_; }
  MPI_Comm handle() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  // Returns the collective that serves the shape, or null and why there is none. Collective where one is made.
  Prepared* prepared(const Shape& shape, Way& way) {
    if (is_final_ && last_shape_ == shape) {
      way = last_way_;
      return last_;
    }
    return look_up(shape, way);
  }

  // What serves its neighbourhood collectives.
  Topology& topology();

  // Collective. Returns its world, or null where there can be none; then there is also a communicator of the same ranks, without what the
  // program has attached.
  World* world();
  MPI_Comm own() const { return own_; }
  // Collective, once there is a world or none.
  bool all_agree(bool mine) const;

 private:
  struct Entry {
    int times = 0;
    std::optional<Way> refusal;
    std::unique_ptr<Prepared> prepared;
  };
  Prepared* look_up(const Shape& shape, Way& way);
  std::optional<Way> refusal(const Shape& shape) const;
  void prepare(const Shape& shape, Entry& entry);

  MPI_Comm comm_;
  int rank_ = 0, size_ = 0;
  bool is_served_ = false;
  // The last answer, if it stays.
  Shape last_shape_;
  bool is_final_ = false;
  Way last_way_ = Way::served;
  Prepared* last_ = nullptr;
  std::unordered_map<Shape, Entry, HashOfShape> entries_;
  std::size_t prepared_ = 0;
  bool world_failed_ = false;
  MPI_Comm own_ = MPI_COMM_NULL;
  std::optional<World> world_;
  std::unique_ptr<Topology> topology_;
};

}  // namespace tca::interposer
