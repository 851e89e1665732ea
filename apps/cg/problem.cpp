#include "cg/problem.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string>

#include "tca/error.hpp"

namespace tca::cg {

namespace {

constexpr std::array all{Problem{"S", 1'400, 7, 15, 10, 8.5971775078648},
                         Problem{"W", 7'000, 8, 15, 12, 10.362595087124},
                         Problem{"A", 14'000, 11, 15, 20, 17.130235054029},
                         Problem{"B", 75'000, 13, 75, 60, 22.712745482631},
                         Problem{"C", 150'000, 15, 75, 110, 28.973605592845},
                         Problem{"D", 1'500'000, 21, 100, 500, 52.514532105794}};

}  // namespace

double Problem::flops() const {
  const double k = nonzeros * (nonzeros + 1.0);
  return 2.0 * steps * static_cast<double>(n) * (3 + k + inner_iterations * (5 + k) + 3);
}

std::span<const Problem> problems() { return all; }

const Problem& problem_named(std::string_view name) {
  for (const Problem& problem : all)
    if (name.size() == 1 && std::toupper(static_cast<unsigned char>(name[0])) == problem.name[0])
      return problem;
  throw Error(Errc::invalid_argument,
              fmt::format("there is no class \"{}\"; choose one of S, W, A, B, C and D", name));
}

}  // namespace tca::cg
