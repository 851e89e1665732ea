// What a network loses when parts of it fail, and the detours.
#include "model/net/network.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace tca::net {

void Network::expect_faults(std::uint32_t interconnect, std::vector<Fault> faults, std::string_view asker,
                            Losses& losses) {
  if (trains_) {
    base::fail(Errc::invalid_argument,
               "{}: what fails is modelled packet by packet; leave the fidelity at tlp", asker);
  }
  damage_ = std::make_unique<Damage>(plan_.trunks().at(interconnect), interconnect, nodes(),
                                     std::move(faults), asker, losses);
  traffic_.set_detours(damage_->detours);
}

void Network::fail(std::size_t fault) {
  const Fault& what = damage_->detours.faults()[fault];
  const Trunk& trunk = plan_.trunks()[damage_->interconnect];
  const auto lose = [&](LinkId link, bool at_once) {
    damage_->fault_of.try_emplace(link, fault);
    traffic_.fail(link);
    if (at_once) traffic_.discard(link);
  };
  // Nobody in a failed hub waits for credits.
  const bool is_hub = what.kind == Fault::Kind::hub;
  for (const std::uint32_t cable : damage_->detours.cables_of(fault))
    lose(trunk.first + cable, is_hub && trunk.routes.cable(cable).from == what.node);
  if (!is_hub) return;
  for (LinkId link = 0; link < plan_.local_links(); ++link) {
    const LocalLink& local = plan_.locals()[link];
    if (local.from == trunk.nic || local.to == trunk.nic) lose(what.node * plan_.local_links() + link, true);
  }
}

void Network::learn(std::uint32_t node, std::size_t fault) {
  damage_->known[node] |= View{1} << fault;
  const Trunk& trunk = plan_.trunks()[damage_->interconnect];
  for (const std::uint32_t cable : damage_->detours.cables_of(fault))
    if (trunk.routes.cable(cable).from == node) traffic_.discard(trunk.first + cable);
}

des::Time Network::last_credit(std::uint32_t node, std::uint32_t neighbour) const {
  const Trunk& trunk = plan_.trunks()[damage_->interconnect];
  const Routes::Hop hop = trunk.routes.at_node(node, trunk.routes.steps(node, neighbour));
  return traffic_.last_credit(trunk.first + hop.cable);
}

// If there is no detour, the packet takes the ordinary path, and is lost.
void Network::redirect(Packet& packet, std::uint32_t from, std::uint32_t to, std::optional<View> view) const {
  const std::optional<Detours::Found> found =
      damage_->detours.way(from, to, view.value_or(damage_->known[from]));
  if (!found || !found->goes_round) return;
  packet.steps = found->steps;
  packet.flags |= Packet::round;
}

void Network::lost(const Packet& packet, LinkId on) {
  const Message& message = messages_[packet.message];
  const des::Counter* const concerned = message.concerns != nullptr ? message.concerns : message.arrived;
  if (concerned != nullptr) damage_->losses.lost(*concerned, damage_->fault_of.at(on));
}

}  // namespace tca::net
