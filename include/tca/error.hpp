// What can go wrong, as one exception type with a code a program can act on.
#pragma once

#include <stdexcept>
#include <string>

namespace tca {

enum class Errc {
  invalid_argument = 2,  // what a call or the environment asks for cannot be; who asks for it sees it
  refused = 3,           // ranks do not fit together (a chain, a halo, a collective); every rank sees the same message
  timed_out = 4,         // a blocking call passed its time limit; the message names who is missing
  rank_lost = 5,         // a partner died, left or failed
  out_of_memory = 6,     // the machine cannot hold what was asked for
  incompatible = 7,      // another version, another user or a foreign shared segment
  device_failed = 8,     // a GPU or its driver reports an error, or there is none
};

// Every error OpenTCA raises. The message says what happened, to which rank, chain and step, and what to do.
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
