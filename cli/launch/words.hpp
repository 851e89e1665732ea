// Relays errors: ranks that are `tca` themselves tell their errors to the `tca` that launched them, which
// prints one that several ranks share only once.
#pragma once

#include <string>
#include <vector>

#include "base/system/environment.hpp"
#include "cli/launch/fd.hpp"

namespace tca::tool {

// Called by a rank, with the command's name and what it says. Returns false when no launcher listens, as on
// another host; the rank then prints the message itself.
bool tell_launcher(int rank, const std::string& name, const std::string& message);

// The launcher's side: a memory file to which the ranks write.
class Words {
 public:
  static constexpr base::VariableName variable = "OPENTCA_WORDS";  // tells the ranks where the file is

  // Throws Error{out_of_memory} when there is no memory for the file.
  Words();
  std::string path() const;

  struct Saying {
    std::string name, message;
    std::vector<int> ranks;  // in ascending order
  };
  // Returns what was said, in the order in which each message was first said.
  std::vector<Saying> all() const;

 private:
  Fd file_;
};

}  // namespace tca::tool
