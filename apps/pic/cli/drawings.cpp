#include "pic/cli/drawings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <system_error>

#include "cli/options/refuse.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/record.hpp"
#include "cli/output/temporary_file.hpp"
#include "pic/physics.hpp"

namespace tca::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_lines = 512, frames = 3, most_across = 256;

std::int64_t every(std::int64_t steps, std::int64_t parts) {
  return std::max<std::int64_t>(1, (steps + parts - 1) / parts);
}

// Where the plane in the middle of the box lies among a rank's own cells along z.
template <class Number>
std::int64_t middle_plane(const pic::Solver<Number>& solver) {
  const pic::Deck& deck = solver.deck();
  return deck.dims() == 3 ? deck.extents.front() / 2 - solver.domain().first(2) : 0;
}

// Rows of a plane, of which so many cells are left out that a picture has enough.
nlohmann::ordered_json rows_of(std::span<const double> plane, std::int64_t wide, std::int64_t stride) {
  auto rows = nlohmann::ordered_json::array();
  const auto high = static_cast<std::int64_t>(plane.size()) / wide;
  for (std::int64_t y = 0; y < high; y += stride) {
    auto row = nlohmann::ordered_json::array();
    for (std::int64_t x = 0; x < wide; x += stride)
      row.push_back(rounded(plane[static_cast<std::size_t>(y * wide + x)]));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void PicDrawings::check(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse("--plot {}: this folder cannot be made: {}", folder, error.message());
  check_drawable((fs::path(folder) / "history.svg").string());
}

PicDrawings::PicDrawings(World& world, const pic::Deck& deck, std::string folder)
    : world_(world),
      deck_(deck),
      folder_(std::move(folder)),
      steps_a_line_(every(deck.steps, most_lines)),
      steps_a_frame_(every(deck.steps, frames)) {}

template <class Number>
void PicDrawings::look(pic::Solver<Number>& solver) {
  const bool has_line = solver.steps() % steps_a_line_ == 0;
  const bool has_frame = solver.steps() % steps_a_frame_ == 0 || solver.steps() == deck_.steps;
  if (has_line || has_frame) solver.fetch();
  if (has_line) add_line(solver);
  if (has_frame) add_frame(solver);
}

template <class Number>
void PicDrawings::add_line(const pic::Solver<Number>& solver) {
  const std::vector<double> line = solver.ex_along();
  lines_.insert(lines_.end(), line.begin(), line.end());
}

template <class Number>
void PicDrawings::add_frame(pic::Solver<Number>& solver) {
  const pic::Domain& domain = solver.domain();
  const std::int64_t wide = deck_.extents.back(), high = deck_.extents[deck_.extents.size() - 2];
  const auto plane = static_cast<std::size_t>(wide * high);
  std::vector<double> mine(3 * plane);
  const std::vector<double> electrons = solver.electrons();
  const std::int64_t z = middle_plane(solver);
  if (z >= 0 && z < domain.cells(2)) {
    for (std::int64_t y = 0; y < domain.cells(1); ++y)
      for (std::int64_t x = 0; x < domain.cells(0); ++x) {
        const auto at = static_cast<std::size_t>((domain.first(1) + y) * wide + domain.first(0) + x);
        const auto own = static_cast<std::size_t>((z * domain.cells(1) + y) * domain.cells(0) + x);
        const pic::Vec<double>& e = solver.fields().e()[domain.index(x, y, z)];
        mine[at] = electrons[own];
        mine[plane + at] = e.x;
        mine[2 * plane + at] = e.z;
      }
  }
  const std::vector<double> whole = pic::put_together(world_, mine);
  if (world_.rank() != 0) return;
  const std::int64_t stride = every(std::max(wide, high), most_across);
  const auto rows = [&](std::size_t which) {
    return rows_of(std::span(whole).subspan(which * plane, plane), wide, stride);
  };
  frames_.push_back({{"bench", "pic_frame"},
                     {"deck", deck_.name},
                     {"time", static_cast<double>(solver.steps()) * deck_.dt()},
                     {"cell", deck_.cell * static_cast<double>(stride)},
                     {"electrons", rows(0)},
                     {"ex", rows(1)},
                     {"ez", rows(2)}});
}

nlohmann::ordered_json PicDrawings::history(const pic::Simulation& run) const {
  nlohmann::ordered_json json{{"bench", "pic_history"}, {"deck", deck_.name}};
  const std::int64_t stride = every(static_cast<std::int64_t>(run.history.size()), most_lines);
  for (std::size_t i = 1; i < run.history.size(); i += static_cast<std::size_t>(stride)) {
    const pic::Sample& sample = run.history[i];
    json["time"].push_back(static_cast<double>(i) * deck_.dt());
    json["field_energy"].push_back(rounded(sample.field_energy));
    json["kinetic_energy"].push_back(rounded(sample.kinetic_energy));
    json["wave"].push_back(rounded(std::hypot(sample.sine, sample.cosine)));
    json["off_gauss"].push_back(rounded(sample.off_gauss));
  }
  if (deck_.drift != 0) json["growth_rate"] = pic::growth_rate(deck_);
  return json;
}

nlohmann::ordered_json PicDrawings::spectrum() {
  const std::vector<double> lines = pic::put_together(world_, lines_);
  return {{"bench", "pic_spectrum"},
          {"deck", deck_.name},
          {"between", static_cast<double>(steps_a_line_) * deck_.dt()},
          {"cell", deck_.cell},
          {"thermal", deck_.thermal},
          {"ex", rows_of(lines, deck_.extents.back(), 1)}};
}

int PicDrawings::draw_lines(const std::vector<nlohmann::ordered_json>& lines, const std::string& file) const {
  const TemporaryFile data;
  for (const nlohmann::ordered_json& line : lines) append_line(data.path(), line.dump());
  const int code = tool::draw({data.path()}, (fs::path(folder_) / file).string(), "");
  if (code == 0) fmt::print("drawn     {}\n", (fs::path(folder_) / file).string());
  return code;
}

int PicDrawings::draw(const pic::Simulation& run) {
  if (folder_.empty()) return 0;
  const nlohmann::ordered_json of_lines = spectrum();
  if (world_.rank() != 0) return 0;
  int code = draw_lines({history(run)}, "history.svg");
  if (code == 0) code = draw_lines(frames_, "frames.svg");
  if (code == 0) code = draw_lines({of_lines}, "spectrum.svg");
  return code;
}

template void PicDrawings::look(pic::Solver<double>&);
template void PicDrawings::look(pic::Solver<std::int64_t>&);

}  // namespace tca::tool
