#include <algorithm>
#include <cstring>
#include <utility>

#include "c/calls.hpp"
#include "c/last_error.hpp"
#include "tca/version.hpp"

namespace tca::c {
namespace {

static_assert(static_cast<int>(Errc::invalid_argument) == TCA_INVALID_ARGUMENT);
static_assert(static_cast<int>(Errc::refused) == TCA_REFUSED);
static_assert(static_cast<int>(Errc::timed_out) == TCA_TIMED_OUT);
static_assert(static_cast<int>(Errc::rank_lost) == TCA_RANK_LOST);
static_assert(static_cast<int>(Errc::out_of_memory) == TCA_OUT_OF_MEMORY);
static_assert(static_cast<int>(Errc::incompatible) == TCA_INCOMPATIBLE);
static_assert(static_cast<int>(Errc::device_failed) == TCA_DEVICE_FAILED);
static_assert(static_cast<int>(Errc::path_lost) == TCA_PATH_LOST);

// Without memory even for a sentence.
constexpr const char* no_words = "this process gets no more memory";

const char* message(const LastError& last) {
  return last.status != TCA_OK && last.message.empty() ? no_words : last.message.c_str();
}

tca_error described(const LastError& last) {
  const ErrorFields& fields = last.fields;
  tca_error error = TCA_ERROR_INIT;
  error.message = message(last);
  error.chain = fields.chain.c_str();
  error.file = fields.file.c_str();
  error.missing = fields.missing.data();
  error.missing_count = static_cast<int>(fields.missing.size());
  error.status = last.status;
  error.rank = fields.rank.value_or(-1);
  error.line = fields.line;
  error.column = fields.column;
  error.has_step = fields.step.has_value();
  error.step = fields.step.value_or(0);
  return error;
}

}  // namespace
}  // namespace tca::c

using namespace tca::c;

const char* tca_status_name(tca_status status) {
  switch (status) {
    case TCA_OK:
      return "ok";
    case TCA_UNFINISHED:
      return "unfinished";
    case TCA_INTERNAL:
      return "internal";
    case TCA_INVALID_ARGUMENT:
    case TCA_REFUSED:
    case TCA_TIMED_OUT:
    case TCA_RANK_LOST:
    case TCA_OUT_OF_MEMORY:
    case TCA_INCOMPATIBLE:
    case TCA_DEVICE_FAILED:
    case TCA_PATH_LOST:
      return tca::to_string(static_cast<tca::Errc>(status));
  }
  return "no status";
}

tca_status tca_fail(tca_status status, const char* message) {
  return guarded(__func__, [&] {
    const int code = static_cast<int>(status);
    if (status < TCA_INVALID_ARGUMENT || status > TCA_PATH_LOST)
      throw Misuse(fmt::format("{} is no status of an error", code));
    LastError failed{status, &present(message, "the message"), {}};
    last_error() = std::move(failed);
    return status;
  });
}

const char* tca_last_message(void) { return message(last_error()); }

tca_status tca_last_error(tca_error* error) {
  // Refused without becoming the last error itself, which the program is asking for.
  if (error == nullptr || error->size < sizeof error->size) return TCA_INVALID_ARGUMENT;
  tca_error all = described(last_error());
  all.size = error->size;
  std::memcpy(error, &all, std::min(all.size, sizeof all));
  return TCA_OK;
}

const char* tca_library_version(void) { return tca::library_version(); }
