// Runs the same exchange of halos on a torus by the model and by ns-3, in turn. It shows whether both compute
// the same virtual time, and how many packets over links each computes in a second. Every node is a memory
// and a router. A packet crosses the memory's link, a cable and the other memory's link.
#include <fmt/format.h>
#include <ns3/flow-id-tag.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/net/network.hpp"
#include "opentca_commit.hpp"
#include "route/hardware.hpp"
#include "tca/version.hpp"

namespace {

using namespace tca;

constexpr std::uint32_t packet_bytes = 256, header_bytes = 24, directions = 6, links_a_packet = 3;
constexpr std::uint64_t bytes_per_s = 4'000'000'000;
constexpr std::int64_t slot_ns = 100, cable_ns = 120, hop_ns = 60;

struct Torus {
  std::uint32_t extent;
  std::uint64_t face;  // in bytes; a multiple of packet_bytes

  std::uint32_t nodes() const { return extent * extent * extent; }
  std::uint64_t packets() const { return std::uint64_t{nodes()} * directions * (face / packet_bytes); }
  // Returns the neighbour in one of the directions +x, -x, +y, -y, +z and -z. A direction and its opposite
  // differ in the last bit.
  std::uint32_t neighbour(std::uint32_t node, std::uint32_t direction) const {
    std::uint32_t stride = 1;
    for (std::uint32_t i = 0; i < direction / 2; ++i) stride *= extent;
    const std::uint32_t at = node / stride % extent;
    const std::uint32_t next = direction % 2 == 0 ? (at + 1) % extent : (at + extent - 1) % extent;
    return node - at * stride + next * stride;
  }
};

struct Outcome {
  double virtual_us = 0;  // until the last byte has arrived
  double wall_s = 0;      // of the run alone, without the set-up
  double links_per_s(const Torus& torus) const {
    return static_cast<double>(torus.packets() * links_a_packet) / wall_s;
  }
};

template <class Run>
double seconds(const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

net::Description describe(const Torus& torus) {
  using des::from_ns;
  net::Description machine{.name = "torus", .nodes = torus.nodes()};
  const auto link = [](const char* name, std::int64_t ns) {
    return net::LinkKind{.name = name,
                         .bytes_per_s = static_cast<double>(bytes_per_s),
                         .payload_bytes = packet_bytes,
                         .header_bytes = header_bytes,
                         .latency = from_ns(static_cast<double>(ns))};
  };
  machine.links = {link("cable", cable_ns), link("slot", slot_ns)};
  // The memories impose no limit, since ns-3 has none.
  machine.node.units = {{.name = "memory",
                         .role = net::Role::memory,
                         .memory = net::MemoryPort{.read_bytes_per_s = 1e15, .write_bytes_per_s = 1e15}},
                        {.name = "nic", .role = net::Role::nic, .router = {.hop = from_ns(hop_ns)}}};
  machine.node.wires = {{0, 1, 1, 1}};
  machine.interconnects = {
      {.name = "torus",
       .nic = 1,
       .link = 0,
       .topology = {.kind = net::TopologyKind::torus, .size = {torus.extent, torus.extent, torus.extent}}}};
  return machine;
}

// Sends a node's faces, one after the other.
des::Task send(net::Network& network, const Torus& torus, std::uint32_t node, des::Counter& arrived) {
  // The window covers all packets, so that nothing waits for an answer, as in ns-3 with its unbounded queues.
  des::Semaphore window(network.simulator(), {"the window of", node},
                        directions * (torus.face / packet_bytes));
  std::deque<net::Passage> passages;
  for (std::uint32_t direction = 0; direction < directions; ++direction) {
    net::Passage& passage = passages.emplace_back(network.simulator(), des::Label{"a face of", node});
    des::Task asked = network.ask({.from = {node, 0},
                                   .to = {torus.neighbour(node, direction), 0},
                                   .rows = {.bytes = torus.face},
                                   .packet_bytes = packet_bytes,
                                   .tags = &window,
                                   .arrived = &arrived},
                                  passage);
    co_await asked;
  }
  for (net::Passage& passage : passages) co_await passage.passed();
}

Outcome by_model(const Torus& torus, net::Fidelity fidelity) {
  des::Simulator simulator(des::Simulator::Options{.bucket_bits = 8});
  net::Network network(simulator, describe(torus), fidelity);
  des::Counter arrived(simulator, {"faces"});
  for (std::uint32_t node = 0; node < torus.nodes(); ++node)
    simulator.spawn(send(network, torus, node, arrived), {"node", node});
  Outcome outcome;
  outcome.wall_s = seconds([&] { simulator.run(); });
  outcome.virtual_us = des::to_us(simulator.now());
  return outcome;
}

// The network in ns-3: point-to-point devices with unbounded queues, and routers that pass packets on by the
// direction in their tag.
class Ns3Torus {
 public:
  explicit Ns3Torus(const Torus& torus) : torus_(torus), slots_(torus.nodes()), cables_(torus.nodes()) {
    for (std::uint32_t node = 0; node < torus.nodes(); ++node) {
      const auto memory = ns3::CreateObject<ns3::Node>();
      routers_.push_back(ns3::CreateObject<ns3::Node>());
      const auto [outer, inner] = join(memory, routers_[node], slot_ns);
      slots_[node] = outer;
      outer->SetReceiveCallback(ns3::MakeCallback(&Ns3Torus::end, this));
      inner->SetReceiveCallback(ns3::MakeCallback(&Ns3Torus::leave, this));
      inners_.push_back(inner);
    }
    for (std::uint32_t node = 0; node < torus.nodes(); ++node)
      for (std::uint32_t direction = 0; direction < directions; direction += 2) {
        const std::uint32_t other = torus.neighbour(node, direction);
        const auto [there, back] = join(routers_[node], routers_[other], cable_ns);
        cables_[node][direction] = there;
        cables_[other][direction + 1] = back;
        there->SetReceiveCallback(ns3::MakeCallback(&Ns3Torus::enter, this));
        back->SetReceiveCallback(ns3::MakeCallback(&Ns3Torus::enter, this));
      }
  }
  ~Ns3Torus() { ns3::Simulator::Destroy(); }

  Outcome run() {
    for (std::uint32_t node = 0; node < torus_.nodes(); ++node)
      for (std::uint32_t direction = 0; direction < directions; ++direction)
        for (std::uint64_t sent = 0; sent < torus_.face; sent += packet_bytes) {
          // The device adds a PPP header of two bytes.
          const auto packet = ns3::Create<ns3::Packet>(packet_bytes + header_bytes - 2);
          packet->AddPacketTag(ns3::FlowIdTag(direction));
          slots_[node]->Send(packet, slots_[node]->GetBroadcast(), ipv4);
        }
    Outcome outcome;
    outcome.wall_s = seconds([] { ns3::Simulator::Run(); });
    outcome.virtual_us = ns3::Simulator::Now().GetSeconds() * 1e6;
    return outcome;
  }
  std::uint64_t arrived() const { return arrived_; }

 private:
  using Device = ns3::Ptr<ns3::PointToPointNetDevice>;
  static constexpr std::uint16_t ipv4 = 0x0800;

  std::pair<Device, Device> join(const ns3::Ptr<ns3::Node>& a, const ns3::Ptr<ns3::Node>& b,
                                 std::int64_t ns) {
    const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
    channel->SetAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(static_cast<std::uint64_t>(ns))));
    std::array<Device, 2> ends;
    for (std::size_t i = 0; i < 2; ++i) {
      ends[i] = ns3::CreateObject<ns3::PointToPointNetDevice>();
      ends[i]->SetAddress(ns3::Mac48Address::Allocate());
      ends[i]->SetDataRate(ns3::DataRate(8 * bytes_per_s));
      const auto queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
      queue->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, UINT32_MAX));
      ends[i]->SetQueue(queue);
      (i == 0 ? a : b)->AddDevice(ends[i]);
      ends[i]->Attach(channel);
    }
    return {ends[0], ends[1]};
  }

  static void pass_on(const Device& device, const ns3::Ptr<const ns3::Packet>& packet) {
    device->Send(packet->Copy(), device->GetBroadcast(), ipv4);
  }
  std::uint32_t router_of(const ns3::Ptr<ns3::NetDevice>& device) const {
    return device->GetNode()->GetId() / 2;  // memories and routers alternate
  }
  bool leave(ns3::Ptr<ns3::NetDevice> device, ns3::Ptr<const ns3::Packet> packet, std::uint16_t,
             const ns3::Address&) {
    ns3::FlowIdTag direction;
    packet->PeekPacketTag(direction);
    ns3::Simulator::Schedule(ns3::NanoSeconds(hop_ns), &Ns3Torus::pass_on,
                             cables_[router_of(device)][direction.GetFlowId()], packet);
    return true;
  }
  bool enter(ns3::Ptr<ns3::NetDevice> device, ns3::Ptr<const ns3::Packet> packet, std::uint16_t,
             const ns3::Address&) {
    ns3::Simulator::Schedule(ns3::NanoSeconds(hop_ns), &Ns3Torus::pass_on, inners_[router_of(device)],
                             packet);
    return true;
  }
  bool end(ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet>, std::uint16_t, const ns3::Address&) {
    ++arrived_;
    return true;
  }

  Torus torus_;
  std::vector<ns3::Ptr<ns3::Node>> routers_;
  std::vector<Device> slots_, inners_;
  std::vector<std::array<Device, directions>> cables_;
  std::uint64_t arrived_ = 0;
};

Outcome by_ns3(const Torus& torus) {
  Ns3Torus network(torus);
  const Outcome outcome = network.run();
  if (network.arrived() != torus.packets())
    throw std::runtime_error(
        fmt::format("ns-3: {} of {} packets have arrived", network.arrived(), torus.packets()));
  return outcome;
}

Outcome middle(std::vector<Outcome>& outcomes) {
  std::ranges::sort(outcomes, {}, &Outcome::wall_s);
  return outcomes[outcomes.size() / 2];
}

// Returns a line of results; its fields are explained in docs/results.md under "model_halo".
std::string line(const std::string& who, const Torus& torus, std::vector<Outcome>& outcomes) {
  const Outcome typical = middle(outcomes);
  const double median = typical.wall_s * 1e6;
  const std::uint64_t bytes = torus.face * directions;
  const bool peer = who == "ns3";
  const auto digits = [](double value) { return std::stod(fmt::format("{:.4g}", value)); };
  nlohmann::ordered_json json{
      {"bench", "model_halo"},
      {"fabric", peer ? "ns3" : "model"},
      {"protocol", peer ? "point-to-point" : who},
      {"start", "host"},
      {"peer", peer ? nlohmann::ordered_json(who) : nlohmann::ordered_json()},
      {"layout", fmt::format("{0}x{0}x{0}", torus.extent)},
      {"ranks", torus.nodes()},
      {"n", torus.extent},
      {"bytes", bytes},
      {"median_us", digits(median)},
      {"p99_us", digits(outcomes.back().wall_s * 1e6)},
      {"gbps", digits(static_cast<double>(bytes) / median / 1000)},
      {"virtual_us", digits(typical.virtual_us)},
      {"links_per_s", digits(typical.links_per_s(torus))},
      {"hardware", fmt::format("{}, one core", route::hardware())},
      {"versions",
       {{"opentca", library_version()}, {"compiler", "GCC " __VERSION__}, {"ns3", OPENTCA_NS3_VERSION}}},
      {"commit", OPENTCA_COMMIT},
      {"command", fmt::format("model_ns3 --extent {} --face {}", torus.extent, torus.face)}};
  return json.dump();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("An exchange of halos on a torus, by the model and by ns-3");
  Torus torus{.extent = 8, .face = 16384};
  std::string file;
  int samples = 3;
  app.add_option("--extent", torus.extent, "Nodes along each dimension")->check(CLI::Range(3, 32));
  app.add_option("--face", torus.face, "Bytes of a face, a multiple of 256")->check(CLI::Range(256, 1 << 24));
  app.add_option("--samples", samples, "Of each, in turn")->check(CLI::Range(1, 100));
  app.add_option("--json", file, "Append the results to this file");
  CLI11_PARSE(app, argc, argv);
  torus.face -= torus.face % packet_bytes;

  std::vector<Outcome> tlp, train, ns3;
  for (int i = 0; i < samples; ++i) {
    tlp.push_back(by_model(torus, net::Fidelity::tlp));
    train.push_back(by_model(torus, net::Fidelity::train));
    ns3.push_back(by_ns3(torus));
  }
  fmt::print("{:<8}{:>16}{:>12}{:>22}{:>10}\n", "", "halo takes, us", "run, ms", "packets x links/s",
             "x ns-3");
  for (const auto& [who, outcomes] : {std::pair{"tlp", &tlp}, {"train", &train}, {"ns3", &ns3}}) {
    const Outcome typical = middle(*outcomes);
    fmt::print("{:<8}{:>16.3f}{:>12.2f}{:>22.3g}{:>10.1f}\n", who, typical.virtual_us, typical.wall_s * 1e3,
               typical.links_per_s(torus), middle(ns3).wall_s / typical.wall_s);
    if (!file.empty()) std::ofstream(file, std::ios::app) << line(who, torus, *outcomes) << '\n';
  }
}
