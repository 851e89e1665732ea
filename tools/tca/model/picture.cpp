#include "model/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "base/fail.hpp"
#include "base/system/whole_file.hpp"

namespace tca::tool {

namespace {

constexpr double pitch = 46;  // distance between nodes
constexpr double margin = 40;
// With more cables than this, and with switches, only busy cables are drawn.
constexpr std::uint32_t most_idle = 4096;

struct Point {
  double x = 0, y = 0;
};

// Returns a colour from light grey (idle) to red (busy).
std::string colour(double share) {
  constexpr std::array<double, 3> idle{221, 227, 234}, busy{176, 32, 32};
  const double at = std::sqrt(std::clamp(share, 0.0, 1.0));
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < 3; ++i) mixed[i] = static_cast<int>(idle[i] + (busy[i] - idle[i]) * at);
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

class Picture {
 public:
  explicit Picture(const net::Network& network, des::Time end)
      : network_(network), plan_(network.plan()), end_(static_cast<double>(std::max<des::Time>(end, 1))) {}

  std::string draw() {
    text({margin, margin - 12}, network_.machine().name + ": how much of the time links were busy", 15,
         "start");
    top_ = margin + 20;
    legend();
    inside_a_node();
    for (std::size_t i = 0; i < plan_.trunks().size(); ++i) interconnect(i);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n<rect "
        "width=\"100%\" "
        "height=\"100%\" fill=\"white\"/>\n{2}{3}</svg>\n",
        right_ + margin, top_, lines_, marks_);
  }

 private:
  double share(net::LinkId link) const {
    return static_cast<double>(network_.traffic().use(link).busy) / end_;
  }

  void text(Point at, std::string_view what, int size, std::string_view anchor) {
    marks_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n",
                          at.x, at.y, size, anchor, escaped(what));
    right_ = std::max(right_, at.x + (anchor == "start" ? 7.0 * static_cast<double>(what.size()) : 0.0));
  }

  // Draws one direction of a cable, beside the other direction. Lines between distant nodes are bowed.
  void line(Point a, Point b, double busy, const std::string& name) {
    const double dx = b.x - a.x, dy = b.y - a.y, length = std::hypot(dx, dy);
    if (length == 0) return;
    const double bow = length > 1.5 * pitch ? std::min(0.18 * length, pitch) : 2.5;
    const Point middle{(a.x + b.x) / 2 - dy / length * bow, (a.y + b.y) / 2 + dx / length * bow};
    lines_ += fmt::format(
        "<path d=\"M{:.1f},{:.1f} Q{:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"{:.1f}\"><title>{}: {:.1f} %</title></path>\n",
        a.x, a.y, middle.x, middle.y, b.x, b.y, colour(busy), 1.2 + 2.5 * busy, escaped(name), busy * 100);
  }

  void box(Point at, const std::string& name, bool round) {
    const double half = std::max(11.0, 3.6 * static_cast<double>(name.size()) + 3);
    marks_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" rx=\"{}\" fill=\"#f7f8fa\" "
        "stroke=\"#44506a\"/>\n",
        at.x - half, at.y - 9, 2 * half, round ? 9 : 2);
    text({at.x, at.y + 4}, name, 11, "middle");
    right_ = std::max(right_, at.x + half);
  }

  void legend() {
    double x = margin;
    for (const double busy : {0.0, 0.05, 0.25, 0.5, 1.0}) {
      marks_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"22\" height=\"8\" fill=\"{}\"/>\n", x,
                            top_ - 8, colour(busy));
      text({x + 26, top_}, fmt::format("{:.0f} %", busy * 100), 10, "start");
      x += 70;
    }
    top_ += 34;
  }

  // Draws memories, bridges and NICs in a column each. Every link is drawn as busy as it was in the node
  // where it was busiest.
  void inside_a_node() {
    text({margin, top_}, "inside a node; of each link the busiest of all nodes", 12, "start");
    const auto& units = network_.machine().node.units;
    std::array<int, 3> filled{};
    std::vector<Point> places;
    for (const net::UnitKind& unit : units) {
      int& row = filled[static_cast<std::size_t>(unit.role)];
      places.push_back({margin + 60 + 190 * static_cast<double>(unit.role), top_ + 30 + 34 * row++});
    }
    const auto& locals = plan_.locals();
    for (std::uint32_t local = 0; local < locals.size(); ++local) {
      if (locals[local].from == locals[local].to) continue;
      net::LinkId busiest = local;
      for (std::uint32_t node = 0; node < network_.nodes(); ++node)
        if (const net::LinkId link = node * plan_.local_links() + local; share(link) > share(busiest))
          busiest = link;
      line(places[locals[local].from], places[locals[local].to], share(busiest), plan_.link_name(busiest));
    }
    for (std::size_t i = 0; i < units.size(); ++i) box(places[i], units[i].name, false);
    top_ += 60 + 34 * *std::ranges::max_element(filled);
  }

  void interconnect(std::size_t number) {
    const net::Trunk& trunk = plan_.trunks()[number];
    const net::Interconnect& kind = network_.machine().interconnects[number];
    double busiest = 0;
    for (std::uint32_t i = 0; i < trunk.routes.cables(); ++i)
      busiest = std::max(busiest, share(trunk.first + i));
    text({margin, top_},
         fmt::format("{}: {} of {}, the busiest cable {:.1f} %", kind.name, to_string(kind.topology.kind),
                     fmt::join(kind.topology.size, " x "), busiest * 100),
         12, "start");
    top_ += 34;
    if (busiest > 0)
      cables(trunk, kind.topology, trunk.routes.switches() > 0 || trunk.routes.cables() > most_idle);
  }

  void cables(const net::Trunk& trunk, const net::Topology& topology, bool only_busy) {
    std::map<std::pair<bool, std::uint32_t>, Point> ends;
    double lowest = top_;
    const auto place = [&](bool is_switch, std::uint32_t end) {
      const Point at = is_switch ? place_of_switch(end, topology, trunk) : place_of_node(end, topology);
      ends[{is_switch, end}] = at;
      lowest = std::max(lowest, at.y);
      return at;
    };
    for (std::uint32_t i = 0; i < trunk.routes.cables(); ++i) {
      const net::Cable cable = trunk.routes.cable(i);
      const double busy = share(trunk.first + i);
      if (!cable.used || (only_busy && busy == 0)) continue;
      const Point from = place(cable.from_switch, cable.from), to = place(cable.to_switch, cable.to);
      line(from, to, busy, plan_.link_name(trunk.first + i));
    }
    for (const auto& [end, at] : ends)
      box(at, end.first ? fmt::format("s{}", end.second) : std::to_string(end.second), end.first);
    top_ = lowest + 60;
  }

  // Places the nodes of a ring or torus in rows, with the planes of a torus side by side, and the nodes of a
  // tree in a row below their switches.
  Point place_of_node(std::uint32_t node, const net::Topology& topology) const {
    const std::uint32_t group = topology.nodes();
    std::uint32_t place = node % group;
    if (!topology.order.empty())
      place = static_cast<std::uint32_t>(std::ranges::find(topology.order, place) - topology.order.begin());
    const std::uint32_t instance = node / group;
    const bool tree =
        topology.kind == net::TopologyKind::star || topology.kind == net::TopologyKind::fat_tree;
    if (tree) return {margin + 20 + pitch * node, top_ + 2 * pitch};
    const std::uint32_t width = topology.size[0];
    const std::uint32_t height = topology.size.size() > 1 ? topology.size[1] : 1;
    const std::uint32_t x = place % width, y = place / width % height, z = place / width / height;
    return {margin + 20 + pitch * (x + z * (width + 1)), top_ + pitch * (y + instance * (height + 1))};
  }

  Point place_of_switch(std::uint32_t number, const net::Topology& topology, const net::Trunk& trunk) const {
    const bool fat = topology.kind == net::TopologyKind::fat_tree;
    const std::uint32_t below = topology.size[0];
    const std::uint32_t leaves = (network_.nodes() + below - 1) / below;
    if (number < leaves) return {margin + 20 + pitch * below * (number + 0.5), top_ + (fat ? pitch : 0)};
    const double spines = trunk.routes.switches() - leaves;
    return {margin + 20 + pitch * network_.nodes() * (number - leaves + 0.5) / spines, top_};
  }

  const net::Network& network_;
  const net::Plan& plan_;
  double end_, top_ = 0, right_ = 640;
  std::string lines_, marks_;
};

}  // namespace

void draw_links(const net::Network& network, des::Time end, const std::string& path) {
  if (const int error = base::write_whole(path, Picture(network, end).draw()))
    base::fail(Errc::invalid_argument, "{}: cannot be written: {}", path, std::strerror(error));
}

}  // namespace tca::tool
