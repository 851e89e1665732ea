/// @file
/// The one exception type of OpenTCA, with a code that a program can act on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// What an error has to do with, as far as it is known where the error is made.
struct ErrorFields {
  std::optional<int> rank = {};            ///< that has met it; nothing outside of a world
  std::string chain = {};                  ///< the name of the chain; empty where it concerns none
  std::optional<std::uint32_t> step = {};  ///< of that chain
  std::vector<int> missing = {};  ///< the ranks that have not signalled or not come, or the one that is lost
  std::string file = {};          ///< that says what cannot be, such as a machine file
  int line = 0, column = 0;       ///< in that file, from 1; 0 where the error concerns none
};

/// OpenTCA throws no other type. The message says what happened and what to do. It names the rank, the chain,
/// the window and the step, as far as the call that failed has to do with them.
class TCA_API Error : public std::runtime_error {
 public:
  /// The message is `sentence`, behind the place in a file if there is one ("quong.toml:12:7: ...").
  explicit Error(Errc code, const std::string& sentence, ErrorFields fields = {})
      : std::runtime_error(place_of(fields) + sentence),
        code_(code),
        fields_(std::make_shared<const ErrorFields>(std::move(fields))) {}

  Errc code() const { return code_; }

  /// Returns the code with which a program should end because of this error, as the command line does.
  int exit_code() const { return static_cast<int>(code_); }

  /// What the error has to do with; see ErrorFields.
  const ErrorFields& fields() const { return *fields_; }
  std::optional<int> rank() const { return fields_->rank; }
  const std::string& chain() const { return fields_->chain; }
  std::optional<std::uint32_t> step() const { return fields_->step; }
  const std::vector<int>& missing() const { return fields_->missing; }
  const std::string& file() const { return fields_->file; }
  int line() const { return fields_->line; }

  /// Returns the code and the fields in words, for a log: "timed_out: rank 0, chain 'faces', step 12, missing
  /// 1 and 3". Where no rank has met the error, it says "no rank".
  [[nodiscard]] std::string describe() const;

  /// Returns this error, with those of `more` for the fields that it lacks. The message stays.
  [[nodiscard]] Error with(const ErrorFields& more) const;

 private:
  static std::string place_of(const ErrorFields& fields);

  Errc code_;
  std::shared_ptr<const ErrorFields> fields_;  // shared, as an exception must not throw where it is copied
};

/// Returns the name of a code, such as "timed_out".
[[nodiscard]] TCA_API const char* to_string(Errc code);

}  // namespace tca
