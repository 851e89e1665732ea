// What the tuner measures: partners put to each other what they have just written, and read what has arrived.
//
// They put once, or twice as halos do. Where the rows of an array have room for it, these puts take the edges
// at both ends of the rows to the ghosts beside the partner's edges. Two such puts share a signal, cache
// lines, pages and the sets of a cache, so the cost of one of them is not what it would cost alone. On a
// Xeon, 4096 doubles 512 bytes apart were pulled in 36 us and staged in 44, and two such faces in 125 and 45.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "contender.hpp"

namespace tca::bench {

// The shape of a put, the same on both sides: `planes` planes, `plane_pitch` bytes apart, each with `runs`
// runs of `run` bytes, `pitch` bytes apart. With several planes their pitch is a multiple of `pitch`.
struct PutShape {
  std::size_t run = 0, runs = 1, pitch = 0, planes = 1, plane_pitch = 0;

  // Bytes of one put.
  std::size_t bytes() const { return run * runs * planes; }
  std::size_t extent() const { return (planes - 1) * plane_pitch + (runs - 1) * pitch + run; }

  // Returns whether a row holds both edges and both ghosts.
  bool has_faces() const { return runs > 1 && pitch >= 4 * run; }
};

inline constexpr int most_puts = 2;

Layout layout_of(const PutShape& shape);

// Formats a shape: "4096 bytes"; "512 x 8 / 72" for 512 runs of 8 bytes, 72 apart; with planes "4 x 512 x 8 /
// 72 / 65536".
std::string to_string(const PutShape& shape);

// Every rank r exchanges with rank r ^ `across`, and so with itself when that is 0. A rank whose partner does
// not exist only takes part in the collective calls.
struct PutPoint {
  PutShape shape;
  int across = 1;
  int puts = most_puts;
};

// Formats the shape, and adds ", alone" when there is only one put.
std::string to_string(const PutPoint& point);

// A channel for the puts of a point, such as shm/direct.
struct Channel {
  std::string fabric, protocol;
  std::string name() const { return fabric + "/" + protocol; }
};

// Memory for the steps of the puts.
class PutField {
 public:
  // Where a put begins on either side.
  struct Face {
    std::size_t sent, arrived;
  };

  // Returns the bytes that a step needs.
  static std::size_t bytes_for(const PutShape& shape) {
    return shape.has_faces() ? shape.extent() + shape.pitch : 4 * behind(shape.extent());
  }
  // Returns the faces of this rank, which are also those of its partner.
  static std::vector<Face> faces(const PutPoint& point) {
    const PutShape& shape = point.shape;
    const std::size_t next = behind(shape.extent());
    std::vector<Face> all{{0, 2 * next}, {next, 3 * next}};
    if (shape.has_faces()) {
      const std::size_t last = shape.pitch - shape.run;
      all = {{shape.run, last}, {last - shape.run, 0}};
    }
    all.resize(static_cast<std::size_t>(point.puts));
    return all;
  }

  // Collective.
  PutField(World& world, std::size_t bytes) : window_(world.window<std::byte>(bytes)) {}

  const Window<std::byte>& window() const { return window_; }
  std::byte* data() const { return window_.data(); }

  // What the next step writes; the same on every rank, since all take the same steps.
  unsigned value = 0;

 private:
  // Returns where the next such piece begins: at a cache line, but at another offset in a page and in a
  // cache.
  static std::size_t behind(std::size_t extent) { return (extent + 63) / 64 * 64 + std::size_t{17} * 64; }

  Window<std::byte> window_;
};

// Collective. Returns whether a chain can use that channel: some MPIs cannot make the windows of mpi/rma.
bool is_open(World& world, PutField& field, const PutPoint& point, const Channel& channel);

// Collective. Returns the step without an exchange, then one over each of the channels. All of them use the
// same memory, so that its placement favours no channel. The field outlives them.
std::vector<std::unique_ptr<Stepped>> put_exchanges(World& world, PutField& field, const PutPoint& point,
                                                    const std::vector<Channel>& channels);

}  // namespace tca::bench
