#include <span>
#include <vector>

#include "base/fail.hpp"
#include "core/post/posting.hpp"
#include "tca/post.hpp"
#include "tca/world.hpp"

namespace tca {

namespace core {

class RegionState {
 public:
  RegionState(World& world, std::int64_t bytes, fabric::RegionSpec spec, bool registers)
      : world_(WorldState::of(world).shared_from_this()) {
    Posting& posting = world_->posting();
    try {
      make(posting, bytes, spec, registers);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("a region of rank {}: {}", world_->rank(), error.what()),
                  error.fields())
          .with({.rank = world_->rank()});
    }
  }
  RegionState(const RegionState&) = delete;
  // The first fabric has the memory.
  ~RegionState() {
    while (!regions_.empty()) regions_.pop_back();
  }

  std::byte* data() const { return regions_.front()->data(); }
  std::size_t bytes() const { return bytes_; }
  const RegionToken& token() const { return token_; }

  void read(std::int64_t at, std::span<std::byte> into) const {
    regions_.front()->read(checked("read", at, into.size()), into);
  }
  void write(std::int64_t at, std::span<const std::byte> from) const {
    regions_.front()->write(checked("write", at, from.size()), from);
  }

 private:
  std::uint64_t checked(const char* call, std::int64_t at, std::size_t bytes) const {
    const auto begin = static_cast<std::uint64_t>(at);
    if (at >= 0 && begin <= bytes_ && bytes <= bytes_ - begin) return begin;
    base::fail(Errc::invalid_argument, {.rank = world_->rank()},
               "{} of {} bytes from byte {} on ends outside of the region of rank {}, which has {}", call,
               bytes, at, world_->rank(), bytes_);
  }

  void make(const Posting& posting, std::int64_t bytes, fabric::RegionSpec spec, bool registers) {
    if (bytes < 1) base::fail(Errc::invalid_argument, "{} bytes cannot be; a region has one or more", bytes);
    if (registers && spec.existing == nullptr)
      base::fail(Errc::invalid_argument, "no memory is given; leave the pointer out to have it allocated");
    spec.bytes = bytes_ = static_cast<std::size_t>(bytes);
    std::vector<fabric::RegionName> names;
    for (std::size_t f = 0; f < posting.fabrics(); ++f) {
      regions_.push_back(posting.poster(f).expose_alone(spec));
      spec.existing = regions_.back()->data();
      names.push_back(regions_.back()->name());
    }
    token_ = Posting::token_of(world_->rank(), bytes_, names);
  }

  std::shared_ptr<WorldState> world_;
  std::size_t bytes_ = 0;
  std::vector<std::unique_ptr<fabric::OwnRegion>> regions_;  // by fabric
  RegionToken token_;
};

}  // namespace core

int RegionToken::rank() const { return core::Posting::owner_and_bytes(*this).first; }
std::size_t RegionToken::bytes() const { return core::Posting::owner_and_bytes(*this).second; }

Region::Region(World& world, Count bytes)
    : state_(std::make_unique<core::RegionState>(world, bytes.value(), fabric::RegionSpec{}, false)) {}
Region::Region(World& world, void* memory, Count bytes)
    : state_(std::make_unique<core::RegionState>(
          world, bytes.value(), fabric::RegionSpec{.existing = static_cast<std::byte*>(memory)}, true)) {}
Region::Region(std::unique_ptr<core::RegionState> state) : state_(std::move(state)) {}
Region Region::on_host(World& world, Count bytes) {
  return Region(
      std::make_unique<core::RegionState>(world, bytes.value(), fabric::RegionSpec{.on_host = true}, false));
}
Region::Region(Region&&) noexcept = default;
Region& Region::operator=(Region&&) noexcept = default;
Region::~Region() = default;

std::byte* Region::data() const { return state().data(); }
std::size_t Region::size() const { return state().bytes(); }
RegionToken Region::token() const { return state().token(); }
void Region::read(Count at, std::span<std::byte> into) const { state().read(at.value(), into); }
void Region::write(Count at, std::span<const std::byte> from) const { state().write(at.value(), from); }

}  // namespace tca
