// The second paths of a rerouted chain: chosen with the first, and offered and bound beside them.
#include <algorithm>
#include <utility>

#include "core/chain/commit.hpp"
#include "route/choose.hpp"

namespace tca::core {

// Moves a descriptor to another fabric, or at least another protocol, if its first path is lost. What MPI
// has been given cannot be taken back, and steps of GPUs go on where no host looks, so these have only one
// path; `sim` reroutes by itself.
void Commit::choose_spare(Descriptor& d, std::size_t puts_to) {
  fabric::Fabric& own = *world_.fabrics()[d.fabric];
  if (!chain_.reroute_ || chain_.timed_ || d.to == world_.rank() || d.counted || d.produced) return;
  if (world_.accelerator() != nullptr || own.compute_model() != nullptr || own.messages() != nullptr) return;
  if (d.shape == nullptr) {
    d.has_spare = true;
    d.spare_fabric = d.fabric;
    for (std::size_t f = 0; f < world_.fabrics().size(); ++f)
      if (f != d.fabric && world_.fabrics()[f]->reaches(d.to)) d.spare_fabric = static_cast<std::uint16_t>(f);
    return;
  }
  const std::size_t first = world_.first_fabric(d.to_window, d.from_window);
  const std::span usable = std::span(world_.fabrics()).subspan(first);
  for (const bool by_another_fabric : {true, false}) {
    route::Put put{d.to, *d.shape, puts_to, d.counted, true, {}};
    put.is_lost = [&, by_another_fabric](std::size_t fabric, std::size_t protocol) {
      const bool is_first = first + fabric == d.fabric && (by_another_fabric || protocol == d.protocol);
      return is_first || world_.lost_path(d.to, first + fabric, protocol) != nullptr;
    };
    if (route::candidates(usable, world_.costs(), put, {}).empty()) continue;
    const route::Choice choice = route::choose(usable, world_.costs(), put, {});
    d.has_spare = true;
    d.spare_fabric = static_cast<std::uint16_t>(first + static_cast<std::size_t>(choice.fabric));
    d.spare_protocol = static_cast<std::uint16_t>(choice.protocol);
    return;
  }
}

// Finds the partners to which everything has a second path, in both directions; their other ends find the
// same.
void Commit::find_detours() {
  std::map<int, bool> all;
  const auto add = [&](int partner, const Descriptor& d) {
    bool& is_spared = all.try_emplace(partner, true).first->second;
    is_spared = is_spared && d.has_spare;
  };
  for (const Descriptor& d : puts()) add(d.to, d);
  for (const Arrival& arrival : arrivals_) add(arrival.from, arrival.put);
  for (const auto& [partner, is_spared] : all)
    if (is_spared)
      detours_.push_back({.partner = partner, .first = {}, .second = {}, .landed = {}, .to = {}, .from = {}});
  for (DetourShares& detour : detours_) detour = detour_shares(detour.partner);
}

bool Commit::has_detour(int partner) const {
  return std::ranges::any_of(detours_, [&](const DetourShares& detour) { return detour.partner == partner; });
}

std::vector<Commit::Share*> Commit::DetourShares::all() {
  std::vector<Share*> all;
  for (auto* const shares : {&first, &second, &to, &from})
    for (Share& share : *shares) all.push_back(&share);
  all.push_back(&landed);
  return all;
}

Commit::Share Commit::signals_of(int partner, std::size_t fabric, bool to, bool from) const {
  Share share{.outgoing = {}, .incoming = {}, .offer = {}, .fabric = fabric};
  if (to) share.outgoing.push_back({.from = world_.rank(), .to = partner});
  if (from) share.incoming.push_back({.from = partner, .to = world_.rank()});
  return share;
}

Commit::DetourShares Commit::detour_shares(int partner) {
  DetourShares detour{.partner = partner, .first = {}, .second = {}, .landed = {}, .to = {}, .from = {}};
  std::size_t first = 0, second = 0;  // the last fabrics that they use
  for (const bool spare : {false, true}) {
    for (std::size_t f = 0; f < world_.fabrics().size(); ++f) {
      Share share = share_of({.fabric = f, .partner = partner, .spare = spare});
      if (share.outgoing.empty() && share.incoming.empty()) continue;
      (spare ? second : first) = f;
      (spare ? detour.second : detour.first).push_back(std::move(share));
    }
  }
  detour.landed = signals_of(partner, first, true, true);
  for (std::uint32_t i = 0; i < Detour::tellings; ++i) {
    detour.to.push_back(signals_of(partner, second, true, false));
    detour.from.push_back(signals_of(partner, second, false, true));
  }
  return detour;
}

void Commit::offer_share(Share& share, std::uint32_t number, bool guarded) {
  share.offer = world_.fabrics()[share.fabric]->offer({chain_.name_, circle_->members(), number, guarded,
                                                       share.outgoing, share.incoming, chain_.time_limit_,
                                                       world_.checks_steps()});
}

// Numbers distinguish what travels between two ranks in one direction.
void Commit::offer_detours(base::Writer& writer) {
  for (DetourShares& detour : detours_) {
    for (Share& share : detour.first) offer_share(share, number_, chain_.guarded_);
    for (Share& share : detour.second) offer_share(share, number_ + 1, chain_.guarded_);
    offer_share(detour.landed, number_ + 2, false);
    for (std::uint32_t i = 0; i < Detour::tellings; ++i) {
      offer_share(detour.to[i], number_ + 3 + i, false);
      offer_share(detour.from[i], number_ + 3 + i, false);
    }
    const std::vector<Share*> all = detour.all();
    writer.put(detour.partner).put(all.size());
    for (const Share* const share : all) {
      const base::Blob blob = share->offer->to_others();
      writer.put(blob.size()).put_blob(blob);
    }
  }
}

void Commit::bind_detours(const std::map<int, std::map<int, std::vector<base::Blob>>>& offered) {
  const int me = world_.rank();
  for (DetourShares& detour : detours_) {
    const std::vector<base::Blob>& own = offered.at(me).at(detour.partner);
    std::vector<base::Blob> theirs = offered.at(detour.partner).at(me);
    // What one end sends is what the other receives from it.
    const auto signals = static_cast<std::ptrdiff_t>(detour.first.size() + detour.second.size());
    std::rotate(theirs.begin() + signals, theirs.begin() + signals + Detour::tellings, theirs.end() - 1);
    Detour::Parts parts{.partner = detour.partner, .ways = {}, .landed = {}, .to = {}, .from = {}};
    std::size_t index = 0;
    const auto bind = [&](Share& share) {
      const fabric::Offers offers{{me, own[index]}, {detour.partner, theirs[index]}};
      ++index;
      return share.bind(offers);
    };
    for (const bool spare : {false, true})
      for (Share& share : spare ? detour.second : detour.first)
        parts.ways[spare ? 1 : 0].programs.push_back(bind(share));
    for (std::uint32_t i = 0; i < Detour::tellings; ++i) parts.to[i] = bind(detour.to[i]);
    for (std::uint32_t i = 0; i < Detour::tellings; ++i) parts.from[i] = bind(detour.from[i]);
    parts.landed = bind(detour.landed);
    std::array<std::set<Need>, 2> needs;
    const auto add = [&](int partner, const Descriptor& d) {
      if (partner != detour.partner) return;
      needs[0].insert(need_of(partner, d));
      needs[1].insert(spare_need_of(partner, d));
    };
    for (const Descriptor& d : puts()) add(d.to, d);
    for (const Arrival& arrival : arrivals_) add(arrival.from, arrival.put);
    for (std::size_t way = 0; way < needs.size(); ++way)
      parts.ways[way].needs.assign(needs[way].begin(), needs[way].end());
    chain_.ways().detours.emplace_back(world_, std::move(parts));
  }
  if (!chain_.detours().empty()) world_.reroutes().add(chain_);
}

}  // namespace tca::core
