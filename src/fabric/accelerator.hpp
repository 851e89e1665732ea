// The interface of an accelerator to the layers above: the kernels that its fabric has for collectives and
// teams, and the steps that it orders on streams. A fabric without an accelerator needs nothing from this
// header.
//
// The rules of fabric.hpp for ownership and threads apply here too, except that a Stager (staging.hpp) is
// also called from other threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "control/members.hpp"
#include "fabric/collective.hpp"
#include "tca/stream.hpp"

namespace tca {
struct DeviceDoorbell;
struct DeviceChain;
struct DeviceFold;
struct DeviceProducedChain;
struct DeviceTimedChain;
struct DeviceTeam;
}  // namespace tca

namespace tca::fabric {

class Stager;

// A rank's share of a team, through which its kernels run small collectives with all other ranks; see
// tca/team.hpp.
class Team {
 public:
  virtual ~Team() = default;
  virtual const DeviceTeam& device() const = 0;
  virtual void allreduce_sum_on(double* values, std::size_t count, Stream stream) = 0;
};

// The accelerator that this rank drives, which has streams and runs kernels on windows. It lives as long as its
// fabric.
class Accelerator {
 public:
  virtual ~Accelerator() = default;

  // Returns the Stager for fabrics that cannot reach the memory of its windows. It lives as long as the fabric.
  virtual Stager& stager() = 0;

  // Collective over the members, whose numbering kernels use for ranks. Makes a team for calls of up to
  // `max_values` values, from single blocks or grids of up to `max_blocks`, that wait for at most
  // `time_limit`. Throws Error{invalid_argument} if kernels do not reach every member, and Error{refused}
  // if members pass different numbers.
  virtual std::unique_ptr<Team> make_team(std::string_view team, std::size_t max_values,
                                          std::size_t max_blocks, std::chrono::milliseconds time_limit,
                                          const control::Members& members) = 0;

  // Returns the ways in which it can run a collective by itself, among ranks that kernels reach; the same
  // on every rank. If there is none, the collective is built from chains.
  virtual std::vector<CollectiveWay> collective_ways(const CollectiveSpec& kind) const = 0;

  // Collective over the task's members. Called only with one of the ways that `collective_ways` returns.
  virtual std::unique_ptr<Collective> make_collective(const CollectiveTask& task) = 0;

  // Makes the Fold that combines within this rank's parts of windows after a round of chains. Returns null
  // if the host combines.
  virtual std::unique_ptr<Fold> make_fold(const FoldTask& task) = 0;

  // Makes the Fold that combines a field's cells with what the chain of a tca::Fold has delivered, of a
  // type that kernels combine.
  virtual std::unique_ptr<Fold> make_cell_fold(Reduction reduction, const DeviceFold& cells) = 0;
};

// The interface through which an accelerator orders the steps of a Program. It lives as long as the program.
class AcceleratorProgram {
 public:
  virtual ~AcceleratorProgram() = default;

  // These order the next step on a stream. The host neither waits nor learns when the step is done;
  // Fabric::check throws the error if the step fails. `run_on` is a start and a wait in one.
  virtual void start_on(Stream stream) = 0;
  virtual void wait_on(Stream stream) = 0;
  virtual void run_on(Stream stream) = 0;

  // Returns the view with which a kernel starts steps and waits for them by itself; null if none can.
  virtual const DeviceProducedChain* device_chain() const { return nullptr; }
  // The same for a kernel that takes times; null if the chain is not timed.
  virtual const DeviceTimedChain* timed_device_chain() const { return nullptr; }

  // Returns the view with which a kernel has a resident engine run steps; null if there is no engine.
  virtual const DeviceDoorbell* doorbell() { return nullptr; }
};

}  // namespace tca::fabric
