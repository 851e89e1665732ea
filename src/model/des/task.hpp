// A Task is a coroutine in simulated time: a piece of an agent's program. A task may await another one.
//
// GCC 12 destroys some temporaries of a co_await expression twice. So a task gets a name before it is
// awaited:
//   des::Task fetch = engine.fetch(descriptor);
//   co_await fetch;
// For the same reason neither a lambda nor ?: appears in such an expression. Awaitables without a destructor
// need no name.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "model/des/frame_pool.hpp"

namespace tca::des {

class Simulator;

class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct Finish {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle ended) noexcept;
    void await_resume() const noexcept {}
  };

  struct promise_type {
    Task get_return_object() { return Task{Handle::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    Finish final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() { error = std::current_exception(); }

    static void* operator new(std::size_t bytes) { return take_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) { leave_frame(frame, bytes); }

    Simulator* simulator = nullptr;
    std::uint32_t agent = 0;
    Handle parent;  // the task that awaits this one; null for an agent's outermost
    std::exception_ptr error;
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // An awaited task runs on behalf of the same agent. An exception that leaves it is thrown again by the
  // co_await.
  bool await_ready() const noexcept { return false; }
  Handle await_suspend(Handle parent) noexcept {
    promise_type& promise = handle_.promise();
    promise.simulator = parent.promise().simulator;
    promise.agent = parent.promise().agent;
    promise.parent = parent;
    return handle_;
  }
  void await_resume() const {
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
  }

 private:
  friend class Simulator;
  explicit Task(Handle handle) : handle_(handle) {}

  Handle handle_;
};

}  // namespace tca::des
