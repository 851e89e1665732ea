// Reads and writes the headers of both file formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qcd/files/configuration.hpp"
#include "qcd/files/payload.hpp"

namespace tca::qcd {

// Return what the file's headers say, or nothing if it is of another format. They throw
// Error{invalid_argument} if a header is damaged. They do not check the length of the file.
std::optional<Contents> inspect_nersc(const File& file, const std::string& path);
std::optional<Contents> inspect_ildg(const File& file, const std::string& path);

// Throws Error{invalid_argument} with a message that names the file.
[[noreturn]] void refuse(const std::string& path, const std::string& what);

// A header's entry, without surrounding white space.
struct HeaderValue {
  std::string name;
  std::string text;
};

// Parse the whole text as a number. They throw Error{invalid_argument} if it is not one.
std::int64_t whole_number(const HeaderValue& value, const std::string& path);
Written real_number(const HeaderValue& value, const std::string& path);
std::uint32_t checksum_number(const HeaderValue& value, const std::string& path);  // hexadecimal

// Throws Error{invalid_argument} if an extent is less than 1 or unreasonably large. The product of accepted
// extents does not overflow.
void check_extents(const Contents& contents, const std::string& path);

// The bytes before the links. `contents` must have the averages and, for NERSC, the checksum.
std::string nersc_header(const Contents& contents);
std::string ildg_header(const Contents& contents);
// The bytes after the links, padding included. `contents` must have the checksums.
std::string ildg_trailer(const Contents& contents);

}  // namespace tca::qcd
