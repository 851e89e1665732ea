// Reads and writes the headers of both file formats.
#pragma once

#include <cstdint>
#include <map>
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
  std::string header;  // its name
  std::string name;
  std::string text;
};

// What a header says. Other programs may write any entries, any number of times.
struct Header {
  std::string name;  // for messages, e.g. "NERSC header"
  std::multimap<std::string, std::string> entries;

  bool has(const std::string& entry) const { return entries.contains(entry); }
  // Throws Error{invalid_argument} unless the entry occurs exactly once.
  HeaderValue value(const std::string& entry, const std::string& path) const;
};

std::string trimmed(const std::string& text);  // without white space around it

// The text of each element of an XML document, by its name without a prefix. The document may end with zeros,
// which some programs write behind it. Throws Error{invalid_argument} if it is no XML.
Header xml_header(const std::string& name, const std::string& text, const std::string& path);

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
