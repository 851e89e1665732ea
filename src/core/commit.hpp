// What happens once, when every rank commits a chain: exchange, check, compile.
#pragma once

#include <string>
#include <vector>

#include "core/chain_state.hpp"

namespace tca::core {

// A chain as one rank declared it, as the others see it.
struct Declaration {
  std::string name;
  bool guarded = true;
  std::vector<Descriptor> puts;
  std::vector<int> expected;
};

class Commit {
 public:
  explicit Commit(ChainState& chain) : chain_(chain), world_(*chain.world_) {}

  // Throws Error{refused}, the same on every rank.
  void run();

 private:
  void choose_channels();
  void exchange();
  void compile();
  std::vector<std::string> problems() const;
  void agree(const std::vector<std::string>& problems) const;

  bool is_same_chain(std::vector<std::string>& problems) const;
  void check_windows(std::vector<std::string>& problems) const;
  void check_bounds(std::vector<std::string>& problems) const;
  void check_expectations(std::vector<std::string>& problems) const;
  void check_overlaps(std::vector<std::string>& problems) const;

  std::shared_ptr<WindowState> keep(std::uint32_t window);

  ChainState& chain_;
  WorldState& world_;
  std::vector<Declaration> ranks_;
  std::vector<std::string> without_channel_;  // problems of this rank's puts
};

}  // namespace tca::core
