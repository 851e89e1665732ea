#include "runtime/runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

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

void guarded(const xacc_place* at, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    end_with(at, error.what(), error.exit_code());
  } catch (const std::exception& error) {
    end_with(at, error.what(), 1);
  }
}

void refuse(const std::string& message) { throw Error(Errc::invalid_argument, message); }

Runtime& Runtime::get() {
  if (!instance())
    refuse(
        "no main function has been translated that could start OpenTCA: compile the file of main with tca "
        "xacc cc");
  return *instance();
}

bool Runtime::started() { return instance() != nullptr; }

void Runtime::start() {
  if (instance()) return;
  instance() = std::make_unique<Runtime>(World::init());
  std::atexit([] {
    guarded(nullptr, [] { instance()->meet(instance()->executing_ranks()); });
    instance().reset();
  });
  for (const auto set_up : set_ups()) set_up();
}

Runtime::Runtime(World world) : world_(std::move(world)) {
  std::vector<int> all(static_cast<std::size_t>(world_.size()));
  std::iota(all.begin(), all.end(), 0);
  stack_.push_back(std::move(all));
}

Runtime::~Runtime() = default;

Images& Runtime::images() {
  if (!images_) images_ = std::make_unique<Images>(world_);
  return *images_;
}

void Runtime::meet(const std::vector<int>& ranks) {
  if (images_ && images_->has_coarrays()) images_->meet(ranks);
}

Group& Runtime::executing() { return group(stack_.back()); }

Group& Runtime::group(const std::vector<int>& ranks) {
  auto& slot = groups_[ranks];
  if (slot) return *slot;
  const auto me = std::find(ranks.begin(), ranks.end(), world_.rank());
  if (me == ranks.end()) {
    groups_.erase(ranks);
    refuse("rank " + std::to_string(world_.rank()) + " is none of those that this directive concerns");
  }
  auto made =
      std::make_unique<Group>(Group{ranks, std::nullopt, &world_, static_cast<int>(me - ranks.begin())});
  if (ranks != stack_.front()) {
    made->own.emplace(world_.group(ranks));
    made->world = &*made->own;
  }
  slot = std::move(made);
  return *slot;
}

Storage& Runtime::allocate(std::size_t element_bytes, std::int64_t capacity, const std::string& name) {
  meet(stack_.back());
  Group* group = &executing();
  for (const auto& s : storages_) {
    if (s->used || s->element_bytes != element_bytes || s->capacity != capacity || s->group != group)
      continue;
    s->used = true;
    return *s;
  }
  raw::Window window(*group->world, capacity, element_bytes, name);
  storages_.push_back(std::make_unique<Storage>(Storage{std::move(window), element_bytes, capacity, group}));
  return *storages_.back();
}

Storage* Runtime::storage_at(const void* address) {
  for (const auto& s : storages_)
    if (s->used && s->window.data() == address) return s.get();
  return nullptr;
}

}  // namespace tca::xacc

using tca::xacc::guarded;
using tca::xacc::Runtime;

void xacc_start(void) {
  guarded(nullptr, [] { Runtime::start(); });
}

void xacc_explain(void) { Runtime::get().explain = true; }

void xacc_register(void (*set_up)(void)) { tca::xacc::set_ups().push_back(set_up); }
