// How a program begins, and how it ends with an error.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/check/checks.hpp"
#include "runtime/images/images.hpp"

namespace tca::xacc {
namespace {

std::unique_ptr<Runtime>& instance() {
  static std::unique_ptr<Runtime> runtime;
  return runtime;
}

std::vector<void (*)()>& set_ups() {
  static std::vector<void (*)()> all;
  return all;
}

bool& uses_gpu() {
  static bool uses = false;
  return uses;
}

// Regions were translated for GPUs, so windows are there.
WorldOptions options_on_gpus() {
  WorldOptions options;
  const char* fabric = std::getenv("OPENTCA_FABRIC");
  if (!fabric || !*fabric)
    options.fabric = "cuda";
  else if (!std::strstr(fabric, "cuda"))
    refuse("the program's compute regions were translated for GPUs (--acc cuda), and OPENTCA_FABRIC is " +
           std::string(fabric) + ": choose cuda or cuda+mpi, or translate it with --acc cpu");
  return options;
}

[[noreturn]] void end_with(const xacc_place* at, const char* message, int code) {
  std::fflush(stdout);
  if (at && at->line > 0)
    std::fprintf(stderr, "%s:%d: %s: %s\n", at->file, at->line, at->directive, message);
  else if (at)  // a function, which has no place in the source
    std::fprintf(stderr, "%s: %s\n", at->directive, message);
  else
    std::fprintf(stderr, "%s\n", message);
  std::fflush(stderr);
  _exit(code);  // partners see that this rank is gone
}

}  // namespace

void end_in(const xacc_place* at) {
  try {
    throw;
  } catch (const Error& error) {
    end_with(at, error.what(), error.exit_code());
  } catch (const std::exception& error) {
    end_with(at, error.what(), 1);
  }
}

#ifndef OPENTCA_XACC_CUDA
std::unique_ptr<Device> make_cuda_device() {
  refuse("the program's compute regions were translated for GPUs, and this OpenTCA was built without CUDA");
}
#endif

void refuse(const std::string& message) { throw Error(Errc::invalid_argument, message); }

Runtime& Runtime::get() {
  if (!instance())
    refuse(
        "no main function has been translated that could start OpenTCA: compile the file of main with tca "
        "xacc cc");
  return *instance();
}

namespace {

std::unique_ptr<Runtime> start_on_gpu() {
  try {
    return std::make_unique<Runtime>(World::init(options_on_gpus()), make_cuda_device());
  } catch (const Error& error) {
    if (error.code() != Errc::device_failed && error.code() != Errc::invalid_argument) throw;
    throw Error(error.code(), std::string(error.what()) +
                                  " (the program's compute regions were translated for GPUs; "
                                  "tca xacc cc --acc cpu has the host do them)");
  }
}

}  // namespace

bool Runtime::started() { return instance() != nullptr; }

void Runtime::start() {
  if (instance()) return;
  if (uses_gpu())
    instance() = start_on_gpu();
  else
    instance() = std::make_unique<Runtime>(World::init(), make_host_device(is_checked_));
  std::atexit([] {
    guarded(nullptr, [] {
      instance()->device().wait_all();
      instance()->meet(instance()->executing_ranks());
    });
    instance().reset();
  });
  for (const auto set_up : set_ups()) set_up();
  instance()->setting_up_ = false;
}

}  // namespace tca::xacc

using tca::xacc::guarded;
using tca::xacc::Runtime;

void xacc_start(void) {
  guarded(nullptr, [] { Runtime::start(); });
}

void xacc_checked(void) { Runtime::check(); }

void xacc_end_of_main(const int*) {
  static const xacc_place end{"", 0, "the end of main"};
  guarded(&end, [] {
    if (auto* checks = Runtime::get().checks()) checks->compare_all(end);
  });
}

void xacc_explain(void) { Runtime::get().explain = true; }

void xacc_use_gpu(void) { tca::xacc::uses_gpu() = true; }

void xacc_register(void (*set_up)(void)) { tca::xacc::set_ups().push_back(set_up); }
