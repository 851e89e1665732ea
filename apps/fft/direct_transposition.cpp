// The exchange by OpenTCA: a chain for every batch.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fft/transposition.hpp"
#include "tca/layout.hpp"

namespace tca::fft {

std::string_view message_of(const Hop& hop, const Decomposition& decomposition) {
  const auto& from = decomposition.stages()[hop.from].cut;
  const auto& to = decomposition.stages()[hop.to].cut;
  // A row of the grid has the same part of what rows divide, before and after.
  const bool within_rows = decomposition.rows() == 1 || from[0] == to[0];
  return messages[within_rows ? 0 : 1];
}

namespace {

// Where `part` lies in an array that holds `whole`.
Layout layout_of(const Box& whole, const Box& part) {
  std::array<Count, 3> extents{0, 0, 0}, start{0, 0, 0}, shape{0, 0, 0};
  for (std::size_t d = 0; d < 3; ++d) {
    extents[d] = whole.size[d];
    start[d] = part.first[d] - whole.first[d];
    shape[d] = part.size[d];
  }
  return subarray(extents, start, shape);
}

}  // namespace

template <class Real>
Chains::Chains(World& world, const Decomposition& decomposition, const Arrays<Real>& arrays, const Hop& hop,
               const std::string& channel) {
  const int rank = world.rank();
  const std::vector<int> ranks = decomposition.group(hop, rank);
  if (static_cast<int>(ranks.size()) < world.size())
    group_ = std::make_unique<World>(world.split(ranks.front()));
  World& group = group_ ? *group_ : world;
  const auto from = group_ ? group.view(arrays[hop.from]) : arrays[hop.from];
  const auto to = group_ ? group.view(arrays[hop.to]) : arrays[hop.to];
  for (int batch = 0; batch < hop.batches; ++batch) {
    Chain& chain =
        chains_.emplace_back(group.chain(fmt::format("{} of stage {} to {}, batch {}",
                                                     message_of(hop, decomposition), hop.from, hop.to, batch),
                                         {.channel = channel}));
    int number = 0;  // in the group
    for (const Piece& piece : decomposition.sent(hop, rank, batch)) {
      chain.put(to.on(number), layout_of(decomposition.box(hop.to, piece.target), piece.box), from.at(0),
                layout_of(decomposition.box(hop.from, rank), piece.box));
      chain.expect(number++);
    }
    chain.commit();
  }
}

std::string Chains::explain() const {
  std::string all;
  for (const Chain& chain : chains_) all += chain.explain();
  return all;
}

namespace {

class DirectTransposition : public Transposition {
 public:
  explicit DirectTransposition(Chains chains) : chains_(std::move(chains)) {}

  void start(int batch) override { chains_[batch].start(); }
  void wait(int batch) override { chains_[batch].wait(); }
  std::string explain() const override { return chains_.explain(); }

 private:
  Chains chains_;
};

}  // namespace

template <class Real>
std::unique_ptr<Transposition> direct_transposition(World& world, const Decomposition& decomposition,
                                                    const Arrays<Real>& arrays, const Hop& hop,
                                                    const apps::Channels& channels) {
  return std::make_unique<DirectTransposition>(
      Chains(world, decomposition, arrays, hop, channels.of(message_of(hop, decomposition))));
}

template Chains::Chains(World&, const Decomposition&, const Arrays<float>&, const Hop&, const std::string&);
template Chains::Chains(World&, const Decomposition&, const Arrays<double>&, const Hop&, const std::string&);
template std::unique_ptr<Transposition> direct_transposition(World&, const Decomposition&,
                                                             const Arrays<float>&, const Hop&,
                                                             const apps::Channels&);
template std::unique_ptr<Transposition> direct_transposition(World&, const Decomposition&,
                                                             const Arrays<double>&, const Hop&,
                                                             const apps::Channels&);

}  // namespace tca::fft
