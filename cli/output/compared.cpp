#include "cli/output/compared.hpp"

#include <fmt/format.h>

namespace tca::tool {

namespace {

// Four digits, and no exponent: a search or an iteration may take a second.
std::string in_us(double us) { return us < 9999.5 ? fmt::format("{:.4g}", us) : fmt::format("{:.0f}", us); }

}  // namespace

std::string compared(const std::string& peer, double own_us, double peer_us,
                     const std::optional<bench::Spread>& ratio) {
  const std::string times = fmt::format("{} us, {} {}", in_us(own_us), peer, in_us(peer_us));
  if (!ratio) return fmt::format("{}: below the noise", times);
  if (!ratio->is_known())
    return fmt::format("{}: {} takes {} times as long, in too few turns to tell", times, peer,
                       bench::to_string(ratio->median));
  const std::string low = bench::to_string(ratio->low), high = bench::to_string(ratio->high);
  if (ratio->covers(1)) return fmt::format("{}: the same within the spread ({} to {})", times, low, high);
  return fmt::format("{}: {} takes {} times as long ({} to {})", times, peer, bench::to_string(ratio->median),
                     low, high);
}

}  // namespace tca::tool
