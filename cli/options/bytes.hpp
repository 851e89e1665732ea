// Reads sizes in bytes as users type them: 4096, 8K, 64KiB, 1M. K is 1024, as in the benchmarks of MPI and
// NCCL.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tca::tool {

// Reads a whole number, alone or with K, M, G or T, behind which B or iB may stand; in either case. Returns
// nothing for any other text and for what overflows.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// Writes a size the way `parse_bytes` reads it, in the largest unit that divides it: 64K, 1M, 1000.
std::string bytes_in_short(std::int64_t bytes);

// Makes an option take sizes from `least` to `most` bytes, with or without a unit.
CLI::Option* takes_bytes(CLI::Option* option, std::int64_t least, std::int64_t most);

}  // namespace tca::tool
