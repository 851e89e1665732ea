#include "fabric/cuda/compile/produced.hpp"

#include <fmt/format.h>

#include <utility>

namespace tca::cuda {

namespace {

using device::Packet;
using device::Produced;

Word packets_of_buffer(const fabric::Elements& elements) {
  return device::lots_of(elements.count) * device::elements_per_lot *
         device::packets_of_element(elements.bytes);
}

}  // namespace

std::vector<ProducedPuts::End> ProducedPuts::ends_of(std::span<const fabric::Put> puts,
                                                     int fabric::Put::*partner) {
  std::vector<End> ends;
  for (const fabric::Put& put : puts)
    if (put.elements) ends.push_back({&put.elements, put.*partner});
  return ends;
}

ProducedPuts::ProducedPuts(const fabric::ChainSpec& share)
    : guarded_(share.guarded),
      checked_(share.checked),
      out_(ends_of(share.outgoing, &fabric::Put::to)),
      in_(ends_of(share.incoming, &fabric::Put::from)) {}

std::vector<int> ProducedPuts::partners() const {
  std::vector<int> all;
  for (const std::vector<End>* ends : {&out_, &in_})
    for (const End& end : *ends) all.push_back(end.partner);
  return all;
}

void ProducedPuts::take_room(Room& room, Inbox& inbox, HostCopier& copier, Word chain) {
  for (End& end : in_)
    end.offset =
        room.take(is_signal(end) ? sizeof(Word) : 2 * sizeof(Packet) * packets_of_buffer(*end.elements));
  for (End& end : out_)
    if (has_acks(end)) end.offset = room.take(sizeof(Word) * device::lots_of(end.elements->count));
  if (!checked_) return;
  const auto check = [&](End& end, bool sending) {
    device::ElementCheck one{.mistakes = inbox.refused(),
                             .told = &inbox.mistake(),
                             .over = inbox.over(),
                             .chain = chain,
                             .put = end.elements->put,
                             .sending = sending ? 1U : 0U};
    if (sending) one.written = inbox.own<Word>(room.take(sizeof(Word) * end.elements->count));
    auto* const there = inbox.own<device::ElementCheck>(room.take(sizeof one));
    copier.write(reinterpret_cast<std::byte*>(there), std::as_bytes(std::span(&one, 1)));
    end.check = there;
  };
  for (End& end : out_)
    if (!is_signal(end)) check(end, true);
  for (End& end : in_)
    if (!is_signal(end)) check(end, false);
}

void ProducedPuts::tell(base::Writer& writer, int partner) const {
  for (const std::vector<End>* ends : {&in_, &out_}) {
    std::vector<std::uint64_t> offsets;
    for (const End& end : *ends)
      if (end.partner == partner) offsets.push_back(end.offset);
    writer.put(offsets.size());
    for (const std::uint64_t offset : offsets) writer.put(offset);
  }
}

void ProducedPuts::hear(base::Reader& reader, int partner, bool is_for_me) {
  for (auto* const theirs : {&their_packets_, &their_acks_}) {
    std::vector<std::uint64_t> offsets(reader.get<std::size_t>());
    for (std::uint64_t& offset : offsets) offset = reader.get<std::uint64_t>();
    if (is_for_me) (*theirs)[partner] = std::move(offsets);
  }
}

Produced ProducedPuts::view(const End& end, const std::map<int, Word>& links) const {
  Produced view;
  view.check = end.check;
  view.elements = end.elements->count;
  view.buffer = packets_of_buffer(*end.elements);
  view.link = links.at(end.partner);
  return view;
}

void ProducedPuts::build(DeviceProducedChain& chain, const std::map<int, Word>& links, Room& room,
                         Inbox& inbox, HostCopier& copier) {
  std::vector<Produced> all;
  std::map<int, std::size_t> next_to, next_from;
  std::size_t out = 0;
  Word lots_out = 0, lots_in = 0;
  for (const End& end : out_) {
    Produced made = view(end, links);
    const std::uint64_t there = their_packets_.at(end.partner).at(next_to[end.partner]++);
    if (is_signal(end)) {
      made.acks = inbox.at<Word>(end.partner, there);
      *end.elements->view = made;
      continue;
    }
    ++out;
    made.packets = inbox.at<Packet>(end.partner, there);
    made.first_lot = std::exchange(lots_out, lots_out + device::lots_of(made.elements));
    if (has_acks(end)) made.acks = inbox.own<Word>(end.offset);
    all.push_back(*end.elements->view = made);
  }
  for (const End& end : in_) {
    Produced used = view(end, links);
    const std::uint64_t there = their_acks_.at(end.partner).at(next_from[end.partner]++);
    if (is_signal(end)) {
      used.acks = inbox.own<Word>(end.offset);
      *end.elements->view = used;
      continue;
    }
    used.packets = inbox.own<Packet>(end.offset);
    used.first_lot = std::exchange(lots_in, lots_in + device::lots_of(used.elements));
    if (has_acks(end)) used.acks = inbox.at<Word>(end.partner, there);
    all.push_back(*end.elements->view = used);
  }
  if (all.empty() || !(guarded_ || checked_)) return;
  const auto bytes = std::as_bytes(std::span(all));
  auto* const there = inbox.own<Produced>(room.take(bytes.size()));
  copier.write(reinterpret_cast<std::byte*>(there), bytes);
  chain.produced = there;
  chain.produced_out = static_cast<Word>(out);
  chain.produced_in = static_cast<Word>(all.size() - out);
  chain.produced_guarded = guarded_ ? 1 : 0;
  chain.produced_checked = checked_ ? 1 : 0;
}

namespace {

std::string describe_length(const device::Mistake& mistake, int rank, int partner, const std::string& chain) {
  const std::string put =
      fmt::format("put {} of rank {} to rank {} of {}", mistake.put, rank, partner, chain);
  if (mistake.kind == device::Mistake::uneven)
    return fmt::format(
        "a kernel has set the length of {} to {} elements; a repetition of its outermost loop moves {}, and "
        "a length is a multiple of that",
        put, mistake.element, mistake.elements);
  return fmt::format(
      "a kernel has set the length of {} to {} elements; it was committed for {} at most; send the rest in "
      "further steps, or give the put a longer layout",
      put, mistake.element, mistake.elements);
}

}  // namespace

std::string describe(const device::Mistake& mistake, int rank, int partner, const std::string& chain) {
  if (mistake.kind == device::Mistake::too_long || mistake.kind == device::Mistake::uneven)
    return describe_length(mistake, rank, partner, chain);
  const bool sending = mistake.sending != 0;
  const std::string element =
      fmt::format("element {} of put {} of rank {} to rank {} in step {} of {}", mistake.element, mistake.put,
                  sending ? rank : partner, sending ? partner : rank, mistake.step, chain);
  switch (mistake.kind) {
    case device::Mistake::twice:
      return fmt::format("a kernel has written {} twice; one thread writes it, once between start and wait",
                         element);
    case device::Mistake::out_of_range:
      return fmt::format("a kernel wanted to {} {}, which has {} elements, 0 to {}",
                         sending ? "write" : "read", element, mistake.elements, mistake.elements - 1);
    case device::Mistake::not_written:
      return fmt::format("a kernel has not written {}, and starts the next one; rank {} waits for it",
                         element, partner);
    default:
      return fmt::format(
          "a kernel waited too long for {}, which rank {} has not written; has it started this step, and "
          "written every element? (time limit: WorldOptions, ChainOptions or OPENTCA_TIME_LIMIT)",
          element, partner);
  }
}

}  // namespace tca::cuda
