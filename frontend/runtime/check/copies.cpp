#include "runtime/check/copies.hpp"

#include <algorithm>

namespace tca::xacc {
namespace {

constexpr std::uint8_t bit(int side) { return static_cast<std::uint8_t>(1 << side); }

std::string text_of(const xacc_place& at) { return std::string(at.file) + ":" + std::to_string(at.line); }

}  // namespace

TwoCopies::Copied* TwoCopies::find(const void* memory, std::size_t* offset) {
  const auto* at = static_cast<const std::byte*>(memory);
  auto next = copies_.upper_bound(at);
  if (next == copies_.begin()) return nullptr;
  --next;
  *offset = static_cast<std::size_t>(at - next->first);
  return *offset < next->second.bytes ? &next->second : nullptr;
}

void TwoCopies::entered(const xacc_item& item) {
  std::size_t offset = 0;
  if (item.bytes == 0 || find(item.address, &offset)) return;
  const bool brought = item.clause == XACC_COPY || item.clause == XACC_COPYIN;
  Copied& copied = copies_[static_cast<std::byte*>(item.address)];
  copied.bytes = item.bytes;
  copied.stale.assign(item.bytes, brought ? std::uint8_t{0} : bit(device));
}

void TwoCopies::left(const xacc_item& item) {
  if (!Runtime::get().present().find(item.address)) copies_.erase(static_cast<std::byte*>(item.address));
}

void TwoCopies::updated(const xacc_item& item, const xacc_place& at) {
  std::size_t offset = 0;
  Copied* copied = find(item.address, &offset);
  if (!copied) return;
  const std::size_t bytes = std::min(item.bytes, copied->bytes - offset);
  std::fill_n(copied->stale.begin() + static_cast<std::ptrdiff_t>(offset), bytes, std::uint8_t{0});
  copied->written[item.clause == XACC_UPDATE_HOST ? host : device] = text_of(at);
}

void TwoCopies::refuse_old(const std::string& newer, Side side, const std::string& variable,
                           const std::string& what) {
  static constexpr const char* names[] = {"host", "device"};
  const std::string rank = "rank " + std::to_string(Runtime::get().world().rank());
  const std::string update = std::string("#pragma acc update ") + names[side] + "(" + variable + ")";
  if (side == device && newer.empty())
    refuse(what + " has no value yet on the device of " + rank + ": bring it there by copyin, or by " +
           update);
  refuse(what + " is read on the " + names[side] + " of " + rank + ", and the " + names[1 - side] +
         " wrote it later (" + newer + "): put " + update + " in between");
}

std::string TwoCopies::name_of(const void* memory, std::size_t bytes, const xacc_place& at) {
  std::size_t offset = 0;
  const Copied* copied = find(memory, &offset);
  if (!copied || copied->bytes == bytes) return at.directive;
  return "element " + std::to_string(offset / bytes) + " of " + at.directive;
}

void* TwoCopies::touch(void* memory, std::size_t bytes, int access, Side side, const xacc_place& at,
                       const std::string& what) {
  std::size_t offset = 0;
  Copied* copied = find(memory, &offset);
  if (!copied) return memory;
  const std::size_t end = std::min(offset + bytes, copied->bytes);
  for (std::size_t i = offset; i < end; ++i) {
    if ((access & XACC_READ) && (copied->stale[i] & bit(side)))
      refuse_old(copied->written[1 - side], side, at.directive, what);
    if (access & XACC_WRITE) copied->stale[i] = bit(1 - side);
  }
  if (access & XACC_WRITE) copied->written[side] = text_of(at);
  return side == host ? memory : Runtime::get().present().address_of(at.directive, memory);
}

void TwoCopies::wrote(void* memory, std::size_t bytes, Side side, const xacc_place& at) {
  std::size_t offset = 0;
  Copied* copied = find(memory, &offset);
  if (!copied) return;
  const std::size_t end = std::min(offset + bytes, copied->bytes);
  std::fill(copied->stale.begin() + static_cast<std::ptrdiff_t>(offset),
            copied->stale.begin() + static_cast<std::ptrdiff_t>(end), bit(1 - side));
  copied->written[side] = text_of(at);
}

}  // namespace tca::xacc
