// A ShmPost stores its puts directly in place, and is done when `start` returns.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/posting.hpp"
#include "fabric/shm/poster.hpp"

namespace tca::shm {

// Where a region is whose memory belongs to another process's program.
struct InProgram {
  pid_t process = 0;
  std::uint64_t address = 0;
};

class ShmFarRegion final : public fabric::FarRegion {
 public:
  // `live` is the word of the owner's board that holds the generation for as long as the region lives.
  ShmFarRegion(const std::atomic<std::uint64_t>& live, std::uint64_t generation, int rank, Mapping mapping,
               std::size_t begin)
      : live_(live), generation_(generation), rank_(rank), mapping_(std::move(mapping)) {
    data_ = mapping_.data() + begin;
  }
  // Throws Error{invalid_argument} if the system does not let this process write there.
  ShmFarRegion(const std::atomic<std::uint64_t>& live, std::uint64_t generation, int rank, InProgram place);

  int rank() const { return rank_; }
  // Sequentially consistent: pairs with ShmPoster::withdraw; see post_board.hpp.
  bool is_live() const override { return live_.load(std::memory_order_seq_cst) == generation_; }
  bool is_in_program() const { return program_.has_value(); }

  // Stores a shape's bytes, starting at `offset`. Throws Error{rank_lost} or {invalid_argument} if the
  // system cannot.
  void store(std::uint64_t offset, const std::byte* from, const base::Shape& shape) const;

 private:
  void store_in_program(std::uint64_t offset, const std::byte* from, const base::Shape& shape) const;

  const std::atomic<std::uint64_t>& live_;
  std::uint64_t generation_;
  int rank_;
  Mapping mapping_;
  std::byte* data_ = nullptr;
  std::optional<InProgram> program_;
};

class ShmPost final : public fabric::PostProgram {
 public:
  explicit ShmPost(ShmPoster& poster) : poster_(poster) {}

  void put(fabric::FarRegion& to, std::uint64_t offset, const std::byte* from,
           const base::Shape& shape) override;
  void notify(int rank, int slot, std::uint32_t tag) override;
  void clear() override;
  void start() override;
  bool has_left() override { return true; }
  bool has_landed() override { return true; }
  std::vector<int> missing() const override { return {}; }

 private:
  struct Put {
    const ShmFarRegion* region;
    std::uint64_t offset;
    const std::byte* from;
    base::Shape shape;
  };
  struct Raised {
    RaisedNotices* at;
    int slot;
    std::uint32_t tag;
    std::size_t puts;  // that it comes after
  };

  void enter();
  void leave();
  void check_regions() const;
  void reserve_notices();
  void store();

  ShmPoster& poster_;
  std::vector<Put> puts_;
  std::vector<Raised> notices_;
  std::vector<Storing*> owners_;  // of the regions, each once
  std::vector<int> in_programs_;  // the ranks into whose memory the system stores
};

}  // namespace tca::shm
