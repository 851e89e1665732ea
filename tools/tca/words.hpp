// What ranks that are `tca` itself have to say when they fail. They tell it to the `tca` that has launched them, which says once
// what several say alike.
#pragma once

#include <string>
#include <vector>

#include "fd.hpp"

namespace tca::tool {

// The rank's side. False where nobody listens, as on another host; then it says so itself.
bool tell_launcher(int rank, const std::string& message);

// The launcher's side.
class Words {
 public:
  static constexpr const char* variable = "OPENTCA_WORDS";  // tells ranks where

  // Throws Error{out_of_memory}.
  Words();
  std::string path() const;

  struct Saying {
    std::string message;
    std::vector<int> ranks;  // in order
  };
  // In the order in which they were first said.
  std::vector<Saying> all() const;

 private:
  Fd file_;
};

}  // namespace tca::tool
