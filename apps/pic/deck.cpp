#include "pic/deck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tca/error.hpp"

namespace tca::pic {

namespace {

[[noreturn]] void refuse(const Deck& deck, const std::string& why) {
  throw Error(Errc::invalid_argument, fmt::format("deck {}: {}", deck.name, why));
}

// The side of a cell for which the wave of two cold beams that grows fastest fits into the box: k v = sqrt(3/8) / gamma^1.5
// (see growth_rate).
double cell_of_two_beams(const Deck& deck) {
  const double gamma = 1 / std::sqrt(1 - deck.drift * deck.drift);
  const double k = std::sqrt(3.0 / 8) / (std::pow(gamma, 1.5) * deck.drift);
  return 2 * 3.14159265358979323846 * deck.waves / (k * static_cast<double>(deck.extents.back()));
}

void check_numbers(const Deck& deck) {
  constexpr std::int64_t most_steps = 1'000'000'000;
  if (!(deck.cell > 0 && deck.cell < 1e6))
    refuse(deck, fmt::format("cell = {}: the side of a cell is above 0", deck.cell));
  if (deck.steps < 1 || deck.steps > most_steps)
    refuse(deck, fmt::format("steps = {}: from 1 to {}", deck.steps, most_steps));
  if (deck.per_side < 0 || deck.per_side > 16)
    refuse(deck,
           fmt::format("per_side = {}: from 0 to 16 particles along each side of a cell", deck.per_side));
  if (!(deck.cfl > 0 && deck.cfl < 1))
    refuse(
        deck,
        fmt::format("cfl = {}: a time step is above 0 and below 1 times the longest for which the fields are "
                    "stable, {:.4g}; from there on, particles could also cross more than a cell in a step",
                    deck.cfl, deck.dt() / deck.cfl));
  if (!(std::abs(deck.drift) < 1))
    refuse(deck, fmt::format("drift = {}: a velocity is below that of light, 1", deck.drift));
  if (!(deck.thermal >= 0 && deck.thermal < 1e3))
    refuse(deck, fmt::format("thermal = {}: 0 or above", deck.thermal));
  if (!(std::abs(deck.amplitude) + std::abs(deck.drift) < 1))
    refuse(deck, fmt::format("amplitude = {}: with the drift it must be below the velocity of light, 1",
                             deck.amplitude));
  if (deck.waves < 1 || 2 * deck.waves >= deck.extents.back())
    refuse(deck, fmt::format("waves = {}: from 1 to less than half of the {} cells along x", deck.waves,
                             deck.extents.back()));
}

void check_laser(const Deck& deck) {
  const Laser& laser = deck.laser;
  if (laser.a0 == 0) return;
  if (!deck.walls) refuse(deck, "a laser needs walls = true: in a periodic box it would come round again");
  if (!(laser.omega > 0 && laser.duration > 0 && laser.spot >= 0))
    refuse(deck, "laser: omega and duration are above 0, and spot is not below");
  constexpr double least_cells = 6;
  if (2 * 3.14159265358979323846 / laser.omega < least_cells * deck.cell)
    refuse(deck, fmt::format("laser: omega = {}: cells of {:.4g} resolve waves up to {:.4g}, {} cells each",
                             laser.omega, deck.cell, 2 * 3.14159265358979323846 / (least_cells * deck.cell),
                             least_cells));
}

}  // namespace

double Deck::dt() const { return cfl * cell / std::sqrt(static_cast<double>(dims())); }

double Deck::density(double x) const {
  if (!walls) return 1;
  if (x < plasma_begins) return 0;
  return ramp > 0 ? std::min(1.0, (x - plasma_begins) / ramp) : 1;
}

std::int64_t Deck::particles() const {
  std::int64_t count = drift != 0 ? 2 : 1;
  for (const std::int64_t extent : extents) count *= extent * per_side;
  return count;
}

Deck checked(Deck deck) {
  if (deck.dims() != 2 && deck.dims() != 3)
    refuse(deck, fmt::format("extents {}: two (y, x) or three (z, y, x)", describe(deck.extents)));
  for (const std::int64_t extent : deck.extents)
    if (extent < 4 || extent > std::int64_t{1} << 16)
      refuse(deck,
             fmt::format("extents {}: from 4 to 2^16 cells along each dimension", describe(deck.extents)));
  if (deck.cell == 0 && deck.drift != 0 && std::abs(deck.drift) < 1) deck.cell = cell_of_two_beams(deck);
  check_numbers(deck);
  check_laser(deck);
  return deck;
}

Deck built_in(std::string_view name) {
  if (name == "langmuir")
    return {
        .name = "langmuir", .extents = {32, 64}, .cell = 0.1, .steps = 400, .per_side = 2, .amplitude = 0.01};
  if (name == "two-stream")
    return {.name = "two-stream",
            .extents = {16, 64},
            .steps = 800,
            .per_side = 2,
            .drift = 0.4,
            .amplitude = 1e-4};
  if (name == "wakefield")
    return {.name = "wakefield",
            .extents = {96, 384},
            .cell = 0.1,
            .steps = 540,
            .per_side = 2,
            .walls = true,
            .plasma_begins = 3,
            .ramp = 2,
            .laser = {.a0 = 1, .omega = 4, .duration = 1.6, .delay = 4, .spot = 3}};
  if (name == "vacuum")
    return {.name = "vacuum", .extents = {32, 32}, .cell = 0.1, .steps = 200, .amplitude = 0.01, .waves = 2};
  throw Error(Errc::invalid_argument,
              fmt::format("there is no deck `{}`; there are {}, and files whose names end in .toml", name,
                          fmt::join(built_in_decks, ", ")));
}

std::string describe(const Extents& extents) { return fmt::format("{}", fmt::join(extents, "x")); }

}  // namespace tca::pic
