// Reads numbers from the system's files (/proc, /sys).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tca::base {

inline constexpr std::uint64_t no_limit = UINT64_MAX;

// Reads a file that holds one number. "max" and a missing file mean no limit.
std::uint64_t read_number(const std::string& path);

// Returns the sum of `first` and `second` in a file of names and numbers; a missing name counts as 0.
std::uint64_t read_sum(const std::string& path, std::string_view first, std::string_view second = {});

}  // namespace tca::base
