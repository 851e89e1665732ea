// A file for the script that draws, which is gone with its owner.
#pragma once

#include <string>

namespace tca::tool {

class TemporaryFile {
 public:
  // Throws Error{invalid_argument} when no file can be made.
  TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tca::tool
