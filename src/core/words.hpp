// How messages describe part of a window: in the program's elements, and by the name that the program gave
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/layout/region.hpp"

namespace tca::core {

// Returns e.g. "elements 0 to 63 (bytes 0 to 512) of window 'u' on rank 1". An element counts if the range
// touches any of its bytes.
std::string in_words(base::ByteRange bytes, std::size_t element_bytes, const std::string& window, int rank);

// Returns rows as lines with aligned columns, indented by two spaces. Rows may have fewer columns.
std::string in_columns(const std::vector<std::vector<std::string>>& rows);

// Returns e.g. "64 elements", "1 element".
std::string count_in_words(std::int64_t elements);

}  // namespace tca::core
