#include "mpi/engine/ring.hpp"

#include <algorithm>
#include <bit>

namespace tca::p2p {

void RingWriter::grow(std::size_t bytes) {
  const std::size_t data_bytes = std::bit_ceil(2 * std::max(bytes, ring_.data_bytes()));
  grown_.emplace_back(Ring::size(data_bytes));
  Line& last = line();
  last.kind = Kind::grown;
  last.body.growth = {std::bit_cast<std::uint64_t>(grown_.back().data()), data_bytes, grown_.back().file()};
  publish();
  ring_ = Ring(grown_.back().data(), data_bytes);
  line_ = data_ = lines_read_ = data_read_ = 0;
}

bool RingWriter::is_followed() {
  if (grown_.empty()) return true;
  if (!ring_.state().entered.load(std::memory_order_acquire)) return false;
  grown_.erase(grown_.begin(), grown_.end() - 1);
  grown_.back().close_file();
  return true;
}

void RingReader::follow(const Growth& growth) {
  Shared memory(writer_, growth.file, growth.address, Ring::size(growth.data_bytes));
  ring_ = Ring(memory.data(), growth.data_bytes);
  line_ = 0;
  grown_ = std::move(memory);
  // Pairs with is_followed: from here on nothing of the rings before is read.
  ring_.state().entered.store(true, std::memory_order_release);
}

}  // namespace tca::p2p
