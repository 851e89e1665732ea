#include "base/system/fibers.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/fail.hpp"
#include "base/system/limits.hpp"

namespace tca::base {

namespace {

// Makes the lowest page of a stack inaccessible. If the system has no room for so many mappings, the stack
// goes without.
void guard(std::byte* stack) {
  constexpr int guard_install = 102;  // MADV_GUARD_INSTALL of Linux 6.13, which needs no separate mapping
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (madvise(stack, page, guard_install) == 0) return;
  static_cast<void>(mprotect(stack, page, PROT_NONE));
}

}  // namespace

void Fibers::map_stacks() {
  const std::size_t bytes = count_ * stack_bytes;
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED)
    fail(Errc::out_of_memory, "{} ranks on one thread: there is no room for their stacks: {}", count_,
         limit_met(errno, bytes));
  stacks_ = static_cast<std::byte*>(mapped);
  madvise(mapped, bytes, MADV_NOHUGEPAGE);  // of most stacks only a page or two is used
  for (std::size_t fiber = 0; fiber < count_; ++fiber) guard(stack(fiber));
}

Fibers::~Fibers() {
  if (stacks_ != nullptr) munmap(stacks_, count_ * stack_bytes);
}

void Fibers::run(const std::function<void(std::size_t)>& body) {
  map_stacks();
  fibers_.resize(count_);
  body_ = &body;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  for (std::size_t fiber = 0; fiber < count_; ++fiber) {
    ucontext_t& context = fibers_[fiber].context;
    getcontext(&context);
    context.uc_stack.ss_sp = stack(fiber);
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, reinterpret_cast<void (*)()>(&enter), 2,
                static_cast<unsigned>(std::uint64_t{self} >> 32), static_cast<unsigned>(self));
  }
  running_ = next_ = 0;
  swapcontext(&caller_, &fibers_.front().context);
}

// makecontext passes only 32-bit numbers.
void Fibers::enter(unsigned high, unsigned low) {
  Fibers& fibers = *reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low));
  const std::size_t self = fibers.running_;
  (*fibers.body_)(self);
  if (fibers.next_ == self)
    setcontext(&fibers.caller_);
  else
    fibers.switch_from(fibers.fibers_[self].context, self);
}

void Fibers::switch_from(ucontext_t& context, std::size_t fiber) {
  auto& exceptions = *reinterpret_cast<Exceptions*>(__cxxabiv1::__cxa_get_globals());
  fibers_[fiber].exceptions = exceptions;
  running_ = next_;
  exceptions = fibers_[running_].exceptions;
  swapcontext(&context, &fibers_[running_].context);
}

}  // namespace tca::base
