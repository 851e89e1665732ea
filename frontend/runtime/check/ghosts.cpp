#include "runtime/check/ghosts.hpp"

#include <algorithm>

namespace tca::xacc {
namespace {

// Positions in this rank's memory, from its first element on.
std::vector<std::int64_t> positions(const xacc_layout& layout, std::size_t element) {
  std::vector<std::int64_t> at(layout.dims.size());
  auto rest = static_cast<std::int64_t>(element);
  for (std::size_t d = at.size(); d-- > 0;) {
    const std::int64_t extent = layout.extent(d, layout.on->nodes->at);
    at[d] = rest % extent;
    rest /= extent;
  }
  return at;
}

// How far a position is within the shadow, counted from the elements that the rank owns; 0: not.
std::int64_t depth(const xacc_layout& layout, std::size_t d, std::int64_t position, bool* below) {
  const xacc_align& align = layout.dims[d].align;
  const std::int64_t end = layout.extent(d, layout.on->nodes->at) - align.shadow_high;
  *below = position < align.shadow_low;
  return *below ? align.shadow_low - position : std::max<std::int64_t>(position - end + 1, 0);
}

std::size_t elements_of(const xacc_layout& layout) {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < layout.dims.size(); ++d) all *= layout.extent(d, layout.on->nodes->at);
  return static_cast<std::size_t>(all);
}

bool is_own(const xacc_layout& layout, const std::vector<std::int64_t>& at) {
  bool below = false, own = true;
  for (std::size_t d = 0; d < at.size(); ++d) own = own && depth(layout, d, at[d], &below) == 0;
  return own;
}

}  // namespace

Ghosts::Ghosts(Group& group, std::int64_t capacity, const std::string& name)
    : written_{raw::Window::on_host(*group.world, capacity, sizeof(Written), name + ", when written"),
               sizeof(Written), capacity, &group},
      last_(static_cast<std::size_t>(capacity)),
      brought_(last_.size()),
      read_(last_.size()) {
  reset();
}

void Ghosts::reset() {
  auto* const written = static_cast<Written*>(written_.window.data());
  std::fill(written, written + last_.size(), Written{});
  std::fill(last_.begin(), last_.end(), Last{});
  std::fill(brought_.begin(), brought_.end(), 0);
  std::fill(read_.begin(), read_.end(), Read{});
}

void Ghosts::wrote(std::size_t element, bool is_ghost, std::uint32_t time, int line) {
  if (is_ghost) {
    brought_[element] = time;
    return;
  }
  Written& written = static_cast<Written*>(written_.window.data())[element];
  if (written.since == 0) written.since = time, written.line_since = line;
  last_[element] = {time, line};
}

void Ghosts::read(std::size_t element, std::uint32_t time, const xacc_place& at) {
  read_[element] = {time, at.line, at.file};
}

std::vector<std::size_t> Ghosts::brought(const xacc_layout& layout, const Widths& widths, bool orthogonal,
                                         std::uint32_t time) {
  if (!exchanged_) exchanged_ = widths;
  for (std::size_t d = 0; d < widths.exchange.size(); ++d) {
    GhostWidth& width = exchanged_->exchange[d];
    width = {std::max(width.low, widths.exchange[d].low), std::max(width.high, widths.exchange[d].high)};
    if (widths.periodic[d]) exchanged_->periodic[d] = true;
  }
  std::vector<std::size_t> all_of_them;
  const std::size_t all = elements_of(layout);
  for (std::size_t e = 0; e < all; ++e) {
    const std::vector<std::int64_t> at = positions(layout, e);
    int outside = 0;
    bool within = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      bool below = false;
      const std::int64_t deep = depth(layout, d, at[d], &below);
      const std::int64_t width = below ? widths.exchange[d].low : widths.exchange[d].high;
      outside += deep > 0 ? 1 : 0;
      within = within && (deep <= width || (width == 0 && !orthogonal && outside > 1));
    }
    if (outside == 0 || !within || (outside > 1 && orthogonal)) continue;
    brought_[e] = time;
    all_of_them.push_back(e);
  }
  return all_of_them;
}

void Ghosts::refuse_stale(const xacc_layout& layout, std::size_t element, const Read& read, int line) {
  const xacc_nodes& nodes = *layout.on->nodes;
  const std::vector<std::int64_t> at = positions(layout, element);
  std::string name = layout.name;
  int owner = nodes.first;
  std::vector<int> where(nodes.at, nodes.at + nodes.dims);
  for (std::size_t d = 0; d < at.size(); ++d) {
    const xacc_dimension& dim = layout.dims[d];
    const std::int64_t index = layout.owned(d, nodes.at).begin - dim.align.shadow_low + at[d];
    name += "[" + std::to_string(index) + "]";
    if (dim.node_dim < 0) continue;
    const std::int64_t inside = (index % dim.size + dim.size) % dim.size;
    where[static_cast<std::size_t>(dim.node_dim)] =
        owner_of(layout.on->dim[dim.align.template_dim], inside + dim.align.offset, dim.parts);
  }
  for (int d = 0; d < nodes.dims; ++d) owner += where[static_cast<std::size_t>(d)] * nodes.ranks[d];
  const xacc_place place{read.file, read.line, layout.name.c_str()};
  guarded(&place, [&] {
    refuse(name + ", a ghost on rank " + std::to_string(Runtime::get().world().rank()) +
           ", is stale here: its owner, rank " + std::to_string(owner) + ", wrote it in line " +
           std::to_string(line) + ", and no reflect has brought it since; put #pragma xmp reflect (" +
           layout.name + ") in between");
  });
  std::abort();
}

void Ghosts::compare(const xacc_layout& layout, const xacc_place& at) {
  xacc_layout times = layout;
  times.storage = &written_;
  times.element_bytes = sizeof(Written);
  exchange_ghosts(times, exchanged_ ? *exchanged_ : widths_of(layout, nullptr), at);
  auto* const written = static_cast<Written*>(written_.window.data());
  const std::size_t all = elements_of(layout);
  for (std::size_t e = 0; e < all; ++e) {
    Written& w = written[e];
    Read& read = read_[e];
    if (read.time != 0) {
      const bool before = w.before > brought_[e];
      const bool since = w.since > brought_[e] && w.since < read.time;
      if (before || since) refuse_stale(layout, e, read, since ? w.line_since : w.line_before);
      read = {};
    }
    if (w.since != 0 && is_own(layout, positions(layout, e))) w = {last_[e].time, 0, last_[e].line, 0};
  }
}

}  // namespace tca::xacc
