// Posts on the modelled machine. A post takes its bytes when it starts, as a chain does; the model says
// when they land.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fabric/notice_counts.hpp"
#include "fabric/posting.hpp"
#include "fabric/sim/protocol.hpp"
#include "model/des/time.hpp"

namespace tca::sim {

class Model;

// A rank's state for posts from others.
struct PostBox {
  std::uint64_t job = 0;
  std::uint64_t generations = 0;
  std::map<std::uint64_t, std::span<std::byte>> regions;  // the live ones, by generation
  fabric::NoticeCounts notices;
  // When the last notice in a source's slot arrived, and which of them the rank has looked at. A message's
  // notices are together, as the fields of one record, so a look at one of them shows the others too.
  std::map<std::pair<int, int>, des::Time> came;
  std::pair<int, des::Time> seen = {-1, 0};  // a source, and when its message arrived
};

// What a post from one rank to another has under way, which lands in the order in which it was started.
struct PostRoute {
  explicit PostRoute(des::Simulator& simulator) : landed(simulator, {"the posts that have landed"}) {}
  des::Counter landed;
  std::uint64_t departed = 0;
};

class SimPoster final : public fabric::Poster {
 public:
  SimPoster(Model& model, int rank) : model_(model), rank_(rank) {}

  std::unique_ptr<fabric::OwnRegion> expose_alone(const fabric::RegionSpec& spec) override;
  std::unique_ptr<fabric::FarRegion> attach(int rank, std::size_t bytes,
                                            const fabric::RegionName& name) override;
  std::unique_ptr<fabric::PostProgram> make_post() override;
  bool take(int source, int slot, std::uint32_t tag) override {
    return take_of(source, slot, tag).has_value();
  }
  std::optional<std::uint32_t> take_any(int source, int slot) override { return take_of(source, slot, {}); }

 private:
  std::optional<std::uint32_t> take_of(int source, int slot, std::optional<std::uint32_t> tag);

  Model& model_;
  int rank_;
};

}  // namespace tca::sim
