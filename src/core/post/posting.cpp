#include "core/post/posting.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/fail.hpp"
#include "base/hash.hpp"

namespace tca::core {

namespace {

// A world has up to two fabrics.
constexpr std::size_t most_names = 2;

// Unused attachments are kept, up to this many, because programs make the same posts again.
constexpr std::size_t most_unused = 256;

}  // namespace

// The version changes whenever the bytes after it do.
struct Posting::Content {
  static constexpr std::array<char, 8> magic_bytes{'T', 'C', 'A', 'r', 'e', 'g', 'i', 'o'};
  static constexpr std::uint32_t current_version = 1;

  std::array<char, 8> magic = magic_bytes;
  std::uint32_t version = current_version;
  std::uint32_t user = 0;
  std::int32_t rank = 0;
  std::uint32_t names = 0;
  std::uint64_t bytes = 0;
  std::array<fabric::RegionName, most_names> name{};
  std::uint64_t check = 0;  // of everything before it

  std::uint64_t expected_check() const {
    return base::fnv1a({reinterpret_cast<const std::byte*>(this), offsetof(Content, check)});
  }
};

Posting::Posting(const WorldState& world) : world_(world) {
  static_assert(sizeof(Content) <= RegionToken::size && std::is_trivially_copyable_v<Content>);
  for (const auto& fabric : world.fabrics()) {
    posters_.push_back(fabric->poster());
    if (posters_.back() != nullptr) continue;
    base::fail(
        Errc::invalid_argument, {.rank = world.rank()},
        "the fabric {} carries no posts, regions and notices; put through a chain (World::chain), or choose "
        "another one (option fabric or OPENTCA_FABRIC)",
        fabric->name());
  }
}

void Posting::check_rank(std::string_view what, int rank) const {
  if (rank < 0 || rank >= world_.size())
    base::fail(Errc::invalid_argument, "{}: there is no rank {} in a world of {}", what, rank, world_.size());
}

void Posting::check_slot(std::string_view what, int slot) {
  if (slot < 0 || slot >= notice_slots)
    base::fail(Errc::invalid_argument, "{}: there is no slot {}; slots are 0 to {}", what, slot,
               notice_slots - 1);
}

RegionToken Posting::token_of(int rank, std::size_t bytes, const std::vector<fabric::RegionName>& names) {
  Content content;
  content.user = geteuid();
  content.rank = rank;
  content.bytes = bytes;
  content.names = static_cast<std::uint32_t>(names.size());
  std::copy(names.begin(), names.end(), content.name.begin());
  content.check = content.expected_check();
  RegionToken token;
  std::memcpy(token.bytes_.data(), &content, sizeof content);
  return token;
}

Posting::Content Posting::read(const RegionToken& token) {
  Content content;
  std::memcpy(&content, token.bytes_.data(), sizeof content);
  if (content.magic != Content::magic_bytes)
    base::fail(Errc::incompatible, "these bytes are no token of a region; were all {} of them sent?",
               RegionToken::size);
  if (content.version != Content::current_version) {
    base::fail(
        Errc::incompatible,
        "the token is of version {}, and this library knows {}; build every rank with the same OpenTCA",
        content.version, Content::current_version);
  }
  if (content.check != content.expected_check())
    base::fail(Errc::incompatible, "the token was damaged on its way; its bytes are to be sent as they are");
  return content;
}

std::pair<int, std::size_t> Posting::owner_and_bytes(const RegionToken& token) {
  const Content content = read(token);
  return {content.rank, content.bytes};
}

std::shared_ptr<const Attached> Posting::attach(const RegionToken& token) {
  const Content content = read(token);
  if (content.user != geteuid()) {
    base::fail(Errc::incompatible,
               "the token is another user's ({}, this process has {}); regions are shared within a job",
               content.user, geteuid());
  }
  if (content.rank < 0 || content.rank >= world_.size() || content.names != posters_.size()) {
    base::fail(Errc::incompatible,
               "the token is of another world, in which rank {} has it on {} fabric{}; it is good for "
               "ranks of that one alone",
               content.rank, content.names, content.names == 1 ? "" : "s");
  }
  const std::size_t fabric = fabric_to(content.rank);
  const fabric::RegionName& name = content.name[fabric];
  const std::tuple key(content.rank, name.job, name.generation);
  if (const auto found = attached_.find(key); found != attached_.end() && found->second->region->is_live())
    return found->second;
  forget_unused();
  auto attached = std::make_shared<const Attached>(Attached{
      content.rank, fabric, content.bytes, poster(fabric).attach(content.rank, content.bytes, name)});
  attached_[key] = attached;
  return attached;
}

// Regions that are gone are dropped here as well; the owner has already released their memory.
void Posting::forget_unused() {
  const bool too_many = attached_.size() >= most_unused;
  std::erase_if(attached_, [&](const auto& entry) {
    return entry.second.use_count() == 1 && (too_many || !entry.second->region->is_live());
  });
}

}  // namespace tca::core
