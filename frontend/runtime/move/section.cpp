#include "runtime/move/section.hpp"

#include <algorithm>

namespace tca::xacc {

Side::Side(const xacc_section& section, Loops loops, bool with_shadow)
    : section_(&section), kind_(loops), with_shadow_(with_shadow) {
  for (int i = 0; i < section.dims; ++i) {
    const auto d = static_cast<std::size_t>(i);
    const std::int64_t size = layout() ? layout()->dims[d].size : section.extent[i];
    const std::int64_t step = section.step[i], base = section.base[i] == xacc_rest ? 0 : section.base[i];
    if (step < 1) refuse("a step of " + std::to_string(step) + " is none");
    const std::int64_t count =
        section.count[i] == xacc_rest ? (size - base + step - 1) / step : section.count[i];
    const std::int64_t last = base + (count - 1) * step;
    if (base < 0 || count < 0 || last >= size)
      refuse("a section from " + std::to_string(base) + " to " + std::to_string(last) +
             " lies outside of dimension " + std::to_string(i) + ", which has " + std::to_string(size) +
             " elements");
    base_.push_back(base), count_.push_back(count), step_.push_back(step);
    if (count != 1 || loops != Loops::several) loops_.push_back(d);
  }
  if (transposed()) std::reverse(loops_.begin(), loops_.end());
  for (const std::size_t d : loops_) counts_.push_back(count_[d]);
}

std::vector<int> Side::coordinates(int rank) const {
  if (layout())
    if (auto at = coordinates_in(*layout()->on->nodes, rank)) return *at;
  return std::vector<int>(XACC_DIMS);
}

std::optional<std::vector<int>> Side::part(int rank) const {
  if (!layout()) return std::vector<int>{};
  const auto at = coordinates_in(*layout()->on->nodes, rank);
  if (!at) return std::nullopt;
  std::vector<int> part;
  for (const xacc_dimension& dim : layout()->dims)
    if (dim.node_dim >= 0) part.push_back((*at)[static_cast<std::size_t>(dim.node_dim)]);
  return part;
}

std::vector<Progression> Side::owned(std::size_t d, const std::vector<int>& at) const {
  const bool whole = !layout() || (with_shadow_ && layout()->full(d));
  if (!whole && layout()->cyclic(d)) {
    const xacc_dimension& dim = layout()->dims[d];
    const xacc_split& split = layout()->on->dim[dim.align.template_dim];
    return steps_in_blocks(base_[d] + dim.align.offset - split.low, step_[d], count_[d],
                           at[static_cast<std::size_t>(dim.node_dim)] * split.width, split.width,
                           split.stride);
  }
  const Span own = whole ? Span{0, extent(d, at)} : layout()->owned(d, at.data());
  const Progression steps = steps_between(base_[d], step_[d], count_[d], own.begin, own.end);
  return own.size() > 0 && steps.count > 0 ? std::vector{steps} : std::vector<Progression>{};
}

std::int64_t Side::position(std::size_t d, std::int64_t index, const std::vector<int>& at) const {
  return layout() ? layout()->position(d, index, at.data()) : index;
}

std::int64_t Side::extent(std::size_t d, const std::vector<int>& at) const {
  return layout() ? layout()->extent(d, at.data()) : section_->extent[d];
}

std::vector<Box> Side::owned_by(int rank) const {
  if (!part(rank)) return {};
  const std::vector<int> at = coordinates(rank);
  for (std::size_t d = 0; d < base_.size(); ++d)
    if (owned(d, at).empty()) return {};
  std::vector<Box> boxes{{}};
  for (const std::size_t d : loops_) {
    std::vector<Box> longer;
    for (const Progression& steps : owned(d, at))
      for (Box box : boxes) {
        box.push_back(steps);
        longer.push_back(std::move(box));
      }
    boxes = std::move(longer);
  }
  return boxes;
}

Steps Side::steps(const Box& box, int rank) const {
  const std::vector<int> at = coordinates(rank);
  Steps steps{0, std::vector<std::int64_t>(loops_.size())};
  std::int64_t pitch = 1;
  for (std::size_t d = base_.size(); d-- > 0;) {
    const auto loop = static_cast<std::size_t>(std::find(loops_.begin(), loops_.end(), d) - loops_.begin());
    std::int64_t index = base_[d];
    if (loop < loops_.size()) {
      index += box[loop].first * step_[d];
      const std::int64_t next = index + box[loop].distance * step_[d];
      if (box[loop].count > 1) steps.pitch[loop] = (position(d, next, at) - position(d, index, at)) * pitch;
    }
    steps.first += position(d, index, at) * pitch;
    pitch *= extent(d, at);
  }
  return steps;
}

std::string Side::describe() const {
  std::string text = layout() ? layout()->describe() : "local";
  for (std::size_t d = 0; d < base_.size(); ++d)
    text += "|" + std::to_string(base_[d]) + ":" + std::to_string(count_[d]) + ":" + std::to_string(step_[d]);
  return text + "'" + std::to_string(static_cast<int>(kind_)) + (with_shadow_ ? "*" : "");
}

std::string Side::shape() const {
  std::string text = layout() ? layout()->name : "what every rank has by itself";
  for (const std::int64_t count : counts_) text += "[" + std::to_string(count) + "]";
  return counts_.empty() ? text + ", one element" : text;
}

std::vector<int> holders(const Side& side, const std::vector<int>& ranks, int rank) {
  std::vector<int> found;
  std::vector<std::vector<int>> known;
  const auto me = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int holder = ranks[(me + i) % ranks.size()];
    auto part = side.part(holder);
    if (!part || std::find(known.begin(), known.end(), *part) != known.end()) continue;
    known.push_back(std::move(*part));
    found.push_back(holder);
  }
  return found;
}

std::vector<int> ranks_with(const Side& side) {
  std::vector<int> found;
  if (!side.section().array) return found;
  for (const int rank : ranks_of(xacc_on_nodes(side.section().array->layout->on->nodes, nullptr, nullptr)))
    if (!side.owned_by(rank).empty()) found.push_back(rank);
  return found;
}

xacc_section all_of(xacc_array& a) {
  if (!a.layout) refuse("the array has no memory yet");
  xacc_section section{};
  section.array = &a;
  section.element_bytes = a.layout->element_bytes;
  section.dims = static_cast<int>(a.layout->dims.size());
  for (int d = 0; d < section.dims; ++d) {
    section.base[d] = section.count[d] = xacc_rest;
    section.step[d] = 1;
  }
  return section;
}

Box whole(const Side& side) {
  Box box;
  for (const std::int64_t count : side.counts()) box.push_back({0, 1, count});
  return box;
}

std::byte* memory_of(const xacc_section& section) {
  return static_cast<std::byte*>(section.array ? section.array->base : section.memory);
}

void spread(std::byte* into, const Side& to, const std::byte* values, bool one, int me) {
  const Box box = whole(to);
  Steps from = dense(box);
  if (one) std::fill(from.pitch.begin(), from.pitch.end(), 0);
  copy(into, to.steps(box, me), values, from, box, to.section().element_bytes);
}

std::vector<std::byte> gather(const Side& from, int me) {
  const Box box = whole(from);
  std::vector<std::byte> values(static_cast<std::size_t>(volume(box)) * from.section().element_bytes);
  copy(values.data(), dense(box), memory_of(from), from.steps(box, me), box, from.section().element_bytes);
  return values;
}

}  // namespace tca::xacc
