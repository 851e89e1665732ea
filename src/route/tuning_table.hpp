// A table of costs measured on one machine, and its text: human-readable TOML. A checksum over all of it
// ensures that a table that was truncated or edited by hand is not taken for a measurement.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "route/cost_table.hpp"

namespace tca::route {

// The circumstances in which a table was measured.
struct TuningOrigin {
  std::string version;        // as `software()` returns it
  std::string hardware;       // as `hardware_of()` returns it
  std::string fabrics;        // as `fabric_set()` returns it
  int ranks = 0;              // how many took part
  std::int64_t measured = 0;  // seconds since 1970, UTC
};

// Returns for example "2026-11-21 14:03 UTC".
std::string date_of(std::int64_t seconds);

class TuningTable {
 public:
  TuningOrigin origin;

  // Adds a piece, copying the names that it points to.
  void add(const Cost& piece);

  // Adds the pieces of `other` for each fabric and distance that this table has none for.
  void complete_from(const TuningTable& other);

  std::span<const Cost> pieces(std::string_view fabric, std::string_view protocol) const;
  bool knows(std::string_view fabric, Distance distance) const;
  bool empty() const { return channels_.empty(); }

  // Returns the pieces of all channels.
  std::vector<Cost> all() const;

  std::string text() const;

  // Throws Error{invalid_argument} with what is wrong, such as "line 12: ..." or "it was cut off or changed
  // after it was written".
  static TuningTable parse(std::string_view text);

 private:
  struct Channel {
    std::string fabric, protocol;
    std::vector<Cost> pieces;  // whose names point to the strings above
  };
  Channel* find(std::string_view fabric, std::string_view protocol) const;

  std::vector<std::unique_ptr<Channel>> channels_;
};

}  // namespace tca::route
