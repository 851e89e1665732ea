#include "runtime/section.hpp"

#include <algorithm>
#include <cstring>

namespace tca::xacc {

std::int64_t volume(const Box& box) {
  std::int64_t all = 1;
  for (const Span& span : box) all *= span.size();
  return all;
}

Box intersection(const Box& a, const Box& b) {
  Box both;
  for (std::size_t d = 0; d < a.size(); ++d)
    both.push_back({std::max(a[d].begin, b[d].begin), std::min(a[d].end, b[d].end)});
  return both;
}

Side::Side(const xacc_section& section) : section_(&section) {
  for (int i = 0; i < section.dims; ++i) {
    const xacc_layout* layout = section.array ? section.array->layout : nullptr;
    if (layout && layout->dims[static_cast<std::size_t>(i)].node_dim >= 0 &&
        layout->on->dim[layout->dims[static_cast<std::size_t>(i)].align.template_dim].format == XACC_CYCLIC)
      refuse(layout->name + " is cyclic, which gmove does not move yet");
    const auto d = static_cast<std::size_t>(i);
    const std::int64_t size = section.array ? section.array->layout->dims[d].size : section.extent[i];
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
    if (count == 1) continue;
    loops_.push_back(d);
    counts_.push_back(count);
  }
}

Span Side::owned(std::size_t d, const int* at) const {
  return section_->array ? section_->array->layout->owned(d, at) : Span{0, section_->extent[d]};
}

std::int64_t Side::extent(std::size_t d, const int* at) const {
  return section_->array ? section_->array->layout->extent(d, at) : section_->extent[d];
}

Box Side::owned_by(int rank) const {
  const Box none(std::max<std::size_t>(loops_.size(), 1), Span{0, 0});
  std::vector<int> at(XACC_DIMS);
  if (section_->array) {
    const auto found = coordinates_in(*section_->array->layout->on->nodes, rank);
    if (!found) return none;
    at = *found;
  }
  Box box;
  for (std::size_t d = 0; d < base_.size(); ++d) {
    const Span own = owned(d, at.data());
    const auto first_step = [&](std::int64_t index) {
      return index <= base_[d] ? 0 : (index - base_[d] + step_[d] - 1) / step_[d];
    };
    const Span steps{first_step(own.begin), std::min(count_[d], first_step(own.end))};
    if (own.size() == 0 || steps.size() == 0) return none;
    if (count_[d] != 1) box.push_back(steps);
  }
  if (box.empty()) box.push_back({0, 1});  // a single element is one step
  return box;
}

Steps Side::steps(const Box& box, int rank) const {
  std::vector<int> at(XACC_DIMS);
  if (section_->array)
    if (const auto found = coordinates_in(*section_->array->layout->on->nodes, rank)) at = *found;
  Steps steps{0, std::vector<std::int64_t>(loops_.size())};
  std::int64_t pitch = 1;
  std::size_t loop = loops_.size();
  for (std::size_t d = base_.size(); d-- > 0;) {
    const std::int64_t shadow = section_->array ? section_->array->layout->dims[d].align.shadow_low : 0;
    std::int64_t index = base_[d];
    if (count_[d] != 1) {
      --loop;
      index += box[loop].begin * step_[d];
      steps.pitch[loop] = step_[d] * pitch;
    }
    steps.first += (index - owned(d, at.data()).begin + shadow) * pitch;
    pitch *= extent(d, at.data());
  }
  if (steps.pitch.empty()) steps.pitch.push_back(1);
  return steps;
}

std::string Side::describe() const {
  std::string text = section_->array ? section_->array->layout->describe() : "local";
  for (std::size_t d = 0; d < base_.size(); ++d)
    text += "|" + std::to_string(base_[d]) + ":" + std::to_string(count_[d]) + ":" + std::to_string(step_[d]);
  return text;
}

std::string Side::shape() const {
  std::string text = section_->array ? section_->array->layout->name : "what every rank has by itself";
  for (const std::int64_t count : counts_) text += "[" + std::to_string(count) + "]";
  return counts_.empty() ? text + ", one element" : text;
}

void copy(void* to, const Steps& to_steps, const void* from, const Steps& from_steps, const Box& box,
          std::size_t element_bytes) {
  if (volume(box) == 0) return;
  std::vector<std::int64_t> step(box.size());
  for (;;) {
    std::int64_t t = to_steps.first, f = from_steps.first;
    for (std::size_t d = 0; d < box.size(); ++d)
      t += step[d] * to_steps.pitch[d], f += step[d] * from_steps.pitch[d];
    std::memcpy(static_cast<char*>(to) + t * static_cast<std::int64_t>(element_bytes),
                static_cast<const char*>(from) + f * static_cast<std::int64_t>(element_bytes), element_bytes);
    std::size_t d = box.size();
    while (d > 0 && ++step[d - 1] == box[d - 1].size()) step[--d] = 0;
    if (d == 0) return;
  }
}

Steps dense(const Box& box) {
  Steps steps{0, std::vector<std::int64_t>(box.size())};
  std::int64_t pitch = 1;
  for (std::size_t d = box.size(); d-- > 0;) {
    steps.pitch[d] = pitch;
    pitch *= box[d].size();
  }
  return steps;
}

Box whole(const Side& side) {
  Box box;
  for (const std::int64_t count : side.counts()) box.push_back({0, count});
  if (box.empty()) box.push_back({0, 1});
  return box;
}

std::byte* memory_of(const Side& side) {
  const xacc_section& section = side.section();
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

std::vector<Piece> pieces(const Steps& to, const Steps& from, const Box& box) {
  std::size_t inner = box.size();
  std::int64_t run = 1;
  if (inner > 0 && to.pitch[inner - 1] == 1 && from.pitch[inner - 1] == 1) run = box[--inner].size();
  std::vector<Layout::Loop> to_loops, from_loops;
  for (; inner > 0 && to_loops.size() < Layout::max_loops; --inner) {
    if (box[inner - 1].size() == 1) continue;
    to_loops.push_back({box[inner - 1].size(), to.pitch[inner - 1]});
    from_loops.push_back({box[inner - 1].size(), from.pitch[inner - 1]});
  }
  // The loops that are left, one piece for each of their steps.
  std::vector<Piece> all{{to.first, from.first, nested(run, to_loops), nested(run, from_loops)}};
  for (; inner > 0; --inner) {
    const std::vector<Piece> before = all;
    for (std::int64_t i = 1; i < box[inner - 1].size(); ++i)
      for (Piece piece : before) {
        piece.to += i * to.pitch[inner - 1];
        piece.from += i * from.pitch[inner - 1];
        all.push_back(piece);
      }
  }
  return all;
}

}  // namespace tca::xacc
