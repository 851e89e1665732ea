#include "spin/gpu/sites.hpp"

#include <algorithm>

namespace tca::spin {

namespace {

void add(Cells& cells, const Box& box, int replicas) {
  if (box.empty()) return;
  Cells::Numbered& in = cells.boxes[cells.count++];
  const Extents size = box.size();
  for (std::size_t d = 0; d < 3; ++d) in.begin[d] = static_cast<Word>(box.begin[d]);
  in.row = Divisor::of(static_cast<Word>(size[2]));
  in.plane = Divisor::of(static_cast<Word>(size[1] * size[2]));
  in.box = Divisor::of(static_cast<Word>(size[0] * size[1] * size[2]));
  cells.all += in.box.value * static_cast<Word>(replicas);
  in.end = cells.all;
}

}  // namespace

Cells numbered(std::span<const Box> boxes, int replicas) {
  Cells cells;
  for (const Box& box : boxes) add(cells, box, replicas);
  cells.shell = cells.all;
  return cells;
}

Cells cells_of(const Share& share, bool overlap) {
  const int replicas = share.problem().replicas;
  if (!overlap) {
    const Box whole = share.whole();
    return numbered({&whole, 1}, replicas);
  }
  Cells cells = numbered(share.division().shell, replicas);
  add(cells, share.division().core, replicas);
  return cells;
}

template <class Real>
Sites<Real> sites_of(const Share& share) {
  const Problem& problem = share.problem();
  Sites<Real> sites{};
  sites.elements = static_cast<std::size_t>(share.elements());
  for (std::size_t d = 0; d < 3; ++d) {
    sites.cells[d] = static_cast<Word>(share.cells()[d]);
    sites.first[d] = static_cast<Word>(share.first()[d]);
    sites.extents[d] = static_cast<Word>(problem.extents[d]);
    sites.cut[d] = share.is_cut(d) ? 1 : 0;
  }
  sites.pitch[2] = 1;
  sites.pitch[1] = sites.cells[2] + 2;
  sites.pitch[0] = sites.pitch[1] * (sites.cells[1] + 2);
  sites.replicas = static_cast<Word>(problem.replicas);
  sites.tempered = static_cast<Word>(problem.temperatures.size());
  std::ranges::copy(first_betas(problem), sites.beta);
  sites.seed = problem.seed;
  return sites;
}

template Sites<float> sites_of(const Share&);
template Sites<double> sites_of(const Share&);

}  // namespace tca::spin
