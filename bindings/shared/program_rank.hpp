// The rank that a program is whose interface says nothing of worlds: that of this process or, where ranks are threads,
// of this thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <typeindex>

#include "tca/world.hpp"

namespace tca::bindings {

class ProgramRank {
 public:
  // A rank of the process, which comes up in a world by what its launcher says.
  ProgramRank() : own_(World::init()), world_(&*own_) {}
  // A rank that is this thread, for as long as the object lives.
  explicit ProgramRank(World& world) : world_(&world) { of_thread() = this; }
  ProgramRank(const ProgramRank&) = delete;
  ~ProgramRank() {
    kept_.clear();  // before the world
    if (!own_) of_thread() = nullptr;
  }

  static ProgramRank& mine() {
    if (of_thread() != nullptr) return *of_thread();
    static ProgramRank of_process;
    return of_process;
  }

  World& world() { return *world_; }

  // What a binding keeps for the rank, made of the world when it is first asked for.
  template <class State>
  State& keep() {
    std::shared_ptr<void>& kept = kept_[typeid(State)];
    if (kept == nullptr) kept = std::make_shared<State>(*world_);
    return *static_cast<State*>(kept.get());
  }
  // Returns null where nobody has asked for it.
  template <class State>
  State* kept() {
    const auto found = kept_.find(typeid(State));
    return found == kept_.end() ? nullptr : static_cast<State*>(found->second.get());
  }
  template <class State>
  void drop() {
    kept_.erase(typeid(State));
  }

 private:
  static ProgramRank*& of_thread() {
    static thread_local ProgramRank* rank = nullptr;
    return rank;
  }

  std::optional<World> own_;
  World* world_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
};

}  // namespace tca::bindings
