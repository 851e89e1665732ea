/// @file
/// The one exception type of OpenTCA, with a code that a program can act on.
#pragma once

#include <stdexcept>
#include <string>

#include "tca/detail/api.hpp"
#include "tca/detail/language.hpp"

namespace tca {

enum class Errc {
  /// A call or the environment asks for what cannot be, as one rank can tell by itself. Where the call is
  /// collective every rank sees the error, with the same message; otherwise that rank alone does.
  invalid_argument = 2,
  /// A chain, a halo or a collective cannot be as the ranks have declared it: they differ, or all ask for the
  /// same impossible thing. Every rank sees the same message.
  refused = 3,
  timed_out = 4,      ///< a blocking call passed its time limit; the message names who is missing
  rank_lost = 5,      ///< a partner died, left or failed
  out_of_memory = 6,  ///< the machine cannot hold what was asked for
  incompatible = 7,   ///< another version, another user or a foreign shared segment
  device_failed = 8,  ///< a GPU or its driver reports an error, or there is none
};

/// OpenTCA throws no other type. The message says what happened and what to do. It names the rank, the chain,
/// the window and the step, as far as the call that failed has to do with them.
class TCA_API Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}

  Errc code() const { return code_; }

  /// Returns the code with which a program should end because of this error, as the command line does.
  int exit_code() const { return static_cast<int>(code_); }

 private:
  Errc code_;
};

}  // namespace tca
