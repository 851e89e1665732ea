#include "halo/cell_table.hpp"

#include <algorithm>

#include "halo/rows.hpp"

namespace tca::halo {

void CellTable::add(const Layout& cells, std::int64_t staged) {
  auto from = static_cast<std::uint64_t>(staged);
  for_each_rows(cells, [&](std::int64_t first, std::int64_t rows, std::int64_t pitch) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < cells.run(); ++i)
        all_.emplace_back(static_cast<std::uint64_t>(first + row * pitch + i), from++);
  });
}

std::vector<std::uint64_t> CellTable::words() const {
  auto all = all_;
  std::ranges::stable_sort(all, {}, [](const auto& pair) { return pair.first; });
  std::vector<std::uint64_t> words, begins, sources;
  for (const auto& [cell, from] : all) {
    if (words.empty() || words.back() != cell) {
      words.push_back(cell);
      begins.push_back(sources.size());
    }
    sources.push_back(from);
  }
  begins.push_back(sources.size());
  words.insert(words.end(), begins.begin(), begins.end());
  words.insert(words.end(), sources.begin(), sources.end());
  return words;
}

// There are n cells, n + 1 beginnings, and the sources.
DeviceFold CellTable::view(const std::uint64_t* words) const {
  std::vector<std::uint64_t> cells;
  for (const auto& [cell, from] : all_) cells.push_back(cell);
  std::ranges::sort(cells);
  DeviceFold view;
  view.count = static_cast<std::uint64_t>(std::unique(cells.begin(), cells.end()) - cells.begin());
  view.cells = words;
  view.begins = view.cells + view.count;
  view.sources = view.begins + view.count + 1;
  return view;
}

}  // namespace tca::halo
