// Files that are written as a whole or not at all, whether or not the disk has room for them.
#pragma once

#include <filesystem>
#include <string_view>

namespace tca::base {

// Behind the name of a file that is being written.
inline constexpr const char* draft_suffix = ".unfinished";

// Returns the file that a path leads to, also where its last link leads to nothing yet, a case that
// std::filesystem::weakly_canonical leaves as it is.
std::filesystem::path behind_links(std::filesystem::path path);

// Writes the text to a draft beside the file and renames that, so that the file has all of it or is as it was. A file that is
// replaced keeps its permissions, and links to it stay. What is no regular file, such as a pipe, is written to as it is. Returns 0,
// or the errno of what failed.
int write_whole(const std::filesystem::path& path, std::string_view text);

// Appends the text, or nothing of it. Returns 0, or the errno of what failed.
int append_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace tca::base
