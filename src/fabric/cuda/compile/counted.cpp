#include "fabric/cuda/compile/counted.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "fabric/cuda/compile/plan.hpp"
#include "tca/device/counted.hpp"

namespace tca::cuda {

namespace {

std::vector<const fabric::Put*> counted(std::span<const fabric::Put> puts) {
  std::vector<const fabric::Put*> ends;
  for (const fabric::Put& put : puts)
    if (put.length) ends.push_back(&put);
  return ends;
}

std::size_t index(const std::vector<const fabric::Put*>& puts, const fabric::Put& put) {
  return static_cast<std::size_t>(std::find(puts.begin(), puts.end(), &put) - puts.begin());
}

device::Counted view_of(const fabric::Put& put, Word link) {
  device::Counted view;
  view.capacity = static_cast<Word>(put.shape->bytes() / put.length.element_bytes);
  view.unit =
      static_cast<Word>(std::max<std::uint64_t>(1, base::unit_bytes(*put.shape) / put.length.element_bytes));
  view.link = link;
  return view;
}

}  // namespace

void check_capacity(const fabric::Put& put, std::string_view chain) {
  if (put.shape->bytes() < largest_part) return;
  base::fail(
      Errc::invalid_argument, {.rank = put.from, .chain = std::string(chain)},
      "put {} of rank {} to rank {} is a counted one of up to {} bytes; on GPUs each has less than 2 GiB, so "
      "make several of it",
      put.length.put, put.from, put.to, put.shape->bytes());
}

CountedPuts::CountedPuts(const fabric::ChainSpec& share)
    : out_(counted(share.outgoing)), in_(counted(share.incoming)) {
  for (const Puts* puts : {&out_, &in_})
    for (const fabric::Put* put : *puts) check_capacity(*put, share.name);
  for (const fabric::Put* put : out_) sent_.push_back(put->length.elements);
}

void CountedPuts::take_room(Room& room, Inbox& inbox, HostCopier& copier, Word chain) {
  lengths_.sent_count = static_cast<Word>(out_.size());
  lengths_.come_count = static_cast<Word>(in_.size());
  if (!out_.empty()) lengths_.sent = inbox.own<Word>(room.take(sizeof(Word) * out_.size()));
  if (!in_.empty()) {
    come_offset_ = room.take(sizeof(Word) * in_.size());
    lengths_.come = come_ = inbox.own<Word>(come_offset_);
    lengths_.landed = room.take_words(in_.size());
  }
  for (const fabric::Put* put : out_) {
    const device::ElementCheck check{.mistakes = inbox.refused(),
                                     .told = &inbox.mistake(),
                                     .over = inbox.over(),
                                     .chain = chain,
                                     .put = put->length.put,
                                     .sending = 1};
    auto* const there = inbox.own<device::ElementCheck>(room.take(sizeof check));
    copier.write(reinterpret_cast<std::byte*>(there), std::as_bytes(std::span(&check, 1)));
    checks_.push_back(there);
  }
}

void CountedPuts::tell(base::Writer& writer, int partner) const {
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < in_.size(); ++i)
    if (in_[i]->from == partner) offsets.push_back(come_offset_ + sizeof(Word) * i);
  writer.put(offsets.size());
  for (const std::uint64_t offset : offsets) writer.put(offset);
}

void CountedPuts::hear(base::Reader& reader, int partner, bool is_for_me) {
  std::vector<std::uint64_t> offsets(reader.get<std::size_t>());
  for (std::uint64_t& offset : offsets) offset = reader.get<std::uint64_t>();
  if (is_for_me) theirs_[partner] = std::move(offsets);
}

void CountedPuts::build(const std::map<int, Word>& links) const {
  for (std::size_t i = 0; i < out_.size(); ++i) {
    device::Counted& view = *out_[i]->length.view = view_of(*out_[i], links.at(out_[i]->to));
    view.length = lengths_.sent + i;
    view.check = checks_[i];
  }
  for (std::size_t i = 0; i < in_.size(); ++i) {
    device::Counted& view = *in_[i]->length.view = view_of(*in_[i], links.at(in_[i]->from));
    view.length = come_ + i;
    view.landed = lengths_.landed + i;
  }
}

// A put of a rank to itself has two ends here, which are different puts.
Word* CountedPuts::length(const fabric::Put& put) const {
  const std::size_t out = index(out_, put);
  return out < out_.size() ? lengths_.sent + out : come_ + index(in_, put);
}

Word* CountedPuts::length_there(const fabric::Put& put, const Inbox& inbox) const {
  const auto same_target = [&](const fabric::Put* other) { return other->to == put.to; };
  const auto before =
      std::count_if(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(index(out_, put)), same_target);
  return inbox.at<Word>(put.to, theirs_.at(put.to).at(static_cast<std::size_t>(before)));
}

}  // namespace tca::cuda
