#include "fabric/cuda/inbox.hpp"

#include <cstring>

#include "base/fail.hpp"

namespace tca::cuda {

namespace {

// What a rank that could not make its region has to say, with the code of its error.
struct Problem {
  Errc code{};
  std::string text;
};

template <class Make>
Problem attempt(const Make& make) {
  try {
    make();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
}

// Everybody's token; all throw the first problem that any of them has.
std::vector<Token> agree(fabric::Control& control, std::string_view what, const Problem& mine,
                         const Token& token) {
  base::Writer writer;
  writer.put(mine.code).put_string(mine.text).put(token);
  std::vector<Token> tokens;
  Problem first;
  int rank = 0;
  for (const base::Blob& blob : control.all_gather(writer.blob(), what)) {
    base::Reader reader(blob);
    const Problem theirs{reader.get<Errc>(), reader.get_string()};
    if (!theirs.text.empty() && first.text.empty())
      first = {theirs.code, fmt::format("rank {}, {}: {}", rank, what, theirs.text)};
    tokens.push_back(reader.get<Token>());
    ++rank;
  }
  if (!first.text.empty()) throw Error(first.code, first.text);
  return tokens;
}

}  // namespace

std::vector<Region> share_regions(fabric::Control& control, const fabric::Places& places, int device,
                                  std::string_view what, const std::function<Region(Token&)>& make) {
  const auto me = static_cast<std::size_t>(control.rank());
  Token token;
  // Whatever comes of this: an exported handle that stays open keeps the memory allocated.
  const struct Sealed {
    const Token& token;
    ~Sealed() { seal(token); }
  } sealed{token};
  std::vector<Region> regions(static_cast<std::size_t>(control.size()));
  const Problem problem = attempt([&] { regions[me] = make(token); });
  const std::vector<Token> tokens = agree(control, what, problem, token);
  const Problem trouble = attempt([&] {
    for (std::size_t rank = 0; rank < tokens.size(); ++rank) {
      const bool reached = rank != me && places.same_sub_cluster(control.rank(), static_cast<int>(rank));
      if (reached && tokens[rank].kind != Token::Kind::none) regions[rank] = attach(device, tokens[rank]);
    }
  });
  agree(control, what, trouble, token);
  return regions;
}

Inbox::Inbox(fabric::Control& control, const fabric::Places& places, int device, bool exported,
             cudaStream_t stream)
    : parts_(
          share_regions(control, places, device, "bringing up the cuda fabric",
                        [&](Token& token) { return allocate(device, capacity, exported, stream, token); })),
      rank_(control.rank()),
      device_(device),
      stream_(stream) {
  host_room_.take(2 * sizeof(Word) + sizeof(device::Refusal));
  gone_ = take_words(parts_.size());
  device_room_.take(2 * sizeof(Word));  // of refused() and over(); elsewhere offset 0 stands for nothing
}

std::uint64_t Inbox::take(std::size_t bytes) {
  const std::optional<std::uint64_t> offset = device_room_.take(bytes);
  if (!offset) {
    base::fail(Errc::out_of_memory,
               "rank {} has no {} bytes left for signals and lines in its {} MiB on GPU {}; destroy chains "
               "that are not needed any more, or route fewer puts over ll",
               rank_, bytes, capacity >> 20, device_);
  }
  check(cudaMemsetAsync(at<std::byte>(rank_, *offset), 0, bytes, stream_), "clearing signals");
  return *offset;
}

Word* Inbox::take_words(std::size_t count) {
  const std::optional<std::uint64_t> offset = host_room_.take(count * sizeof(Word));
  if (!offset) base::fail(Errc::out_of_memory, "rank {} has no pinned memory left for another chain", rank_);
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

}  // namespace tca::cuda
