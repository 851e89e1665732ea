#include "model/des/frame_pool.hpp"

#include <array>
#include <new>

namespace tca::des {

namespace {

constexpr std::size_t step = 64;  // sizes are rounded up to this
constexpr std::size_t sizes = 32;

struct Free {
  Free* next;
};

// Each thread has its own pool. A frame that ends on another thread than the one that created it goes into
// the pool of the thread on which it ends.
class FramePool {
 public:
  ~FramePool() {
    for (Free* frame : lists_) {
      while (frame != nullptr) {
        Free* next = frame->next;
        ::operator delete(frame);
        frame = next;
      }
    }
  }

  void* take(std::size_t size) {
    Free*& list = lists_[size];
    if (list == nullptr) return ::operator new((size + 1) * step);
    Free* frame = list;
    list = frame->next;
    __builtin_prefetch(list, 1);  // for the next call
    return frame;
  }

  void leave(void* frame, std::size_t size) { lists_[size] = new (frame) Free{lists_[size]}; }

 private:
  std::array<Free*, sizes> lists_{};
};

thread_local FramePool pool;

}  // namespace

void* take_frame(std::size_t bytes) {
  const std::size_t size = (bytes - 1) / step;
  return size < sizes ? pool.take(size) : ::operator new(bytes);
}

void leave_frame(void* frame, std::size_t bytes) noexcept {
  const std::size_t size = (bytes - 1) / step;
  size < sizes ? pool.leave(frame, size) : ::operator delete(frame);
}

}  // namespace tca::des
