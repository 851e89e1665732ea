// The memory of a window on mpi: this rank's part, and the sizes of the others' parts.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "base/system/zeroed.hpp"
#include "fabric/fabric.hpp"
#include "fabric/mpi/immediates.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

class MpiMemory final : public fabric::Memory {
 public:
  // `owned` is empty if the caller keeps the memory. `number` is the same on every rank. With a stager the
  // memory is an accelerator's.
  MpiMemory(Immediates& immediates, std::uint32_t number, base::Zeroed owned, std::byte* data,
            fabric::Stager* stager)
      : immediates_(immediates), number_(number), owned_(std::move(owned)), data_(data), stager_(stager) {
    immediates_.serve(number_, this);
  }
  ~MpiMemory() override { immediates_.forget(number_); }

  // Sets the sizes by rank, before anybody asks for one.
  void know_sizes(std::vector<std::size_t> bytes) { bytes_ = std::move(bytes); }

  std::byte* data() override { return data_; }
  std::size_t bytes(int rank) const override { return bytes_[static_cast<std::size_t>(rank)]; }
  std::uint32_t number() const { return number_; }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    std::memcpy(into.data(), data_ + offset, into.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) override {
    if (stager_ != nullptr) return stager_->write(data_ + offset, from);
    std::memcpy(data_ + offset, from.data(), from.size());
  }

 private:
  Immediates& immediates_;
  std::uint32_t number_;
  base::Zeroed owned_;
  std::byte* data_;
  std::vector<std::size_t> bytes_;  // by rank
  fabric::Stager* stager_;
};

}  // namespace tca::mpi
