// Fibers: programs that take turns on one thread, each with its own stack. There may be more of them than a
// system allows threads, and a turn costs less than waking another thread.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace tca::base {

class Fibers {
 public:
  // The sanitizers mistake a fiber's stack for a bug.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool available = false;
#else
  static constexpr bool available = true;
#endif
  static constexpr std::size_t stack_bytes = std::size_t{1} << 20;

  explicit Fibers(std::size_t count) : count_(count) {}
  ~Fibers();
  Fibers(const Fibers&) = delete;

  // Calls `body` once in each fiber, fiber 0 first, and returns when one has ended without naming another
  // to run. `body` throws nothing. Throws Error{out_of_memory} if there are no addresses for the stacks.
  void run(const std::function<void(std::size_t)>& body);

  // Called by the running fiber: names the one that runs when it next yields or ends.
  void name_next(std::size_t fiber) { next_ = fiber; }

  // Called by the running fiber: lets the one that it has named run, and returns when it has itself been
  // named.
  void yield() {
    if (next_ != running_) switch_from(fibers_[running_].context, running_);
  }

 private:
  // The C++ runtime's per-thread exception state (the Itanium ABI, 2.2.2). A fiber may yield in a
  // destructor or a handler.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  struct Fiber {
    ucontext_t context = {};
    Exceptions exceptions = {};
  };

  void map_stacks();
  static void enter(unsigned high, unsigned low);
  void switch_from(ucontext_t& context, std::size_t fiber);
  std::byte* stack(std::size_t fiber) const { return stacks_ + fiber * stack_bytes; }

  std::size_t count_;
  std::vector<Fiber> fibers_;
  std::byte* stacks_ = nullptr;
  ucontext_t caller_ = {};
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::size_t running_ = 0, next_ = 0;
};

}  // namespace tca::base
