// What the tuner measures: partners put to each other what they have just written, and read what has arrived.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "contender.hpp"

namespace tca::bench {

// The same bytes on both sides: `planes` times, `plane_pitch` apart, `runs` runs of `run` bytes, `pitch` apart. With
// several planes their pitch is a multiple of `pitch`.
struct PutShape {
  std::size_t run = 0, runs = 1, pitch = 0, planes = 1, plane_pitch = 0;

  std::size_t bytes() const { return run * runs * planes; }
  std::size_t extent() const { return (planes - 1) * plane_pitch + (runs - 1) * pitch + run; }
};

Layout layout_of(const PutShape& shape);

// "4096 bytes", "512 x 8 / 72": runs of 8 bytes, 72 apart; with planes "4 x 512 x 8 / 72 / 65536".
std::string to_string(const PutShape& shape);

// Every rank r exchanges with rank r ^ `across`: with itself when that is 0. A rank whose partner is not there only
// keeps company.
struct PutPoint {
  PutShape shape;
  int across = 1;
};

// A way for the puts of a point, such as shm/direct.
struct Channel {
  std::string fabric, protocol;
  std::string name() const { return fabric + "/" + protocol; }
};

// Memory for every point whose extent is no larger: what is sent, and behind it what arrives.
class PutField {
 public:
  // Collective.
  PutField(World& world, std::size_t extent)
      : half_((extent + 63) / 64 * 64), window_(world.window<std::byte>(2 * half_)) {}

  std::size_t arrivals() const { return half_; }
  const Window<std::byte>& window() const { return window_; }
  std::byte* sent() const { return window_.data(); }
  const std::byte* arrived() const { return window_.data() + half_; }

  // What the next step writes: the same on every rank, since all take the same steps.
  unsigned value = 0;

 private:
  std::size_t half_;
  Window<std::byte> window_;
};

// Collective. The step without an exchange, then the one over each of the channels, all on the same memory: what its place
// costs is no channel's merit. The field outlives them.
std::vector<std::unique_ptr<PutExchange>> put_exchanges(World& world, PutField& field, const PutPoint& point,
                                                        const std::vector<Channel>& channels);

}  // namespace tca::bench
