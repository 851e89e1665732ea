// The interface of an accelerator to the layers above: the device itself, kernels of its fabric's own for
// collectives and teams, and steps that it orders. A fabric without an accelerator needs nothing of this
// header.
//
// Ownership and threads are those of fabric.hpp; a Stager alone (staging.hpp) is called from other threads
// too.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/collective.hpp"
#include "tca/stream.hpp"

namespace tca {
struct DeviceBell;
struct DeviceChain;
struct DeviceTeam;
}  // namespace tca

namespace tca::fabric {

class Stager;

// A rank's share of a team, by which its kernels run small collectives with all others; see tca/team.hpp.
class Team {
 public:
  virtual ~Team() = default;
  virtual const DeviceTeam& device() const = 0;
  virtual void allreduce_sum_on(double* values, std::size_t count, Stream stream) = 0;
};

// The accelerator that this rank drives; lives as long as its fabric. The defaults are those of one that runs
// no kernels of the fabric's, such as a modelled one.
class Accelerator {
 public:
  virtual ~Accelerator() = default;

  // Names it for people, e.g. "NVIDIA H200 (0000:01:00.0), GPU 0"; what precedes " (" is its kind.
  virtual std::string device_name() const = 0;

  // How many ranks drive it, this one included.
  virtual int ranks_on_device() const = 0;

  // Lets the time of a kernel pass that moves `bytes` of memory and does `flops` operations, where time is
  // modelled.
  virtual void compute(double /*bytes*/, double /*flops*/) {}

  // The way of fabrics that do not reach its windows' memory into it; null where windows are the host's
  // memory. Lives as long as the fabric.
  virtual Stager* stager() { return nullptr; }

  // Collective: a team for up to `max_values` values a call, which waits for `time_limit` at most. Null where
  // the accelerator runs no kernels; throws Error{invalid_argument} where they do not reach every rank.
  virtual std::unique_ptr<Team> make_team(std::string_view /*team*/, std::size_t /*max_values*/,
                                          std::chrono::milliseconds /*time_limit*/) {
    return nullptr;
  }

  // The ways in which it can run a collective of all ranks by itself, the same on every rank. Without any the
  // collective is made of chains.
  virtual std::vector<CollectiveWay> collective_ways(const CollectiveKind& /*kind*/) const { return {}; }

  // Collective: called only for one of the ways that `collective_ways` gives.
  virtual std::unique_ptr<Collective> make_collective(const CollectiveTask&) { return nullptr; }

  // Combines in this rank's part of windows, behind a round of chains; null where the host combines.
  virtual std::unique_ptr<Fold> make_fold(const FoldTask&) { return nullptr; }
};

// The steps of a Program as an accelerator orders them; lives as long as the program.
class AcceleratorProgram {
 public:
  virtual ~AcceleratorProgram() = default;

  // These order the next step on a stream: the host neither waits nor learns when it is done, and
  // Fabric::check throws what the step meets. `run_on` is a start and a wait in one.
  virtual void start_on(Stream stream) = 0;
  virtual void wait_on(Stream stream) = 0;
  virtual void run_on(Stream stream) = 0;

  // The view by which a kernel starts and waits by itself; null where none can.
  virtual const DeviceChain* device_chain() const { return nullptr; }

  // The view by which a kernel has a resident engine run steps; null where there is none.
  virtual const DeviceBell* bell() { return nullptr; }
};

}  // namespace tca::fabric
