#include "fabric/sim/poster.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "fabric/sim/memory.hpp"
#include "fabric/sim/model.hpp"

namespace tca::sim {

namespace {

constexpr std::uint32_t bare_bytes = 8;  // for a message without puts

// No chain has this number, which distinguishes messages between two ranks.
constexpr std::uint32_t posts = 0xffffffff;

class SimOwnRegion final : public fabric::OwnRegion {
 public:
  SimOwnRegion(PostBox& box, std::size_t bytes, std::byte* existing) : box_(box) {
    std::span<std::byte> part(existing, bytes);
    if (existing == nullptr) {
      owned_ = base::Zeroed(bytes);
      part = {owned_.data(), bytes};
      if (part.data() == nullptr)
        base::fail(Errc::out_of_memory, "no memory for {} bytes; all ranks share that of this process",
                   bytes);
    }
    data_ = part.data();
    if (box_.job == 0) box_.job = fabric::random_job();
    name_ = {.job = box_.job, .generation = ++box_.generations};
    box_.regions[name_.generation] = part;
  }
  SimOwnRegion(const SimOwnRegion&) = delete;
  ~SimOwnRegion() override { box_.regions.erase(name_.generation); }

  std::byte* data() const override { return data_; }
  const fabric::RegionName& name() const override { return name_; }

 private:
  PostBox& box_;
  base::Zeroed owned_;
  std::byte* data_;
  fabric::RegionName name_;
};

class SimFarRegion final : public fabric::FarRegion {
 public:
  SimFarRegion(PostBox& box, int rank, std::uint64_t generation)
      : box_(box), rank_(rank), generation_(generation) {}
  bool is_live() const override { return box_.regions.contains(generation_); }
  int rank() const { return rank_; }
  std::uint64_t generation() const { return generation_; }

 private:
  PostBox& box_;
  int rank_;
  std::uint64_t generation_;
};

// What outlives a post that is destroyed while something of it is under way.
struct Progress {
  std::uint64_t started = 0, left = 0, landed = 0;  // messages
  std::vector<int> targets;                         // of those that have not landed
  std::optional<int> gone;                          // a target whose region was gone when a message arrived
  std::optional<std::pair<std::size_t, int>> lost;  // the fault that has taken a message, and its target
};

struct Put {
  std::uint64_t generation, offset;
  const std::byte* from;
  base::Shape shape;
};

struct Raised {
  int slot;
  std::uint32_t tag;
};

// Everything that a post has for one rank: one message.
struct ToRank {
  std::vector<Put> puts;
  std::vector<Raised> notices;
};

// A message under way. It keeps what the model and the landing need.
struct Flight final : Concerned {
  Flight(Model& of, PostRoute& way, int from, int to)
      : model(of),
        faults(of.shared_faults()),
        route(way),
        sent(of.simulator(), {"a post of rank, to rank", from, to}),
        arrived(of.simulator(), {"a post of rank, at rank", from, to}) {
    message = {.from = from, .to = to, .sent = &sent, .arrived = &arrived, .tag = posts};
    if (faults != nullptr) faults->watch(arrived, *this);
  }
  ~Flight() override {
    if (faults != nullptr) faults->forget(arrived);
  }

  // The posts after it land without it.
  void lose(std::size_t fault) override {
    if (progress->lost) return;
    progress->lost = {fault, message.to};
    model.simulator().spawn(step_over(route, number), {"a lost post of rank", message.from},
                            des::AgentKind::service);
    model.scheduler().wake(message.from);
  }
  void review() override {}
  static des::Task step_over(PostRoute& route, std::uint64_t number) {
    co_await route.landed.reached(number);
    route.landed.add();
  }

  Model& model;
  std::shared_ptr<Faults> faults;
  PostRoute& route;
  Message message;
  des::Counter sent, arrived;
  ToRank load;
  std::vector<std::byte> bytes;
  std::shared_ptr<Progress> progress;
  des::Time begin = 0;
  std::uint64_t number = 0;  // on its route
  // A message to the rank itself reports that these have left.
  std::vector<std::shared_ptr<Flight>> after;
};

// Nothing is written if one of the regions is gone.
void land(Model& model, const Flight& flight) {
  const int from = flight.message.from, to = flight.message.to;
  PostBox& box = model.post_box(to);
  const bool all_live = std::ranges::all_of(
      flight.load.puts, [&](const Put& put) { return box.regions.contains(put.generation); });
  const std::byte* dense = flight.bytes.data();
  if (all_live)
    for (const Put& put : flight.load.puts)
      dense = base::scatter(box.regions[put.generation].data() + put.offset, dense, put.shape);
  else
    flight.progress->gone = to;
  for (const Raised& notice : flight.load.notices) {
    all_live ? box.notices.raise(from, notice.slot, notice.tag)
             : box.notices.give_up(from, notice.slot, notice.tag);
    box.came[{from, notice.slot}] = model.simulator().now();
  }
}

des::Task await_sent(Model& model, std::shared_ptr<Flight> flight) {
  co_await flight->sent.reached(1);
  ++flight->progress->left;
  model.scheduler().wake(flight->message.from);
}

des::Task await_arrival(Model& model, std::shared_ptr<Flight> flight, PostRoute& route) {
  co_await flight->arrived.reached(1);
  for (const auto& other : flight->after) co_await other->sent.reached(1);
  flight->after.clear();
  co_await route.landed.reached(flight->number);
  land(model, *flight);
  route.landed.add();
  ++flight->progress->landed;
  std::erase(flight->progress->targets, flight->message.to);
  model.scheduler().wake(flight->message.to);
  model.scheduler().wake(flight->message.from);
}

des::Task carry(Model& model, std::shared_ptr<Flight> flight, Protocol& protocol, std::uint32_t turn) {
  co_await model.simulator().sleep_until(flight->begin);
  Message& message = flight->message;
  if (message.from == message.to && (message.puts.empty() || !protocol.loops_back())) {
    des::Task copied = protocol.copy(message);
    co_await copied;
  } else if (message.puts.empty()) {
    flight->sent.add();
    protocol.store(message.from, message.to, bare_bytes, flight->arrived);
  } else {
    if (protocol.has_receives()) protocol.receive(message);
    std::vector<Message*> messages(1, &message);
    des::Task sent = protocol.send(std::move(messages), turn);
    co_await sent;
  }
  co_await flight->arrived.reached(1);  // the model has the message until then
}

class SimPost final : public fabric::PostProgram {
 public:
  SimPost(Model& model, int rank) : model_(model), rank_(rank) {}

  void put(fabric::FarRegion& to, std::uint64_t offset, const std::byte* from,
           const base::Shape& shape) override {
    const auto& region = static_cast<const SimFarRegion&>(to);
    to_rank(region.rank()).puts.push_back({region.generation(), offset, from, shape});
  }
  void notify(int rank, int slot, std::uint32_t tag) override {
    to_rank(rank).notices.push_back({slot, tag});
  }
  void clear() override { ranks_.clear(); }

  void start() override {
    check_regions();
    reserve_notices();
    std::vector<std::shared_ptr<Flight>> others;
    for (const auto& [rank, load] : ranks_)
      if (rank != rank_) others.push_back(depart(rank, load, {}));
    for (const auto& [rank, load] : ranks_)
      if (rank == rank_) depart(rank, load, others);
  }

  bool has_left() override {
    check();
    return progress_->left == progress_->started;
  }
  bool has_landed() override {
    check();
    return progress_->landed == progress_->started;
  }
  std::vector<int> missing() const override { return progress_->targets; }

 private:
  ToRank& to_rank(int rank) {
    const auto known = std::ranges::find(ranks_, rank, &std::pair<int, ToRank>::first);
    return known != ranks_.end() ? known->second : ranks_.emplace_back(rank, ToRank{}).second;
  }

  void check() {
    if (progress_->gone) fabric::fail_gone(*std::exchange(progress_->gone, std::nullopt));
    if (!progress_->lost || !model_.faults()->knows(rank_, progress_->lost->first)) return;
    const auto [fault, to] = *progress_->lost;
    base::fail(Errc::path_lost, {.rank = rank_, .missing = {to}},
               "rank {}: what it posted to rank {} is lost: {}; make another post, which goes round it",
               rank_, to, model_.faults()->describe(fault));
  }

  void check_regions() const {
    for (const auto& [rank, load] : ranks_)
      for (const Put& put : load.puts)
        if (!model_.post_box(rank).regions.contains(put.generation)) fabric::fail_gone(rank);
  }

  void reserve_notices() {
    std::vector<std::pair<int, Raised>> reserved;
    for (const auto& [rank, load] : ranks_) {
      for (const Raised& notice : load.notices) {
        if (model_.post_box(rank).notices.reserve(rank_, notice.slot, notice.tag)) {
          reserved.emplace_back(rank, notice);
          continue;
        }
        for (const auto& [given, back] : reserved)
          model_.post_box(given).notices.give_up(rank_, back.slot, back.tag);
        fabric::fail_full(notice.slot, rank);
      }
    }
  }

  // The one that the environment forces. Throws Error{invalid_argument} if it does not lead to the rank.
  std::size_t forced_to(int rank, std::string_view name) const {
    const auto& protocols = model_.hardware().protocols();
    const std::string_view bare = name.starts_with("sim/") ? name.substr(4) : name;
    for (std::size_t i = 0; i < protocols.size(); ++i)
      if (protocols[i]->name() == bare && protocols[i]->reaches(rank_, rank)) return i;
    base::fail(Errc::invalid_argument, "{}={}: on {} no such channel leads to rank {}",
               base::name_set("OPENTCA_CHANNEL"), name, model_.machine().name, rank);
  }

  // The cheapest protocol by the model's own prediction, unless one is forced; within a rank the first is
  // chosen.
  std::size_t protocol_to(int rank, const ToRank& load) const {
    const auto& protocols = model_.hardware().protocols();
    std::size_t best = model_.signal_protocol(rank_, rank);
    if (rank == rank_ || load.puts.empty()) return best;
    if (const char* const forced = base::set_variable("OPENTCA_CHANNEL")) return forced_to(rank, forced);
    const auto cost = [&](std::size_t protocol) {
      double us = 0;
      for (const Put& put : load.puts) us += model_.predict_us(protocol, rank_, rank, put.shape);
      return us;
    };
    for (std::size_t i = 0; i < protocols.size(); ++i)
      if (i != best && protocols[i]->competes() && protocols[i]->reaches(rank_, rank) && cost(i) < cost(best))
        best = i;
    return best;
  }

  std::shared_ptr<Flight> depart(int rank, const ToRank& load, std::vector<std::shared_ptr<Flight>> after) {
    const std::size_t number = protocol_to(rank, load);
    Protocol& protocol = *model_.hardware().protocols()[number];
    PostRoute& route = model_.post_route(rank_, rank);
    auto flight = std::make_shared<Flight>(model_, route, rank_, rank);
    flight->load = load;
    flight->after = std::move(after);
    for (const Put& put : load.puts) {
      const std::size_t before = flight->bytes.size();
      flight->bytes.resize(before + put.shape.bytes());
      base::gather(flight->bytes.data() + before, put.from, put.shape);
      flight->message.puts.push_back({.bytes = put.shape.run, .count = put.shape.runs()});
    }
    flight->number = route.departed++;
    flight->progress = progress_;
    ++progress_->started;
    progress_->targets.push_back(rank);
    flight->begin = model_.scheduler().clock(rank_);
    model_.scheduler().spend(rank_, protocol.post());
    des::Simulator& simulator = model_.simulator();
    simulator.spawn(await_sent(model_, flight), {"what leaves rank", rank_});
    simulator.spawn(await_arrival(model_, flight, route), {"what comes to rank", rank});
    simulator.spawn(carry(model_, flight, protocol, turn_++), {"a post of rank", rank_});
    return flight;
  }

  Model& model_;
  int rank_;
  std::vector<std::pair<int, ToRank>> ranks_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::uint32_t turn_ = 0;
};

}  // namespace

std::unique_ptr<fabric::OwnRegion> SimPoster::expose_alone(const fabric::RegionSpec& spec) {
  return std::make_unique<SimOwnRegion>(model_.post_box(rank_), spec.bytes, spec.existing);
}

std::unique_ptr<fabric::FarRegion> SimPoster::attach(int rank, std::size_t, const fabric::RegionName& name) {
  PostBox& box = model_.post_box(rank);
  if (box.job != name.job) fabric::fail_foreign();
  if (!box.regions.contains(name.generation)) fabric::fail_gone(rank);
  return std::make_unique<SimFarRegion>(box, rank, name.generation);
}

std::unique_ptr<fabric::PostProgram> SimPoster::make_post() {
  return std::make_unique<SimPost>(model_, rank_);
}

// The processor's look takes time.
std::optional<std::uint32_t> SimPoster::take_of(int source, int slot, std::optional<std::uint32_t> tag) {
  PostBox& box = model_.post_box(rank_);
  const std::optional<std::uint32_t> taken = box.notices.take(source, slot, tag);
  if (!taken) return taken;
  const std::pair message(source, box.came[{source, slot}]);
  if (std::exchange(box.seen, message) != message)
    model_.scheduler().spend(rank_, model_.machine().host.poll);
  return taken;
}

}  // namespace tca::sim
