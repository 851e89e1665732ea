#include "c/calls.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "c/last_error.hpp"

namespace tca::c {

namespace {

// An error of a rank's own, with a status that is none of Errc.
class BodyFailed : public std::runtime_error {
 public:
  BodyFailed(tca_status status, const std::string& sentence)
      : std::runtime_error(sentence), status_(status) {}
  tca_status status() const { return status_; }

 private:
  tca_status status_;
};

bool is_errc(tca_status status) {
  return (status >= TCA_INVALID_ARGUMENT && status <= TCA_DEVICE_FAILED) || status == TCA_PATH_LOST;
}

tca_status keep(tca_status status, std::string sentence, ErrorFields fields = {}) {
  LastError& last = last_error();
  last = {status, std::move(sentence), std::move(fields)};
  return status;
}

tca_status classify(const char* call) {
  try {
    throw;
  } catch (const Misuse& misuse) {
    return keep(TCA_INVALID_ARGUMENT, fmt::format("{}: {}", call, misuse.what()));
  } catch (const Error& error) {
    return keep(static_cast<tca_status>(error.code()), error.what(), error.fields());
  } catch (const BodyFailed& failed) {
    return keep(failed.status(), failed.what());
  } catch (const std::bad_alloc&) {
    return keep(TCA_OUT_OF_MEMORY, fmt::format("{}: this process gets no more memory", call));
  } catch (const std::exception& error) {
    return keep(TCA_INTERNAL, fmt::format("{}: {}", call, error.what()));
  } catch (...) {
    return keep(TCA_INTERNAL, fmt::format("{}: something was thrown that is no std::exception", call));
  }
}

}  // namespace

LastError& last_error() {
  thread_local LastError last;
  return last;
}

tca_status keep_exception(const char* call) noexcept {
  try {
    return classify(call);
  } catch (...) {
    // There is no memory for the sentence either.
    last_error().status = TCA_OUT_OF_MEMORY;
    last_error().message.clear();
    return TCA_OUT_OF_MEMORY;
  }
}

void throw_status(int rank, tca_status status) {
  const LastError& last = last_error();
  const int code = static_cast<int>(status);
  const bool is_known = is_errc(status) || status == TCA_INTERNAL;
  const std::string name =
      is_known || status == TCA_UNFINISHED ? tca_status_name(status) : std::to_string(code);
  const std::string sentence =
      last.status == status && !last.message.empty()
          ? last.message
          : fmt::format("rank {} returned {}, without an error of OpenTCA's", rank, name);
  if (!is_errc(status)) throw BodyFailed(is_known ? status : TCA_INTERNAL, sentence);
  const ErrorFields fields = sentence == last.message ? last.fields : ErrorFields{.rank = rank};
  throw Error(static_cast<Errc>(code), sentence).with(fields);
}

const char* lent(std::string text) {
  thread_local std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

std::chrono::nanoseconds duration_of(double seconds) {
  if (!(seconds >= 0)) throw Misuse(fmt::format("{} seconds cannot be", seconds));
  constexpr double longest = 1e9;  // so that any clock can add it
  return std::chrono::nanoseconds(std::llround(std::min(seconds, longest) * 1e9));
}

std::optional<std::chrono::milliseconds> limit_of(double seconds) {
  if (seconds == 0) return {};
  return std::chrono::ceil<std::chrono::milliseconds>(duration_of(seconds));
}

}  // namespace tca::c
