// The memory of a window on shm: every rank's part, mapped into this process.
#pragma once

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/shm/exchange.hpp"
#include "fabric/shm/inbox.hpp"

namespace tca::shm {

// This rank's part of a window before the others know of it.
class OwnPart {
 public:
  // Takes zeroed memory, or `existing`. If there is too little memory, the token holds the error. Large
  // parts have their own mapping, unless all are to be `in_inbox`.
  OwnPart(Space& space, Inbox& inbox, std::size_t bytes, std::byte* existing, bool in_inbox = false)
      : inbox_(inbox) {
    if (existing != nullptr) {
      mapping_ = space.adopt(existing, bytes, token_);
    } else if (in_inbox) {
      if (bytes > 0 && !take_of_inbox(bytes)) token_ = {.error = ENOMEM, .bytes = bytes};
    } else if (bytes > Inbox::small_window || (bytes > 0 && !take_of_inbox(bytes))) {
      mapping_ = space.allocate(bytes + lead, Backing::committed, token_);
      token_.begin = lead;
    }
  }
  OwnPart(const OwnPart&) = delete;
  ~OwnPart() {
    if (token_.handle == Token::in_inbox) inbox_.release_window(token_.begin, token_.bytes);
  }

  const Token& token() const { return token_; }
  Mapping take_mapping() { return std::move(mapping_); }

 private:
  // A window begins a few lines into its first page. If the pitch is a power of two, rows that begin at
  // page boundaries fall into the same few cache sets as everything else that does. This made the
  // block-stride and strided faces of 128^3 doubles a fifth slower.
  static constexpr std::size_t lead = 256;

  bool take_of_inbox(std::size_t bytes) {
    const std::optional<std::uint64_t> offset = inbox_.allocate_window(bytes);
    if (offset) token_ = {.handle = Token::in_inbox, .bytes = bytes, .begin = *offset};
    return offset.has_value();
  }

  Inbox& inbox_;
  Token token_;
  Mapping mapping_;
};

// What keeps the parts of a window mapped. Memory that is left to the process must outlive the fabric's
// inboxes.
struct Mapped {
  std::shared_ptr<const Inbox::Views> inboxes = {};
  std::unique_ptr<OwnPart> own = {};
  std::vector<Mapping> mappings = {};  // by rank
};

class ShmMemory final : public fabric::Memory {
 public:
  // `parts`: by rank; empty if this rank does not reach it.
  ShmMemory(std::vector<std::span<std::byte>> parts, int rank, Mapped mapped)
      : mapped_(std::move(mapped)), parts_(std::move(parts)), rank_(rank) {}

  std::byte* data() override { return at(rank_); }
  std::size_t bytes(int rank) const override { return part(rank).size(); }
  std::byte* at(int rank) const { return part(rank).data(); }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    std::memcpy(into.data(), data() + offset, into.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) override {
    std::memcpy(data() + offset, from.data(), from.size());
  }

 private:
  std::span<std::byte> part(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }

  Mapped mapped_;
  std::vector<std::span<std::byte>> parts_;
  int rank_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<ShmMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::shm
