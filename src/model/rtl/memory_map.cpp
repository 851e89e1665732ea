#include "model/rtl/memory_map.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace tca::rtl {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t most_offset = target_bytes - (std::uint64_t{1} << 29);  // where mailboxes begin

}  // namespace

// An offset has the same position in a page as its memory, so that a hub cuts at true page boundaries.
std::uint64_t Apertures::open(std::byte* memory, std::uint64_t bytes, const bool* closed) {
  const auto [known, is_new] = known_.try_emplace({memory, bytes}, 0);
  if (!is_new) {
    apertures_.at(known->second).users.push_back(closed);
    return known->second;
  }
  const std::uint64_t in_page = reinterpret_cast<std::uintptr_t>(memory) % page;
  const auto next = [&] { return (end_ + page - 1) / page * page + in_page; };
  if (next() + bytes > most_offset) make_room();
  const std::uint64_t offset = next();
  if (offset + bytes > most_offset) {
    known_.erase({memory, bytes});
    base::fail(Errc::out_of_memory,
               "fidelity rtl: chains under way use more memory than a hub's addresses reach, {} GiB a node; "
               "choose tlp",
               most_offset >> 30);
  }
  end_ = offset + bytes;
  known_[{memory, bytes}] = offset;
  apertures_[offset] = {memory, bytes, {closed}};
  return offset;
}

void Apertures::close(std::uint64_t offset, const bool* closed) {
  std::vector<const bool*>& users = apertures_.at(offset).users;
  users.erase(std::ranges::find(users, closed));
}

// Forgets the apertures that no chain is using.
void Apertures::make_room() {
  end_ = nowhere_bytes;
  std::erase_if(apertures_, [](const auto& at) { return at.second.users.empty(); });
  std::erase_if(known_, [&](const auto& at) { return !apertures_.contains(at.second); });
  for (const auto& [offset, aperture] : apertures_) end_ = std::max(end_, offset + aperture.bytes);
}

Apertures::Found Apertures::find(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset + bytes <= nowhere_bytes) return {true, nullptr};
  auto after = apertures_.upper_bound(offset);
  if (after == apertures_.begin()) return {};
  const auto& [begin, aperture] = *--after;
  if (offset + bytes > begin + aperture.bytes || aperture.users.empty()) return {};
  const auto is_open = [](const bool* closed) { return closed == nullptr || !*closed; };
  return {true, std::ranges::any_of(aperture.users, is_open) ? aperture.memory + (offset - begin) : nullptr};
}

std::size_t Mailboxes::add(bool is_fixed) {
  if (!is_fixed && !free_.empty()) {
    const std::size_t number = free_.back();
    free_.pop_back();
    return number;
  }
  boxes_.emplace_back().is_fixed = is_fixed;
  return boxes_.size() - 1;
}

std::uint64_t Mailboxes::fixed(std::uint32_t node, std::uint32_t channel, std::uint32_t index) {
  const auto [known, is_new] = fixed_.try_emplace({node, channel, index}, 0);
  if (is_new) known->second = add(true);
  return first + box_bytes * known->second;
}

void Mailboxes::expect(std::uint64_t offset, const void* owner, Reader reader) {
  boxes_[(offset - first) / box_bytes].expected.push_back({owner, std::move(reader)});
}

void Mailboxes::forget(const void* owner) {
  for (const auto& [key, number] : fixed_)
    std::erase_if(boxes_[number].expected, [&](const Expected& expected) { return expected.owner == owner; });
}

std::uint64_t Mailboxes::open(Reader reader) {
  const std::size_t number = add(false);
  boxes_[number].expected.push_back({nullptr, std::move(reader)});
  return first + box_bytes * number;
}

bool Mailboxes::write(std::uint64_t offset, std::uint64_t value) {
  const std::size_t number = (offset - first) / box_bytes;
  if (number >= boxes_.size() || boxes_[number].expected.empty()) return false;
  const Reader reader = std::move(boxes_[number].expected.front().reader);
  boxes_[number].expected.pop_front();
  if (!boxes_[number].is_fixed) free_.push_back(number);
  reader(value);
  return true;
}

}  // namespace tca::rtl
