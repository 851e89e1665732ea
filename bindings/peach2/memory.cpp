#include <algorithm>
#include <cstring>
#include <type_traits>

#include "peach2/board.hpp"
#include "peach2/calls.hpp"

namespace tca::peach2 {
namespace {

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

tcaHandle handle_of(const Region& region, const void* memory, std::size_t bytes, int rank) {
  const RegionToken token = region.token();
  tcaHandle handle{};
  static_assert(sizeof handle.token == sizeof token && std::is_trivially_copyable_v<RegionToken>);
  std::memcpy(handle.token, &token, sizeof token);
  handle.offset = address_of(memory) - address_of(region.data());
  handle.size = bytes;
  handle.address = address_of(memory);
  handle.node = static_cast<std::uint32_t>(rank);
  handle.mark = handle_mark;
  return handle;
}

}  // namespace

const tcaHandle& checked(const tcaHandle* handle, const char* what) {
  present(handle, what);
  if (handle->mark != handle_mark)
    misused("{} is no handle: it was destroyed, never made, or did not come whole ({} bytes)", what,
            sizeof *handle);
  return *handle;
}

void check_bytes(const tcaHandle& handle, const char* what, off_t offset, std::size_t bytes) {
  if (offset < 0 || static_cast<std::uint64_t>(offset) > handle.size ||
      bytes > handle.size - static_cast<std::uint64_t>(offset))
    misused("{} bytes from byte {} of {} on end outside of it; it has {}", bytes, offset, what, handle.size);
}

RegionToken token_of(const tcaHandle& handle) {
  RegionToken token;
  std::memcpy(&token, handle.token, sizeof token);
  return token;
}

void* Board::allocate(std::size_t bytes, tcaMemoryKind kind) {
  if (kind != tcaMemoryGPU && kind != tcaMemoryCPU)
    misused("{} is no kind of memory", static_cast<int>(kind));
  const Count count(static_cast<std::int64_t>(bytes));
  Region region = kind == tcaMemoryGPU ? Region(world_, count) : Region::on_host(world_, count);
  std::byte* const begin = region.data();
  given_.emplace(address_of(begin), std::move(region));
  return begin;
}

void Board::release(void* memory) {
  if (given_.erase(address_of(memory)) == 0)
    misused("tcaMalloc has not given this memory, or it was freed already");
}

tcaHandle Board::name(void* memory, std::size_t bytes) {
  if (memory == nullptr) misused("the memory is NULL");
  if (bytes == 0) misused("a handle of no bytes cannot be");
  const std::uintptr_t begin = address_of(memory);
  if (auto above = given_.upper_bound(begin); above != given_.begin()) {
    const auto& [start, given] = *std::prev(above);
    const std::size_t within = begin - start;
    if (within < given.size()) {
      if (bytes > given.size() - within)
        misused("{} bytes from byte {} on end outside of what tcaMalloc gave, {} bytes", bytes, within,
                given.size());
      return handle_of(given, memory, bytes, rank());
    }
  }
  auto found = named_.find({begin, bytes});
  if (found == named_.end()) {
    Region region(world_, memory, static_cast<std::int64_t>(bytes));
    found = named_.emplace(std::pair(begin, bytes), Named{std::move(region)}).first;
  }
  ++found->second.handles;
  return handle_of(found->second.region, memory, bytes, rank());
}

void Board::forget(const tcaHandle& handle) {
  if (static_cast<int>(handle.node) != rank()) return;
  const auto found = named_.find({handle.address, handle.size});
  if (found != named_.end() && --found->second.handles == 0) named_.erase(found);
}

}  // namespace tca::peach2

using namespace tca::peach2;

tcaresult tcaMalloc(void** memory, size_t bytes, tcaMemoryKind kind) {
  return guarded("tcaMalloc", [&] {
    void*& place = present(memory, "the place for the memory");
    place = nullptr;
    place = board().allocate(bytes, kind);
  });
}

tcaresult tcaFree(void* memory, tcaMemoryKind) {
  return guarded("tcaFree", [&] { board().release(memory); });
}

tcaresult tcaCreateHandle(tcaHandle* handle, void* memory, size_t bytes, tcaMemoryKind) {
  return guarded("tcaCreateHandle", [&] { present(handle, "the handle") = board().name(memory, bytes); });
}

tcaresult tcaDestroyHandle(tcaHandle* handle) {
  return guarded("tcaDestroyHandle", [&] {
    board().forget(checked(handle, "the handle"));
    handle->mark = 0;
  });
}
