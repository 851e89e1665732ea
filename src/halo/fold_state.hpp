// A fold as one rank sees it: the chain that delivers what others' ghosts have gathered, and where it is
// added.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/codec.hpp"
#include "core/world/world_state.hpp"
#include "halo/cell_table.hpp"
#include "halo/fields.hpp"
#include "tca/fold.hpp"

namespace tca::halo {

class FoldState {
 public:
  // This rank's ghosts, which are sent to the owner of the cells that they stand for.
  struct Ghosts {
    int owner;
    Grid::Coordinates side;  // where this rank is, as seen from the owner
    Layout layout;
  };

  // This rank's cells of which another rank has ghosts.
  struct Face {
    int holder;
    Grid::Coordinates side;  // where the holder is
    Layout cells;
    std::int64_t staged = 0;  // where in the staging windows they arrive
  };

  FoldState(World& world, std::string name, const ChainOptions& options, std::int64_t elements,
            std::vector<Face> faces, std::vector<Ghosts> ghosts);

  void add(const raw::Window& window, DataType type, std::int64_t offset, ReduceOp op);
  void commit();

  // The host adds, or has the accelerator add, what a started step has delivered, once.
  void start();
  bool test();
  void wait();
  bool wait_for(std::chrono::nanoseconds duration);
  void start(Stream stream);
  void wait(Stream stream);

  const Chain& chain() const { return chain_; }
  const DeviceFold& cells(std::size_t field) const;
  std::int64_t sent_bytes() const;

 private:
  // Each field has a staging window, in which this rank's faces are placed one after another.
  struct Field {
    raw::Window window;
    std::int64_t offset;
    fabric::Reduction reduction;
    std::optional<raw::Window> staging = {};  // from commit on
    DeviceFold view = {};                     // if there are kernels
    std::unique_ptr<fabric::Fold> on_device = {};

    std::size_t numbers() const { return window.element_bytes() / bytes_of(reduction.type); }
    std::byte* cells() const {
      return static_cast<std::byte*>(window.data()) +
             static_cast<std::size_t>(offset) * window.element_bytes();
    }
  };

  std::string title() const;
  void require_uncommitted(const char* call) const;
  std::vector<Added> added() const;
  std::map<int, std::int64_t> exchange();
  void make_staging();
  void make_table();
  void declare(int owner, std::int64_t place);
  void add_up();
  void add_up(const Field& field) const;

  std::shared_ptr<core::WorldState> world_;
  Chain chain_;
  std::chrono::milliseconds time_limit_;
  std::vector<Face> faces_;             // by holder and side, which is the order in which they are added
  std::vector<Ghosts> ghosts_;          // by owner and side
  std::int64_t elements_, staged_ = 0;  // in a field, and in its staging window
  std::vector<Field> fields_;
  std::optional<raw::Window> table_;  // used by kernels
  bool committed_ = false;
  bool owed_ = false;  // a started step, whose arrivals are still to be added
};

}  // namespace tca::halo
