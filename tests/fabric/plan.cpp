#include "plan.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include "ranks.hpp"

namespace tca::test {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Values differ between ranks, between steps and between nearby bytes.
std::byte source_value(int rank, int step, std::size_t byte) {
  return static_cast<std::byte>((byte * 131 + (byte >> 8) * 7 + at(rank) * 29 + at(step) * 17) & 0xFF);
}

std::byte sentinel(int rank, std::size_t byte) {
  return static_cast<std::byte>((byte * 37 + at(rank) * 11 + 0xA5) & 0xFF);
}

std::set<std::pair<int, int>> pairs(const Plan& plan) {
  std::set<std::pair<int, int>> all;
  for (const PlannedPut& put : plan.puts) all.insert({put.from, put.to});
  return all;
}

template <std::size_t Bytes>
struct Item {
  std::array<std::byte, Bytes> bytes;
};

// Writes bytes to and reads bytes from a window of elements. The cast is safe, since an Item has the
// alignment of a byte.
template <std::size_t Bytes>
void write_bytes(const Window<Item<Bytes>>& window, std::int64_t element,
                 const std::vector<std::byte>& from) {
  window.write(element, {reinterpret_cast<const Item<Bytes>*>(from.data()), from.size() / Bytes});
}
template <std::size_t Bytes>
void read_bytes(const Window<Item<Bytes>>& window, std::int64_t element, std::vector<std::byte>& into) {
  window.read(element, {reinterpret_cast<Item<Bytes>*>(into.data()), into.size() / Bytes});
}

template <std::size_t Bytes>
class Run {
 public:
  using T = Item<Bytes>;

  Run(World& world, const Plan& plan) : world_(world), plan_(plan), me_(world.rank()) {
    const auto mine = at(me_);
    const std::int64_t sources = plan.source_elements[mine], targets = plan.target_elements[mine];
    sources_.push_back(world.window<T>(plan.one_window ? sources + buffers() * targets : sources));
    for (int b = 0; b < buffers(); ++b) {
      if (!plan.one_window) targets_.push_back(world.window<T>(targets));
      std::vector<std::byte>& expected = expected_.emplace_back(at(targets) * Bytes);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = sentinel(me_, i);
      write_bytes<Bytes>(target_window(b), target_base(me_, b), expected);
    }
    // No rank may put before this one has written its sentinels. Guarded chains ensure that themselves.
    if (!plan.guarded) world.barrier();
    for (int b = 0; b < buffers(); ++b) chains_.push_back(make_chain(b));
  }

  void step(int step) {
    const int b = step % buffers();
    fill_sources(step);
    chains_[at(b)].start();
    chains_[at(b)].wait();
    // The sources may be overwritten after the wait, so the test does that at once.
    write_bytes<Bytes>(sources_[0], 0, std::vector<std::byte>(source_bytes(), std::byte{0x5A}));
    expect_step(b, step);
    compare(b, step);
  }

 private:
  int buffers() const { return plan_.guarded ? 1 : 2; }
  std::size_t source_bytes() const { return at(plan_.source_elements[at(me_)]) * Bytes; }

  std::int64_t target_base(int rank, int buffer) const {
    return plan_.one_window ? plan_.source_elements[at(rank)] + buffer * plan_.target_elements[at(rank)] : 0;
  }
  const Window<T>& target_window(int buffer) const {
    return plan_.one_window ? sources_[0] : targets_[at(buffer)];
  }

  Chain make_chain(int buffer) {
    Chain chain = world_.chain(plan_.guarded ? "plan" : fmt::format("plan, buffer {}", buffer),
                               {.guarded = plan_.guarded, .time_limit = {}, .channel = plan_.channel});
    for (const PlannedPut& put : plan_.puts) {
      if (put.from != me_) continue;
      const std::int64_t to = target_base(put.to, buffer) + put.target_offset;
      chain.put(target_window(buffer).on(put.to).at(to), put.target.layout, sources_[0].at(put.source_offset),
                put.source.layout);
    }
    const auto all = pairs(plan_);
    for (const auto& [from, to] : all) {
      if (to == me_) chain.expect(from);
      // An answer to every put, so that no rank runs more than the two buffers ahead.
      if (!plan_.guarded && !all.contains({to, from})) {
        if (to == me_) chain.signal(from);
        if (from == me_) chain.expect(to);
      }
    }
    chain.commit();
    return chain;
  }

  void fill_sources(int step) {
    std::vector<std::byte> values(source_bytes());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = source_value(me_, step, i);
    write_bytes<Bytes>(sources_[0], 0, values);
  }

  void expect_step(int buffer, int step) {
    std::byte* const expected = expected_[at(buffer)].data();
    for (const PlannedPut& put : plan_.puts) {
      if (put.to != me_) continue;
      for (std::size_t k = 0; k < put.source.at.size(); ++k) {
        const std::size_t from = at(put.source_offset + put.source.at[k]) * Bytes;
        const std::size_t to = at(put.target_offset + put.target.at[k]) * Bytes;
        for (std::size_t i = 0; i < Bytes; ++i) expected[to + i] = source_value(put.from, step, from + i);
      }
    }
  }

  void compare(int buffer, int step) const {
    const std::vector<std::byte>& expected = expected_[at(buffer)];
    std::vector<std::byte> held(expected.size());
    read_bytes<Bytes>(target_window(buffer), target_base(me_, buffer), held);
    if (held == expected) return;
    const auto [want, have] = std::mismatch(expected.begin(), expected.end(), held.begin());
    const auto place = static_cast<std::size_t>(want - expected.begin());
    throw Mismatch(fmt::format(
        "step {}: byte {} of rank {}'s target window is {:#04x}, not {:#04x} ({})", step, place, me_,
        static_cast<unsigned>(*have), static_cast<unsigned>(*want),
        *want == sentinel(me_, place) ? "where nothing or its own sentinel belongs" : "where a put belongs"));
  }

  World& world_;
  const Plan& plan_;
  int me_;
  std::vector<Window<T>> sources_, targets_;
  std::vector<std::vector<std::byte>> expected_;
  std::vector<Chain> chains_;
};

using Runner = void (*)(World&, const Plan&);

template <std::size_t Bytes>
void run_with(World& world, const Plan& plan) {
  Run<Bytes> run(world, plan);
  for (int step = 1; step <= plan.steps; ++step) run.step(step);
}

const std::vector<std::pair<std::size_t, Runner>> runners{
    {1, run_with<1>},   {2, run_with<2>},   {3, run_with<3>},   {4, run_with<4>},   {5, run_with<5>},
    {8, run_with<8>},   {12, run_with<12>}, {16, run_with<16>}, {20, run_with<20>}, {24, run_with<24>},
    {32, run_with<32>}, {40, run_with<40>}, {64, run_with<64>}, {72, run_with<72>}, {96, run_with<96>}};

}  // namespace

std::int64_t Cells::end() const { return *std::max_element(at.begin(), at.end()) + 1; }

Cells block_cells(std::int64_t count) {
  Cells cells{block(count), {}};
  for (std::int64_t i = 0; i < count; ++i) cells.at.push_back(i);
  return cells;
}

Cells block_stride_cells(std::int64_t rows, std::int64_t width, std::int64_t pitch) {
  Cells cells{block_stride(rows, width, pitch), {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < width; ++i) cells.at.push_back(row * pitch + i);
  }
  return cells;
}

Cells stride_cells(std::int64_t count, std::int64_t pitch) {
  Cells cells{stride(count, pitch), {}};
  for (std::int64_t i = 0; i < count; ++i) cells.at.push_back(i * pitch);
  return cells;
}

Cells subarray_cells(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& start,
                     const std::vector<std::int64_t>& shape) {
  const std::vector<Count> e(extents.begin(), extents.end()), s(start.begin(), start.end()),
      n(shape.begin(), shape.end());
  Cells cells{subarray(e, s, n), {}};
  std::vector<std::int64_t> index(shape.size(), 0);
  for (bool more = true; more;) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * extents[d] + start[d] + index[d];
    cells.at.push_back(place);
    more = false;
    for (std::size_t d = shape.size(); d-- > 0 && !more;) {
      more = ++index[d] < shape[d];
      if (!more) index[d] = 0;
    }
  }
  return cells;
}

void Plan::fit(std::int64_t spare) {
  source_elements.assign(at(ranks), spare);
  target_elements.assign(at(ranks), spare);
  for (const PlannedPut& put : puts) {
    std::int64_t &sources = source_elements[at(put.from)], &targets = target_elements[at(put.to)];
    sources = std::max(sources, put.source_offset + put.source.end() + spare);
    targets = std::max(targets, put.target_offset + put.target.end() + spare);
  }
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  out << fmt::format("{} ranks, elements of {} bytes, {}, channel '{}', {} steps{}", plan.ranks,
                     plan.element_bytes, plan.guarded ? "guarded" : "unguarded", plan.channel, plan.steps,
                     plan.one_window ? ", one window" : "");
  for (const PlannedPut& put : plan.puts) {
    out << fmt::format("\n  {} -> {}: {} at {} into {} at {}", put.from, put.to, put.source.layout.describe(),
                       put.source_offset, put.target.layout.describe(), put.target_offset);
  }
  return out;
}

const std::vector<std::size_t>& plan_element_sizes() {
  static const std::vector<std::size_t> sizes = [] {
    std::vector<std::size_t> all;
    for (const auto& [bytes, run] : runners) all.push_back(bytes);
    return all;
  }();
  return sizes;
}

void run_plan(World& world, const Plan& plan) {
  for (const auto& [bytes, run] : runners) {
    if (bytes == plan.element_bytes) return run(world, plan);
  }
  throw Mismatch(fmt::format("no plan has elements of {} bytes", plan.element_bytes));
}

}  // namespace tca::test
