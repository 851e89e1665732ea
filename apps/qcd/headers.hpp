// The headers of the two formats of configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qcd/configuration.hpp"
#include "qcd/payload.hpp"

namespace tca::qcd {

// What a file's headers say; nothing when it is of another format. Throw Error{invalid_argument} for a damaged one. The length of
// the file is not looked at.
std::optional<Contents> inspect_nersc(const File& file, const std::string& path);
std::optional<Contents> inspect_ildg(const File& file, const std::string& path);

// Throws Error{invalid_argument} that names the file.
[[noreturn]] void refuse(const std::string& path, const std::string& what);

// What a header says under a name, without space around it.
struct HeaderValue {
  std::string name;
  std::string text;
};

// Throw Error{invalid_argument} for what is no such number from its beginning to its end.
std::int64_t whole_number(const HeaderValue& value, const std::string& path);
Written real_number(const HeaderValue& value, const std::string& path);
std::uint32_t checksum_number(const HeaderValue& value, const std::string& path);  // hexadecimal

// Throws Error{invalid_argument} for extents that no lattice has; products of those that pass do not overflow.
void check_extents(const Contents& contents, const std::string& path);

// What comes before the links. `contents` has its sums (NERSC) and averages.
std::string nersc_header(const Contents& contents);
std::string ildg_header(const Contents& contents);
// What comes after them, padding included; `contents` has its sums.
std::string ildg_trailer(const Contents& contents);

}  // namespace tca::qcd
