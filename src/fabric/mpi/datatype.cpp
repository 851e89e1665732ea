#include "fabric/mpi/datatype.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <deque>
#include <utility>

namespace tca::mpi {

namespace {

constexpr std::uint64_t most = INT_MAX;  // MPI counts in ints
constexpr std::uint64_t chunk = std::uint64_t{1} << 30;

Datatype structure(const std::vector<int>& counts, const std::vector<MPI_Aint>& places,
                   const std::vector<MPI_Datatype>& types) {
  MPI_Datatype type;
  check(MPI_Type_create_struct(static_cast<int>(counts.size()), counts.data(), places.data(), types.data(),
                               &type),
        "describing a layout");
  return Datatype(type);
}

Datatype vector(std::uint64_t count, std::uint64_t block, std::int64_t pitch, MPI_Datatype of) {
  MPI_Datatype type;
  check(MPI_Type_create_hvector(static_cast<int>(count), static_cast<int>(block),
                                static_cast<MPI_Aint>(pitch), of, &type),
        "describing a layout");
  return Datatype(type);
}

// Returns any number of elements, even more than an int can count, `pitch` bytes apart.
Datatype repeated(std::uint64_t count, std::int64_t pitch, MPI_Datatype of) {
  if (count <= most) return vector(count, 1, pitch, of);
  const Datatype piece = vector(chunk, 1, pitch, of);
  const auto span = static_cast<std::int64_t>(chunk) * pitch;
  const Datatype pieces = vector(count / chunk, 1, span, piece.get());
  const Datatype rest = vector(count % chunk, 1, pitch, of);
  const auto rest_at = static_cast<MPI_Aint>(static_cast<std::int64_t>(count / chunk) * span);
  return structure({1, 1}, {0, rest_at}, {pieces.get(), rest.get()});
}

Datatype run_of(std::uint64_t bytes) {
  return bytes <= most ? vector(1, bytes, 0, MPI_BYTE) : repeated(bytes, 1, MPI_BYTE);
}

Datatype loops(const base::Shape& shape, Side side) {
  const auto pitch = [&](std::size_t i) {
    return side == Side::to ? shape.loops[i].to_pitch : shape.loops[i].from_pitch;
  };
  if (shape.loop_count == 0) return run_of(shape.run);
  const bool small = shape.run <= most && shape.loops[0].count <= most;
  Datatype type = small ? vector(shape.loops[0].count, shape.run, pitch(0), MPI_BYTE)
                        : repeated(shape.loops[0].count, pitch(0), run_of(shape.run).get());
  for (std::size_t i = 1; i < shape.loop_count; ++i) {
    type = repeated(shape.loops[i].count, pitch(i), type.get());
  }
  return type;
}

Content committed(const void* address, Datatype type) {
  MPI_Datatype handle = type.get();
  check(MPI_Type_commit(&handle), "describing a layout");
  return {address, 1, std::move(type)};
}

}  // namespace

std::uint64_t bytes_of(const Content& content) {
  MPI_Count bytes = 0;
  check(MPI_Type_size_x(content.type.get(), &bytes), "describing a layout");
  return static_cast<std::uint64_t>(content.count) * static_cast<std::uint64_t>(bytes);
}

Content dense(const void* address, std::size_t bytes) {
  if (bytes <= most) return {address, static_cast<int>(bytes), Datatype(MPI_DATATYPE_NULL)};
  return committed(address, run_of(bytes));
}

namespace {

// Joins adjacent blocks. Collectives put their blocks in pieces; MPI would make its own copies of these,
// whereas it moves contiguous bytes from one process to the other directly.
std::vector<Piece> joined(const std::vector<Piece>& pieces, std::deque<base::Shape>& blocks) {
  std::vector<Piece> all;
  for (const Piece& piece : pieces) {
    const bool follows = !all.empty() && all.back().shape->loop_count == 0 && piece.shape->loop_count == 0 &&
                         all.back().address + all.back().shape->run == piece.address;
    if (!follows) {
      all.push_back(piece);
      continue;
    }
    base::Shape block;
    block.run = all.back().shape->run + piece.shape->run;
    all.back().shape = &blocks.emplace_back(block);
  }
  return all;
}

}  // namespace

Content scattered(const std::vector<Piece>& of, Side side) {
  std::deque<base::Shape> blocks;
  const std::vector<Piece> pieces = joined(of, blocks);
  if (pieces.size() == 1) {
    const Piece& only = pieces.front();
    return only.shape->loop_count == 0 ? dense(only.address, only.shape->run)
                                       : committed(only.address, loops(*only.shape, side));
  }
  std::vector<Datatype> types;
  std::vector<MPI_Datatype> handles;
  std::vector<MPI_Aint> places;
  for (const Piece& piece : pieces) {
    types.push_back(loops(*piece.shape, side));
    handles.push_back(types.back().get());
    check(MPI_Get_address(piece.address, &places.emplace_back()), "describing a layout");
  }
  return committed(MPI_BOTTOM, structure(std::vector<int>(pieces.size(), 1), places, handles));
}

}  // namespace tca::mpi
