#include "fabric/cuda/memory/inbox.hpp"

#include <cstring>

#include "base/fail.hpp"

namespace tca::cuda {

namespace {

// Adds the rank and `what` to the message of any error that `make` throws.
template <class Make>
std::vector<base::Blob> make_together(control::Control& control, std::string_view what, const Make& make) {
  return control.make_together(what, [&] {
    try {
      return make();
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("rank {}, {}: {}", control.rank(), what, error.what()),
                  {.rank = control.rank()});
    }
  });
}

}  // namespace

std::vector<Region> share_regions(const control::Members& members, const control::Places& places, int device,
                                  std::string_view what, const std::function<Region(Token&)>& make) {
  control::Control& control = members.control();
  const auto me = static_cast<std::size_t>(members.rank());
  Token token;
  // The token is sealed in any case: an exported handle that stays open keeps the memory allocated.
  const struct Sealed {
    const Token& token;
    ~Sealed() { seal(token); }
  } sealed{token};
  std::vector<Region> regions(places.host.size());
  const std::vector<base::Blob> tokens = make_together(control, what, [&] {
    regions[me] = make(token);
    return base::Writer().put(token).blob();
  });
  make_together(control, what, [&] {
    for (std::size_t member = 0; member < tokens.size(); ++member) {
      const int rank = members[static_cast<int>(member)];
      const auto theirs = base::Reader(tokens[member]).get<Token>();
      const bool reached = rank != members.rank() && places.same_sub_cluster(members.rank(), rank);
      if (reached && theirs.kind != Token::Kind::none)
        regions[static_cast<std::size_t>(rank)] = attach(device, theirs);
    }
    return base::Blob{};
  });
  return regions;
}

Inbox::Inbox(control::Control& control, const control::Places& places, int device, bool exported,
             cudaStream_t stream)
    : parts_(
          share_regions(control::Members(control), places, device, "bringing up the cuda fabric",
                        [&](Token& token) { return allocate(device, capacity, exported, stream, token); })),
      rank_(control.rank()),
      device_(device),
      stream_(stream) {
  host_room_.take(2 * sizeof(Word) + sizeof(device::Refusal) + sizeof(device::Mistake));
  gone_ = take_words(parts_.size());
  // Room for refused() and over(). It begins at offset 0, which elsewhere stands for nothing.
  device_room_.take(2 * sizeof(Word));
}

std::uint64_t Inbox::take(std::size_t bytes) {
  const std::optional<std::uint64_t> offset = device_room_.take(bytes);
  if (!offset) {
    base::fail(Errc::out_of_memory, {.rank = rank_},
               "rank {} has no {} bytes left for signals and packets in its {} MiB on GPU {}; destroy chains "
               "that are not needed any more, route fewer puts over ll, or produce fewer elements",
               rank_, bytes, capacity >> 20, device_);
  }
  check(cudaMemsetAsync(at<std::byte>(rank_, *offset), 0, bytes, stream_), "clearing signals");
  return *offset;
}

Word* Inbox::take_words(std::size_t count) {
  const std::optional<std::uint64_t> offset = host_room_.take(count * sizeof(Word));
  if (!offset) {
    base::fail(Errc::out_of_memory, {.rank = rank_},
               "rank {} has no room left in its {} MiB of pinned memory; destroy chains that are not needed "
               "any more",
               rank_, host_bytes >> 20);
  }
  Word* words = host_words_ + *offset / sizeof(Word);
  std::memset(words, 0, count * sizeof(Word));
  return words;
}

void Inbox::give_back_words(Word* words, std::size_t count) {
  host_room_.give_back(static_cast<std::uint64_t>(words - host_words_) * sizeof(Word), count * sizeof(Word));
}

Room::~Room() {
  for (const auto& [offset, bytes] : pieces_) inbox_.give_back(offset, bytes);
  for (const auto& [words, count] : words_) inbox_.give_back_words(words, count);
}

std::uint64_t Room::take(std::size_t bytes) {
  pieces_.emplace_back(inbox_.take(bytes), bytes);
  return pieces_.back().first;
}

Word* Room::take_words(std::size_t count) {
  words_.emplace_back(inbox_.take_words(count), count);
  return words_.back().first;
}

const Word* Room::take_ranks(std::span<const int> ranks) {
  Word* const words = take_words(ranks.size());
  std::copy(ranks.begin(), ranks.end(), words);
  return words;
}

}  // namespace tca::cuda
