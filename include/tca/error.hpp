// What can go wrong, as one exception type with a code a program can act on.
#pragma once

#include <stdexcept>
#include <string>

namespace tca {

enum class Errc {
  // What a call or the environment asks for cannot be, as a rank can tell by itself. Who asks for it sees it, the
  // others where the call says so.
  invalid_argument = 2,
  // A chain, a halo or a collective cannot be as the ranks have declared it, be it that they differ or that all ask for
  // the same impossible thing. Every rank sees the same message.
  refused = 3,
  timed_out = 4,      // a blocking call passed its time limit; the message names who is missing
  rank_lost = 5,      // a partner died, left or failed
  out_of_memory = 6,  // the machine cannot hold what was asked for
  incompatible = 7,   // another version, another user or a foreign shared segment
  device_failed = 8,  // a GPU or its driver reports an error, or there is none
};

// Every error OpenTCA raises. The message says what happened, and what to do. It names the rank, the chain, the window
// and the step that it is about, as far as the call that failed has to do with them.
class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}

  Errc code() const { return code_; }

  // What a program that ends because of this error should return; the command line does.
  int exit_code() const { return static_cast<int>(code_); }

 private:
  Errc code_;
};

}  // namespace tca
