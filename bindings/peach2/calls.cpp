#include "peach2/calls.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include "shared/program_rank.hpp"
#include "tca/error.hpp"

namespace tca::peach2 {
namespace {

struct Last {
  tcaresult result = TCA_SUCCESS;
  std::string message;
};
thread_local Last last;

tcaresult result_of(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
    case Errc::incompatible:
      return TCA_ERROR_INVALID_VALUE;
    case Errc::refused:
      return TCA_ERROR_NOT_SUPPORTED;
    case Errc::out_of_memory:
      return TCA_ERROR_OUT_OF_MEMORY;
    case Errc::timed_out:
    case Errc::rank_lost:
    case Errc::device_failed:
    case Errc::path_lost:
      break;
  }
  return TCA_ERROR_COMMUNICATION;
}

tcaresult kept(const char* call, tcaresult result, const char* sentence) {
  last = {result, fmt::format("{}: {}", call, sentence)};
  fmt::print(stderr, "tca: {}\n", last.message);
  return result;
}

}  // namespace

Board& board() {
  Board* const found = bindings::ProgramRank::mine().kept<Board>();
  if (found == nullptr) misused("no tcaInit has come before it");
  return *found;
}

void come_up() { bindings::ProgramRank::mine().keep<Board>(); }

tcaresult keep_exception(const char* call) noexcept {
  try {
    throw;
  } catch (const Misuse& misuse) {
    return kept(call, misuse.result(), misuse.what());
  } catch (const Error& error) {
    return kept(call, result_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return kept(call, TCA_ERROR_OUT_OF_MEMORY, "this process gets no more memory");
  } catch (const std::exception& other) {
    return kept(call, TCA_ERROR_COMMUNICATION, other.what());
  } catch (...) {
    return kept(call, TCA_ERROR_COMMUNICATION, "an error of unknown type");
  }
}

}  // namespace tca::peach2

using namespace tca::peach2;

const char* tcaGetErrorString(tcaresult result) {
  if (result == last.result && result != TCA_SUCCESS) return last.message.c_str();
  switch (result) {
    case TCA_SUCCESS:
      return "success";
    case TCA_ERROR_INVALID_VALUE:
      return "a value cannot be";
    case TCA_ERROR_OUT_OF_MEMORY:
      return "there is no more memory";
    case TCA_ERROR_NOT_SUPPORTED:
      return "this is not supported";
    case TCA_ERROR_COMMUNICATION:
      return "a partner is late or lost, or a device has failed";
  }
  return "no result of TCA";
}

tcaresult tcaInit() {
  return guarded("tcaInit", [] { come_up(); });
}
