// Builds the parts common to all compiled chains: tables of puts as kernels read them, and the words that
// count steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "base/layout/shape.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "tca/device/chain.hpp"

namespace tca::cuda {

// Describes the put of a shape's bytes from one place to the other, in the number of segments that
// `segments_of` returns.
device::Stores stores_of(const base::Shape& shape, std::byte* to, const std::byte* from);

// Replaces each item's number of units by the chain-wide count at which its units end. Returns the total.
template <class Item>
Word count_up(std::vector<Item>& items, Word Item::*end) {
  Word total = 0;
  for (Item& item : items) item.*end = total += item.*end;
  return total;
}

// Fills a table. Items that do not fit into a kernel's parameters are given `room` in device memory.
template <class Item>
void fill_table(device::Table<Item>& table, const std::vector<Item>& items, Inbox& inbox, Room& room,
                HostCopier& copier) {
  constexpr std::size_t inlined = device::Table<Item>::inlined;
  table.count = static_cast<Word>(items.size());
  std::copy_n(items.begin(), std::min(items.size(), inlined), table.items);
  if (items.size() <= inlined) return;
  const auto others = std::as_bytes(std::span(items).subspan(inlined));
  auto* more = inbox.own<Item>(room.take(others.size()));
  copier.write(reinterpret_cast<std::byte*>(more), others);
  table.more = more;
}

// Sets up the words with which a chain's kernels count steps and wait. `partners` are the ranks by link.
// Waits give up after `time_limit` and then identify the chain by `id`, which is not 0.
void set_up_counters(DeviceChain& chain, Word id, const std::vector<int>& partners,
                     std::chrono::milliseconds time_limit, Inbox& inbox, Room& room);

}  // namespace tca::cuda
