#include <algorithm>
#include <atomic>

#include "peach2/board.hpp"
#include "peach2/calls.hpp"

namespace tca::peach2 {
namespace {

// Programs watch the last eight bytes for a mark, which is there once all else is.
constexpr std::size_t mark_bytes = 8;

}  // namespace

void Board::store(const tcaPIOHandle& region, off_t offset, const void* from, std::size_t bytes) {
  const tcaHandle& handle = checked(&region.handle, "the region");
  if (from == nullptr) misused("the source is NULL");
  if (offset < 0 || static_cast<std::uint64_t>(offset) > region.size ||
      bytes > region.size - static_cast<std::uint64_t>(offset))
    misused("{} bytes from byte {} of the region on end outside of it; it has {}", bytes, offset,
            region.size);
  const RegionToken token = token_of(handle);
  const std::int64_t at = static_cast<std::int64_t>(handle.offset + region.offset) + offset;
  const auto send = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    const auto size = static_cast<std::int64_t>(end - begin);
    stores_.wait();
    stores_.clear();
    stores_.put_untyped(token, at + static_cast<std::int64_t>(begin), block(size),
                        static_cast<const std::byte*>(from) + begin, size, block(size), 1);
    stores_.start();
  };
  const std::size_t body = bytes > mark_bytes ? bytes - mark_bytes : 0;
  send(0, body);
  // Release: pairs with the target's look at the mark, which it reads as plain memory.
  std::atomic_thread_fence(std::memory_order_release);
  send(body, bytes);
  stores_.wait();  // the program may write to the source again
}

void Board::settle() { stores_.wait(); }

}  // namespace tca::peach2

using namespace tca::peach2;

tcaresult tcaSetPIORegion(tcaPIOHandle* region, const tcaHandle* of, off_t offset, size_t bytes) {
  return guarded("tcaSetPIORegion", [&] {
    check_bytes(checked(of, "the memory"), "the memory", offset, bytes);
    present(region, "the region") = {*of, static_cast<std::uint64_t>(offset), bytes};
  });
}

tcaresult tcaSendPIO(const tcaPIOHandle* region, off_t offset, const void* from, size_t bytes) {
  return guarded("tcaSendPIO", [&] { board().store(present(region, "the region"), offset, from, bytes); });
}

tcaresult tcaSendPIOCommit() {
  return guarded("tcaSendPIOCommit", [&] { board().settle(); });
}
