#include "fabric/shm/shm_fabric.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "base/fail.hpp"
#include "base/nontemporal.hpp"
#include "base/system/environment.hpp"
#include "fabric/shm/compile.hpp"
#include "fabric/shm/exchange.hpp"
#include "fabric/shm/memory.hpp"
#include "fabric/shm/poster.hpp"
#include "fabric/shm/probe.hpp"
#include "fabric/shm/program.hpp"
#include "fabric/shm/timed_program.hpp"

namespace tca::shm {

namespace {

// Bytes for the rings of all ranks of a host together; a forced protocol may exceed them.
constexpr std::size_t staging_budget = std::size_t{4} << 20;

constexpr std::array<std::string_view, 3> protocol_names{"direct", "pull", "staged"};

Reach reached_from(int rank, const control::Places& places) {
  const std::vector<int>& all = places.sub_cluster;
  Reach reach;
  for (const int sub_cluster : all) reach.push_back(sub_cluster == all[static_cast<std::size_t>(rank)]);
  return reach;
}

Nontemporal asked_for() {
  const std::optional<bool> told =
      base::on_or_off("OPENTCA_NONTEMPORAL", "whether stores to other ranks go past the caches");
  if (!told.value_or(true) || !base::has_nontemporal) return Nontemporal::never;
  return told ? Nontemporal::always : Nontemporal::if_faster;
}

// A share whose links lack the addresses of their signals. It allocates the slots that this rank's partners write
// into, and tells them where these are.
class ShmOffer final : public fabric::Offer {
 public:
  // `arrivals` may be null.
  ShmOffer(Runner& runner, Inbox& inbox, int rank, std::vector<Link> links, Moves moves,
           fabric::Arrivals* arrivals)
      : runner_(runner),
        inbox_(inbox),
        rank_(rank),
        links_(std::move(links)),
        moves_(std::move(moves)),
        arrivals_(arrivals) {}
  ShmOffer(const ShmOffer&) = delete;
  ~ShmOffer() override {
    for (const Link& link : links_)
      if (link.in != nullptr) inbox_.release(link.partner, link.in, link.in_ring.slot_bytes());
    for (std::size_t i = 0; i < ends_.size(); ++i)
      if (ends_[i].in != nullptr) inbox_.release(links_[i].partner, ends_[i].in, sizeof(Stamps));
  }

  base::Blob to_others() override {
    base::Writer slots;
    for (Link& link : links_) {
      const std::uint64_t offset = inbox_.allocate(link.partner, link.in_ring.slot_bytes());
      link.in = reinterpret_cast<Signal*>(inbox_.at(rank_, offset));
      slots.put(link.partner).put(offset).put(arrivals_ == nullptr ? std::uint64_t{0} : add_stamps(link));
    }
    return slots.blob();
  }

  // The program owns the slots.
  std::unique_ptr<fabric::Program> bind(const fabric::Offers& offers) override {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const auto [signal, stamps] = slots_at(links_[i].partner, offers);
      links_[i].out = reinterpret_cast<Signal*>(signal);
      if (arrivals_ != nullptr && links_[i].puts) ends_[i].out = reinterpret_cast<Stamps*>(stamps);
    }
    auto program =
        std::make_unique<ShmProgram>(runner_, links_, moves_.copies, moves_.trials, moves_.counted);
    std::vector<TimedProgram::Ends> ends = std::exchange(ends_, {});
    links_.clear();
    if (arrivals_ == nullptr) return program;
    return std::make_unique<TimedProgram>(std::move(program), inbox_, *arrivals_, std::move(ends));
  }

 private:
  // Where a partner keeps what this rank stores for it.
  struct Slots {
    std::byte *signal, *stamps;
  };
  Slots slots_at(int partner, const fabric::Offers& offers) const {
    for (base::Reader reader(offers.at(partner));;) {
      const int writer = reader.get<int>();
      const auto signal = reader.get<std::uint64_t>(), stamps = reader.get<std::uint64_t>();
      if (writer == rank_) return {inbox_.at(partner, signal), inbox_.at(partner, stamps)};
    }
  }

  // Allocates the stamps of the next link of `links_`, and returns where they are; 0 if nothing arrives
  // over it.
  std::uint64_t add_stamps(const Link& link) {
    TimedProgram::Ends& ends = ends_.emplace_back();
    if (!link.expects) return 0;
    const std::uint64_t offset = inbox_.allocate(link.partner, sizeof(Stamps));
    ends.in = reinterpret_cast<Stamps*>(inbox_.at(rank_, offset));
    return offset;
  }

  Runner& runner_;
  Inbox& inbox_;
  int rank_;
  std::vector<Link> links_;
  Moves moves_;
  fabric::Arrivals* arrivals_;
  std::vector<TimedProgram::Ends> ends_;  // by link, of a timed chain
};

class ShmFabric final : public fabric::Fabric, public fabric::Pricing {
 public:
  ShmFabric(control::Control& control, std::unique_ptr<Space> space, const control::Places& places)
      : control_(control),
        space_(std::move(space)),
        host_(places.host),
        nontemporal_(asked_for()),
        reach_(reached_from(control.rank(), places)),
        inbox_(*space_, control, reach_),
        runner_(inbox_),
        poster_(control, *space_, inbox_),
        cache_line_transfer_ns_(measure_crossing_ns(inbox_, control, places)) {}

  std::string_view name() const override { return "shm"; }
  std::span<const std::string_view> protocols() const override { return protocol_names; }
  bool reaches(int rank) const override { return reach_[static_cast<std::size_t>(rank)]; }
  bool carries_counted(int) const override { return true; }
  bool times_messages() const override { return true; }
  bool takes_existing() const override { return space_->reaches_existing(); }
  const fabric::Pricing& pricing() const override { return *this; }
  double cache_line_transfer_ns() const override { return cache_line_transfer_ns_; }

  // Rings cost memory as long as their chain lives, so they get no more than the budget.
  bool accepts(int protocol, const base::Shape& shape, fabric::RoomUsed used) const override {
    const std::size_t room = staging_budget / ranks_here();
    return protocol != staged || shape.bytes() <= sizeof(std::uint64_t) ||
           runner_.staged_bytes + Rings::of(used.total + shape.bytes(), 0).data.bytes() <= room;
  }

  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override;
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override;

  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override {
    std::memcpy(address(&memory, rank, offset), value.data(), value.size());
  }

  void trace_to(base::Trace* trace) override { runner_.trace = trace; }
  void progress() override { runner_.progress(); }
  fabric::Poster* poster() override { return &poster_; }

 private:
  void agree_on_window(const fabric::WindowSpec& window) const;

  int own_host() const { return host_[static_cast<std::size_t>(control_.rank())]; }
  std::size_t ranks_here() const {
    return static_cast<std::size_t>(std::count(host_.begin(), host_.end(), own_host()));
  }

  control::Control& control_;
  std::unique_ptr<Space> space_;
  std::vector<int> host_;
  const Nontemporal nontemporal_;
  Reach reach_;
  Inbox inbox_;
  Shapes shapes_;
  Runner runner_;
  ShmPoster poster_;
  double cache_line_transfer_ns_;
};

// Returns where the ranks' parts of a window are in this process, by rank; empty if it does not reach them.
std::vector<std::span<std::byte>> parts_of(const Shared& all, const Inbox& inbox, const Reach& reach) {
  std::vector<std::span<std::byte>> parts;
  for (std::size_t rank = 0; rank < all.mappings.size(); ++rank) {
    const Token& token = all.tokens[rank];
    const Mapping& mapping = all.mappings[rank];
    if (token.handle == Token::in_inbox && reach[rank])
      parts.emplace_back(inbox.at(static_cast<int>(rank), token.begin), token.bytes);
    else if (mapping.bytes() > 0)
      parts.emplace_back(mapping.data() + token.begin, mapping.bytes() - token.begin);
    else
      parts.emplace_back();
  }
  return parts;
}

std::unique_ptr<fabric::Memory> ShmFabric::expose(const fabric::WindowSpec& window) {
  agree_on_window(window);
  auto own = std::make_unique<OwnPart>(*space_, inbox_, window.bytes, window.existing);
  Shared all = share_all(*space_, window.members, own->take_mapping(), own->token(), reach_, window.title);
  std::vector<std::span<std::byte>> parts = parts_of(all, inbox_, reach_);
  return std::make_unique<ShmMemory>(std::move(parts), control_.rank(),
                                     Mapped{inbox_.views(), std::move(own), std::move(all.mappings)});
}

// Throws unless every member can have what it requests; members of a host share the memory that it has
// left. Finding that out takes longer than making a small window, so it is not done for one.
void ShmFabric::agree_on_window(const fabric::WindowSpec& window) const {
  constexpr double plenty = std::numeric_limits<double>::max();
  struct Wish {
    double bytes, available;
    bool registers;
  };
  struct Host {
    double bytes = 0, available = plenty;
    int ranks = 0;
  };
  const bool registers = window.existing != nullptr;
  const Wish mine{registers ? 0 : static_cast<double>(window.bytes),
                  window.bytes > Inbox::small_window ? static_cast<double>(available_memory()) : plenty,
                  registers};
  std::map<int, Host> hosts;
  int member = 0;
  bool any_registers = false;
  for (const Wish& wish : window.members.control().all_gather_value(mine, window.title)) {
    Host& host = hosts[host_[static_cast<std::size_t>(window.members[member++])]];
    host.bytes += wish.bytes;
    host.available = std::min(host.available, wish.available);
    ++host.ranks;
    any_registers |= wish.registers;
  }
  if (any_registers && !space_->reaches_existing()) {
    base::fail(Errc::invalid_argument,
               "{} cannot be made of memory that a rank already has: on shm, a process cannot reach into "
               "what another has allocated. Ask for world.window<T>(elements) and keep the data in it, or "
               "run the ranks as threads (World::run_threads)",
               window.title);
  }
  constexpr double mebibyte = 1 << 20;
  for (const auto& [number, host] : hosts) {
    if (host.bytes <= host.available) continue;
    const std::string which = hosts.size() == 1 ? "this host" : fmt::format("their host ({})", number);
    base::fail(Errc::out_of_memory,
               "{} needs {:.0f} MiB on all {} ranks together, but {} has {:.0f} MiB of memory left "
               "(MemAvailable, and the container's memory limit if there is one); ask for less, use fewer "
               "ranks a host, or raise the limit",
               window.title, host.bytes / mebibyte, host.ranks, which, host.available / mebibyte);
  }
}

std::unique_ptr<fabric::Offer> ShmFabric::offer(const fabric::ChainSpec& share) {
  std::map<int, Traffic> partners;
  for (const fabric::Put& put : share.outgoing) partners[put.to].out.push_back(&put);
  for (const fabric::Put& put : share.incoming) partners[put.from].in.push_back(&put);
  std::vector<Link> links;
  Moves moves;
  for (const auto& [partner, traffic] : partners) {
    const Nontemporal nontemporal = partner == control_.rank() ? Nontemporal::never : nontemporal_;
    links.push_back(compile_link(partner, traffic, share.guarded, nontemporal, moves, shapes_));
  }
  return std::make_unique<ShmOffer>(runner_, inbox_, control_.rank(), std::move(links), std::move(moves),
                                    share.arrivals);
}

}  // namespace

std::unique_ptr<fabric::Fabric> make_fabric(control::Control& control, std::unique_ptr<Space> space,
                                            const control::Places& places) {
  return std::make_unique<ShmFabric>(control, std::move(space), places);
}

}  // namespace tca::shm
