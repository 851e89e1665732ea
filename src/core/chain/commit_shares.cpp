// A rank's share of a chain on each fabric: offered to its partners, and bound to what they offer.
#include <algorithm>
#include <map>
#include <utility>

#include "core/chain/commit.hpp"
#include "core/chain/message_times.hpp"
#include "tca/device/counted.hpp"

namespace tca::core {

namespace {

// Hands out this rank's ends of the counted or produced puts that a rank makes, in order of declaration.
template <class Ends>
class InTurn {
 public:
  InTurn(const Ends* ends, int rank) : ends_(ends), rank_(rank) {}

  auto* next_put() { return ends_->puts[put_++].get(); }
  auto* next_arrival() {
    while (ends_->arrivals[arrival_]->partner != rank_) ++arrival_;
    return ends_->arrivals[arrival_++].get();
  }

 private:
  const Ends* ends_;
  int rank_;
  std::size_t put_ = 0, arrival_ = 0;
};

}  // namespace

std::shared_ptr<WindowState> Commit::keep(std::uint32_t id) {
  std::shared_ptr<WindowState> window = world_.find_window(id);
  if (std::find(windows_.begin(), windows_.end(), window) == windows_.end()) windows_.push_back(window);
  return window;
}

// Returns the length of a put at one end, for its fabric; `end` is null if the put is not counted. One with
// an empty layout is a signal like any other.
fabric::Length Commit::length_of(CountedEnd* end, const Descriptor& put) {
  if (end == nullptr) return {};
  end->view = std::make_shared<device::Counted>();
  if (put.shape == nullptr) {
    end->view->unit = 0;
    return {};
  }
  const std::size_t element_bytes = keep(put.to_window)->element_bytes();
  end->capacity = put.shape->bytes() / element_bytes;
  return {&end->length, static_cast<std::uint32_t>(element_bytes), end->view.get()};
}

// Returns a put for its fabric, without what differs between its two ends.
fabric::Put Commit::put_on(const Part& part, int from, std::size_t index, const Descriptor& d) {
  fabric::Put put{
      .from = from, .to = d.to, .shape = d.shape, .protocol = part.spare ? d.spare_protocol : d.protocol};
  put.elements = {.produced = d.produced,
                  .count = d.elements,
                  .bytes = d.element_bytes,
                  .put = static_cast<std::uint32_t>(index)};
  if (d.shape == nullptr) return put;
  put.to_memory = keep(d.to_window)->memory_of(part.fabric);
  put.to_offset = static_cast<std::uint64_t>(d.to_offset);
  put.from_memory = keep(d.from_window)->memory_of(part.fabric);
  put.from_offset = static_cast<std::uint64_t>(d.from_offset);
  return put;
}

bool Commit::belongs(const Part& part, int partner, const Descriptor& d) const {
  if (part.partner < 0 ? has_detour(partner) : part.partner != partner) return false;
  return (part.spare ? d.spare_fabric : d.fabric) == part.fabric;
}

Commit::Share Commit::share_of(const Part& part) {
  Share share{.outgoing = {}, .incoming = {}, .offer = {}, .fabric = part.fabric};
  const int me = world_.rank();
  InTurn counted(chain_.counted_.get(), me);
  InTurn produced(chain_.produced_.get(), me);
  for (std::size_t i = 0; i < puts().size(); ++i) {
    const Descriptor& d = puts()[i];
    CountedEnd* const sent = d.counted ? counted.next_put() : nullptr;
    ProducedEnd* const made = d.produced ? produced.next_put() : nullptr;
    if (!belongs(part, d.to, d)) continue;
    fabric::Put& put = share.outgoing.emplace_back(put_on(part, me, i, d));
    put.length = length_of(sent, d);
    put.length.put = put.elements.put;
    put.elements.view = made != nullptr ? &made->view : nullptr;
  }
  int sender = -1;
  for (const auto& [from, index, d] : arrivals_) {
    if (std::exchange(sender, from) != from) {
      counted = InTurn(chain_.counted_.get(), from);
      produced = InTurn(chain_.produced_.get(), from);
    }
    CountedEnd* const come = d.counted ? counted.next_arrival() : nullptr;
    ProducedEnd* const used = d.produced ? produced.next_arrival() : nullptr;
    if (!belongs(part, from, d)) continue;
    fabric::Put& put = share.incoming.emplace_back(put_on(part, from, index, d));
    put.length = length_of(come, d);
    put.length.put = put.elements.put;
    put.elements.view = used != nullptr ? &used->view : nullptr;
  }
  return share;
}

// Has every fabric prepare its share, and returns what they need to tell the other ranks.
base::Blob Commit::offer() {
  windows_ = chain_.windows_;
  std::sort(windows_.begin(), windows_.end());
  windows_.erase(std::unique(windows_.begin(), windows_.end()), windows_.end());
  find_detours();
  for (std::size_t f = 0; f < world_.fabrics().size(); ++f) shares_.push_back(share_of({.fabric = f}));
  if (chain_.timed_) expect_times();
  base::Writer writer;
  for (std::size_t f = 0; f < shares_.size(); ++f) {
    Share& share = shares_[f];
    share.offer = world_.fabrics()[f]->offer(
        {chain_.name_, circle_->members(), number_, chain_.guarded_, share.outgoing, share.incoming,
         chain_.time_limit_, world_.checks_steps(),
         world_.fabrics()[f]->times_messages() ? chain_.times_.get() : nullptr, chain_.reroute_});
    const base::Blob blob = share.offer->to_others();
    writer.put(blob.size()).put_blob(blob);
  }
  offer_detours(writer);
  return writer.blob();
}

void Commit::expect_times() {
  chain_.times_ = std::make_unique<MessageTimes>(world_, chain_.name_);
  std::map<int, std::vector<Descriptor>> puts;  // to this rank, by sender
  for (const Arrival& arrival : arrivals_) puts[arrival.from].push_back(arrival.put);
  for (const auto& [rank, of_rank] : puts) chain_.times_->expect(rank, of_rank);
}

// Notes which channels between this rank and others the chain needs, if any of them may fail.
void Commit::note_needs() const {
  if (!world_.expects_lost_paths()) return;
  std::set<Need> needs;
  const auto add = [&](int partner, const Descriptor& d) {
    if (partner != world_.rank() && !has_detour(partner)) needs.insert(need_of(partner, d));
  };
  for (const Descriptor& d : puts()) add(d.to, d);
  for (const Arrival& arrival : arrivals_) add(arrival.from, arrival.put);
  chain_.ways().needs.assign(needs.begin(), needs.end());
}

void Commit::bind(const fabric::Offers& offered) {
  note_needs();
  chain_.circle_ = circle_;
  chain_.id_ = circle_->next_id();
  std::vector<fabric::Offers> offers(shares_.size());                 // by fabric
  std::map<int, std::map<int, std::vector<base::Blob>>> for_detours;  // from a rank, for one of its partners
  for (const auto& [rank, blob] : offered) {
    base::Reader reader(blob);
    for (fabric::Offers& of_fabric : offers) of_fabric[rank] = reader.get_blob(reader.get<std::size_t>());
    while (!reader.done()) {
      const auto partner = reader.get<int>();
      for (auto n = reader.get<std::size_t>(); n > 0; --n)
        for_detours[rank][partner].push_back(reader.get_blob(reader.get<std::size_t>()));
    }
  }
  std::vector<std::unique_ptr<fabric::Program>> programs;  // become the chain's once all are bound
  for (std::size_t f = 0; f < shares_.size(); ++f) programs.push_back(shares_[f].offer->bind(offers[f]));
  chain_.programs_ = std::move(programs);
  bind_detours(for_detours);
  if (chain_.produced_ != nullptr) {
    for (const auto* ends : {&chain_.produced_->puts, &chain_.produced_->arrivals})
      for (const auto& end : *ends) end->committed = true;
  }
  if (chain_.counted_ != nullptr) {
    for (const auto& end : chain_.counted_->arrivals) end->landed = end->view->landed;
  }
  chain_.windows_ = std::move(windows_);
  chain_.windows_.shrink_to_fit();
}

}  // namespace tca::core
