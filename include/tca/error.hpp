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
  /// A call or the environment asks for something impossible, as one rank can tell by itself. The ranks
  /// that ask for it see the error; for a collective call that says "on every rank alike", all do, with the
  /// same message.
  invalid_argument = 2,
  /// A chain, a halo or a collective is impossible as the ranks have declared it: they differ, or all ask for
  /// the same impossible thing. Every rank sees the same message.
  refused = 3,
  timed_out = 4,      ///< a blocking call passed its time limit; the message names the missing ranks
  rank_lost = 5,      ///< a partner died, left or failed
  out_of_memory = 6,  ///< the machine cannot hold what was asked for
  incompatible = 7,   ///< another version, another user or a foreign shared segment
  device_failed = 8,  ///< a GPU or its driver reports an error, or there is none
  // 9 is TCA_INTERNAL of tca/tca.h.
  path_lost =
      10,  ///< a cable, a hub or a path on the way to a partner has failed, while the partner may live; the
           ///< message names it
};

/// What an error concerns, as far as that is known where the error is made.
struct ErrorFields {
  std::optional<int> rank = {};            ///< the rank that met it; nothing outside of a world
  std::string chain = {};                  ///< the name of the chain; empty if there is none
  std::optional<std::uint32_t> step = {};  ///< of that chain
  std::vector<int> missing = {};  ///< the ranks that have not signalled or arrived, or the one that is lost
  std::string file = {};          ///< the file at fault, such as a machine file
  int line = 0, column = 0;       ///< in that file, from 1; 0 if there is none
};

/// OpenTCA throws no other type. The message says what happened and what to do about it. It names the rank,
/// the chain, the window and the step that the failed call was about.
class TCA_API Error : public std::runtime_error {
 public:
  /// The message is `sentence`, after the place in a file if there is one ("quong.toml:12:7: ...").
  explicit Error(Errc code, const std::string& sentence, ErrorFields fields = {})
      : std::runtime_error(place_of(fields) + sentence),
        code_(code),
        fields_(std::make_shared<const ErrorFields>(std::move(fields))) {}

  Errc code() const { return code_; }

  /// Returns the exit code for a program that ends because of this error; `tca` uses the same.
  int exit_code() const { return static_cast<int>(code_); }

  /// What the error concerns; see ErrorFields.
  const ErrorFields& fields() const { return *fields_; }
  std::optional<int> rank() const { return fields_->rank; }
  const std::string& chain() const { return fields_->chain; }
  std::optional<std::uint32_t> step() const { return fields_->step; }
  const std::vector<int>& missing() const { return fields_->missing; }
  const std::string& file() const { return fields_->file; }
  int line() const { return fields_->line; }

  /// Returns the code and the fields in words, for a log: "timed_out: rank 0, chain 'faces', step 12,
  /// missing 1 and 3". If no rank has met the error, it says "no rank".
  [[nodiscard]] std::string describe() const;

  /// Returns this error with the fields that it lacks taken from `more`. The message stays as it is.
  [[nodiscard]] Error with(const ErrorFields& more) const;

 private:
  static std::string place_of(const ErrorFields& fields);

  Errc code_;
  std::shared_ptr<const ErrorFields> fields_;  // shared, as an exception must not throw where it is copied
};

/// Returns the name of a code, such as "timed_out".
[[nodiscard]] TCA_API const char* to_string(Errc code);

}  // namespace tca
