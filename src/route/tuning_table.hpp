// A table of costs measured on one machine, and its text: TOML that a person can read, with a checksum over all of it, so
// that what was cut off or changed by hand is not taken for a measurement.
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

// What a table was measured with.
struct TuningOrigin {
  std::string version;        // as `software()` says it
  std::string hardware;       // as `hardware_of()` says it
  std::string fabrics;        // as `fabric_set()` says it
  int ranks = 0;              // that took part
  std::int64_t measured = 0;  // when: seconds since 1970, UTC
};

// "2026-11-21 14:03 UTC"
std::string date_of(std::int64_t seconds);

class TuningTable {
 public:
  TuningOrigin origin;

  // Copies the names that the piece only points to.
  void add(const Cost& piece);

  // Adds what `other` has of fabrics at distances that this one does not know.
  void complete_from(const TuningTable& other);

  std::span<const Cost> pieces(std::string_view fabric, std::string_view protocol) const;
  bool knows(std::string_view fabric, Distance distance) const;
  bool empty() const { return channels_.empty(); }

  // Every channel's pieces.
  std::vector<Cost> all() const;

  std::string text() const;

  // Throws Error{invalid_argument} with what is wrong: "line 12: ..." or "it was changed after it was written".
  static TuningTable parse(std::string_view text);

 private:
  struct Channel {
    std::string fabric, protocol;
    std::vector<Cost> pieces;  // which point to the names above
  };
  Channel* find(std::string_view fabric, std::string_view protocol) const;

  std::vector<std::unique_ptr<Channel>> channels_;
};

}  // namespace tca::route
