#include "fabric/sim/sim_fabric.hpp"

#include <algorithm>
#include <map>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "fabric/sim/memory.hpp"
#include "fabric/sim/poster.hpp"
#include "fabric/sim/program.hpp"
#include "fabric/sim/sim_control.hpp"
#include "fabric/sim/timed_program.hpp"

namespace tca::sim {

namespace {

class SimFabric final : public fabric::Fabric,
                        public fabric::Pricing,
                        public fabric::ComputeModel,
                        public fabric::FaultNews {
 public:
  SimFabric(std::shared_ptr<Model> model, control::Control& control)
      : model_(std::move(model)), control_(control), rank_(control.rank()), poster_(*model_, rank_) {}

  std::string_view name() const override { return "sim"; }
  std::span<const std::string_view> protocols() const override { return model_->hardware().names(); }
  bool reaches(int) const override { return true; }
  bool carries(int protocol, int rank) const override {
    return rank == rank_ ||
           (carrier(protocol).reaches(rank_, rank) && model_->leads(carrier(protocol), rank_, rank));
  }
  bool times_messages() const override { return true; }
  bool carries_counted(int protocol) const override { return carrier(protocol).carries_counted(); }
  const fabric::Pricing& pricing() const override { return *this; }
  std::optional<double> predict_us(int protocol, int from, int to, const base::Shape& shape) const override {
    if (!carrier(protocol).competes() || (from != to && !carrier(protocol).reaches(from, to)))
      return std::nullopt;
    return model_->predict_us(static_cast<std::size_t>(protocol), from, to, shape);
  }
  std::optional<fabric::Device> device() const override {
    return fabric::Device{fmt::format("{} ({})", model_->machine().name, model_->machine().gpu.name)};
  }
  fabric::ComputeModel* compute_model() override { return this; }
  const fabric::FaultNews* fault_news() const override { return this; }
  std::vector<KnownFault> known_faults() const override {
    return model_->faults() != nullptr ? model_->faults()->known(rank_) : std::vector<KnownFault>();
  }

  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override;
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override {
    return std::make_unique<fabric::BareOffer>([this, share] { return compile(share); });
  }
  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override;
  void compute(double bytes, double flops) override;
  fabric::Poster* poster() override { return &poster_; }

  // Started steps advance by themselves. A program that polls in a loop must let virtual time pass between
  // its looks.
  void progress() override {
    Scheduler& scheduler = model_->scheduler();
    scheduler.spend(rank_, std::max(model_->machine().host.poll, des::nanosecond));
    scheduler.wait_until(rank_, scheduler.clock(rank_));
  }

 private:
  using Puts = std::vector<const fabric::Put*>;

  Protocol& carrier(int protocol) const {
    return *model_->hardware().protocols()[static_cast<std::size_t>(protocol)];
  }
  std::unique_ptr<fabric::Program> compile(const fabric::ChainSpec& share);
  using Lengths = std::vector<fabric::Length> Flow::*;
  SimProgram::Flows flows_of(const fabric::ChainSpec& share, std::span<const fabric::Put> puts, Lengths own);
  static des::Task land(des::Simulator& simulator, Protocol& protocol, Immediates& immediates, int from,
                        int to, std::uint32_t bytes, des::Time begin, std::uint64_t count);

  std::shared_ptr<Model> model_;
  control::Control& control_;
  int rank_;
  SimPoster poster_;
};

std::unique_ptr<fabric::Memory> SimFabric::expose(const fabric::WindowSpec& window) {
  const control::Members& members = window.members;
  const std::shared_ptr<Regions> regions =
      model_->regions({members[0], window.number}, static_cast<std::size_t>(members.size()));
  std::span<std::byte>& part = regions->parts[static_cast<std::size_t>(rank_)];
  base::Zeroed owned;
  if (window.existing != nullptr) {
    part = {window.existing, window.bytes};
  } else if (window.bytes > 0) {
    owned = base::Zeroed(window.bytes);
    part = {owned.data(), window.bytes};
    if (part.data() == nullptr) regions->refused = rank_;
  }
  members.control().barrier(window.title);
  if (regions->refused >= 0) {
    base::fail(
        Errc::out_of_memory, {.rank = regions->refused},
        "rank {} could not get its memory for {}; the ranks of a modelled machine share that of this process",
        regions->refused, window.title);
  }
  return std::make_unique<SimMemory>(regions, std::move(owned), rank_);
}

// Returns the flows between pairs of ranks: the puts of each protocol, or a bare signal if a pair has no
// puts with data. They are in the order in which the chain first names each, which is the order in which a
// DMA controller gets them. `own` are this rank's lengths for the flows.
SimProgram::Flows SimFabric::flows_of(const fabric::ChainSpec& share, std::span<const fabric::Put> puts,
                                      Lengths own) {
  using Key = std::tuple<int, int, std::size_t>;
  std::vector<std::pair<Key, Puts>> groups;
  std::map<Key, std::size_t> places;
  std::map<std::pair<int, int>, bool> has_data;
  for (const fabric::Put& put : puts)
    has_data[{put.from, put.to}] |= put.shape != nullptr && put.shape->bytes() > 0;
  for (const fabric::Put& put : puts) {
    const bool data = put.shape != nullptr && put.shape->bytes() > 0;
    if (!data && has_data[{put.from, put.to}]) continue;
    const Key key{put.from, put.to,
                  data ? static_cast<std::size_t>(put.protocol) : model_->signal_protocol(put.from, put.to)};
    const auto [place, is_new] = places.emplace(key, groups.size());
    if (is_new) groups.push_back({key, {}});
    groups[place->second].second.push_back(&put);
  }
  SimProgram::Flows flows;
  for (const auto& [key, group] : groups) {
    const auto [from, to, protocol] = key;
    flows.push_back(
        model_->flow({share.number, from, to, protocol}, group, {share.name, share.guarded, share.reroute}));
    for (const fabric::Put* put : group)
      if (put->length) ((*flows.back()).*own).push_back(put->length);
  }
  return flows;
}

std::unique_ptr<fabric::Program> SimFabric::compile(const fabric::ChainSpec& share) {
  std::vector<fabric::Put> puts(share.outgoing.begin(), share.outgoing.end());
  if (net::ports_collide(model_->machine().network)) {
    // Every rank begins with the rank after itself, so that no two use the port of the same rank at once.
    std::ranges::stable_sort(puts, {},
                             [&](const fabric::Put& put) { return std::pair(put.to < rank_, put.to); });
  }
  SimProgram::Flows outgoing = flows_of(share, puts, &Flow::sent_lengths),
                    incoming = flows_of(share, share.incoming, &Flow::come_lengths);
  auto program = std::make_unique<SimProgram>(model_, control_, share.guarded, share.number,
                                              std::move(outgoing), std::move(incoming));
  if (share.arrivals == nullptr) return program;
  return std::make_unique<TimedProgram>(std::move(program), model_->scheduler(), *share.arrivals);
}

void SimFabric::put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
                        std::span<const std::byte> value) {
  Scheduler& scheduler = model_->scheduler();
  const des::Time begin = scheduler.clock(rank_);
  Protocol& protocol = *model_->hardware().protocols()[model_->signal_protocol(rank_, rank)];
  Immediates& immediates = model_->immediates(rank_, rank);
  const std::uint64_t count = immediates.add(static_cast<SimMemory&>(memory).regions(), rank, offset, value);
  if (rank == rank_) return immediates.land(count);
  scheduler.spend(rank_, model_->machine().host.post);
  model_->simulator().spawn(land(model_->simulator(), protocol, immediates, rank_, rank,
                                 static_cast<std::uint32_t>(value.size()), begin, count),
                            {"an immediate put of rank", rank_});
}

// Lands an immediate put when it arrives, at the latest: a signal that was sent later may have landed it
// already.
des::Task SimFabric::land(des::Simulator& simulator, Protocol& protocol, Immediates& immediates, int from,
                          int to, std::uint32_t bytes, des::Time begin, std::uint64_t count) {
  co_await simulator.sleep_until(begin + protocol.post());
  des::Counter arrived(simulator, {"an immediate put to rank", to});
  protocol.store(from, to, bytes, arrived);
  co_await arrived.reached(1);
  immediates.land(count);
}

void SimFabric::compute(double bytes, double flops) {
  const net::GpuKind& gpu = model_->machine().gpu;
  model_->scheduler().spend(rank_, gpu.launch + net::kernel_time(gpu, bytes, flops) + gpu.synchronise);
}

}  // namespace

std::shared_ptr<Model> make_model(const std::string& machine, int ranks, const std::string& fidelity,
                                  const std::string& faults, base::Fibers* fibers) {
  const char* const set = base::set_variable("OPENTCA_FIDELITY");
  const std::string from_environment = set != nullptr ? set : "tlp";
  auto model =
      std::make_shared<Model>(machine, ranks,
                              fidelity.empty() ? net::find_fidelity(from_environment, "OPENTCA_FIDELITY")
                                               : net::find_fidelity(fidelity, "option fidelity"),
                              fibers);
  const char* const failing = base::set_variable("OPENTCA_FAULTS");
  if (!faults.empty())
    model->expect_faults(faults, "option faults");
  else if (failing != nullptr)
    model->expect_faults(failing, "OPENTCA_FAULTS");
  return model;
}

std::unique_ptr<control::Control> make_control(std::shared_ptr<Model> model, int rank) {
  return std::make_unique<SimControl>(std::move(model), rank);
}

const control::Places& find_places(Model& model) {
  if (model.places) return *model.places;
  std::vector<int> sub_clusters;
  const Protocol& first = *model.hardware().protocols().front();
  std::vector<int> heads;  // the first rank of each sub-cluster
  for (int rank = 0; rank < model.ranks(); ++rank) {
    const auto joined = [&](int head) { return first.reaches(head, rank); };
    const auto own = std::find_if(heads.begin(), heads.end(), joined);
    sub_clusters.push_back(static_cast<int>(own - heads.begin()));
    if (own == heads.end()) heads.push_back(rank);
  }
  const control::PerRank one_host(std::vector<int>(sub_clusters.size()));
  return model.places.emplace(control::Places{one_host, std::move(sub_clusters)});
}

std::unique_ptr<fabric::Fabric> make_fabric(std::shared_ptr<Model> model, control::Control& control) {
  return std::make_unique<SimFabric>(std::move(model), control);
}

}  // namespace tca::sim
