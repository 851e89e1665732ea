#include "nvshmem/pe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tca::nvshmem {
namespace {

// What a PE asks for, as the others compare it.
struct Request {
  std::uint64_t bytes, alignment, cleared;
  bool operator==(const Request&) const = default;
};

std::uintptr_t number_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

std::size_t heap_bytes(const char* setting) {
  constexpr std::size_t by_default = std::size_t{1} << 30;
  if (setting == nullptr || *setting == '\0') return by_default;
  const std::string_view text(setting);
  double number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.end() - end));
  constexpr std::string_view units = "KMGT";
  std::size_t scale = 1;
  bool good = error == std::errc{} && number > 0;
  if (!unit.empty()) {
    const std::size_t at = units.find(static_cast<char>(unit[0] & ~0x20));
    good = good && at != std::string_view::npos &&
           (unit.size() == 1 || unit.substr(1) == "B" || unit.substr(1) == "b");
    if (good) scale <<= 10 * (at + 1);
  }
  if (!good)
    throw Misuse(fmt::format(
        "NVSHMEM_SYMMETRIC_SIZE={} is no size; give a number with K, M or G, such as 512M", setting));
  const auto bytes = static_cast<std::size_t>(number * static_cast<double>(scale));
  return (bytes + Heap::granule - 1) / Heap::granule * Heap::granule;
}

Pe::Pe(World& world, std::size_t heap_bytes)
    : world_(world),
      teams_(world.rank(), world.sub_cluster_of_ranks()),
      window_(world.window<std::byte>(static_cast<std::int64_t>(heap_bytes), "NVSHMEM's symmetric heap")),
      heap_(heap_bytes) {
  const std::vector<std::uint64_t> sizes = world.all_gather(std::uint64_t{heap_bytes});
  const auto other = std::ranges::find_if(sizes, [&](std::uint64_t size) { return size != sizes[0]; });
  if (other != sizes.end())
    throw Misuse(fmt::format(
        "NVSHMEM_SYMMETRIC_SIZE gives PE 0 a heap of {} bytes and PE {} one of {}; give all the same",
        sizes[0], other - sizes.begin(), *other));
  const std::uintptr_t begin = number_of(heap());
  alignment_ = std::ranges::min(world.all_gather(std::uint64_t{begin & (~begin + 1)}));
}

std::size_t Pe::offset_of(const void* memory) const { return number_of(memory) - number_of(heap()); }

bool Pe::holds(const void* memory, std::size_t bytes) const {
  const std::size_t offset = offset_of(memory);
  return offset < heap_.bytes() && bytes <= heap_.bytes() - offset;
}

void* Pe::allocate(std::size_t bytes, std::size_t alignment, bool cleared, std::string& complaint) {
  const Request mine{bytes, alignment, cleared ? 1u : 0u};
  const std::vector<Request> all = world_.all_gather(mine);
  const auto other = std::ranges::find_if(all, [&](const Request& request) { return !(request == all[0]); });
  if (other != all.end())
    throw Misuse(fmt::format(
        "PE 0 asks for {} bytes at a multiple of {}{}, PE {} for {} at a multiple of {}{}; all PEs ask for "
        "the same, in the same order",
        all[0].bytes, all[0].alignment, all[0].cleared != 0 ? ", cleared" : "", other - all.begin(),
        other->bytes, other->alignment, other->cleared != 0 ? ", cleared" : ""));
  if (alignment != 0 && (alignment & (alignment - 1)) != 0)
    throw Misuse(fmt::format("an alignment of {} is no power of two", alignment));
  if (bytes == 0) return nullptr;
  if (alignment > alignment_)
    throw Misuse(fmt::format("an alignment of {} is more than {}, the most there is", alignment, alignment_));
  const std::size_t largest = heap_.largest_free();
  const auto offset = heap_.take(bytes, alignment);
  if (!offset) {
    complaint = fmt::format(
        "{} bytes do not fit: the heap has {} bytes, and {} of them are the largest free piece; "
        "NVSHMEM_SYMMETRIC_SIZE gives "
        "it more",
        bytes, heap_.bytes(), largest);
    return nullptr;
  }
  if (cleared) {
    clear(*offset, bytes);
    world_.barrier();  // nobody puts before all is cleared
  }
  return heap() + *offset;
}

void Pe::clear(std::size_t offset, std::size_t bytes) {
  const std::vector<std::byte> zeros(std::min<std::size_t>(bytes, std::size_t{1} << 20));
  for (std::size_t done = 0; done < bytes; done += zeros.size())
    window_.write(static_cast<std::int64_t>(offset + done),
                  std::span(zeros).first(std::min(zeros.size(), bytes - done)));
}

void Pe::release(void* memory) {
  world_.barrier();  // everybody is through with it
  if (memory == nullptr) return;
  if (!holds(memory) || !heap_.give_back(offset_of(memory)))
    throw Misuse(
        fmt::format("{} is not memory that nvshmem_malloc has given, or it was freed already", memory));
}

}  // namespace tca::nvshmem
