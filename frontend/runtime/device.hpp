// Where compute regions run: memory that may be another than the host's, and queues of work on it. One
// implementation a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/move/steps.hpp"
#include "tca/stream.hpp"
#include "tca/xacc/runtime.h"

namespace tca::xacc {

// Elements that are copied from one place of the device's memory to another.
struct BoxCopy {
  void* to;
  const void* from;
  const Copied* what;
};

// What a region's kernel does besides: its reductions among ranks, where it asks for them, and the statement behind.
struct Launched {
  bool reduced, goes_on;
};

// Work of one queue is done in the order in which it was put there. Queues are numbered as in `async(n)`:
// XACC_NOVAL is that of an `async` without a number. XACC_SYNC is for what the program takes as done when its next
// statement begins: what goes into other queues later comes behind it, and the host waits where it sees what was done.
class Device {
 public:
  virtual ~Device() = default;

  // Whether regions see other memory than the host. Where not, nothing is allocated or copied: a present
  // array's device address is the host's.
  virtual bool is_separate() const = 0;

  // The contents are undefined. Throws Error{out_of_memory}.
  virtual void* allocate(std::size_t bytes) = 0;
  // Waits for all that uses it.
  virtual void release(void* memory) = 0;

  virtual void copy_to(void* device, const void* host, std::size_t bytes, std::int64_t queue) = 0;
  virtual void copy_from(void* host, const void* device, std::size_t bytes, std::int64_t queue) = 0;
  virtual void copy_within(void* to, const void* from, std::size_t bytes, std::int64_t queue) = 0;

  virtual void copy_boxes(const std::vector<BoxCopy>& boxes, std::size_t element_bytes,
                          std::int64_t queue) = 0;

  // Throw what went wrong in the queues that they wait for.
  virtual void wait(std::int64_t queue) = 0;
  virtual void wait_all() = 0;
  virtual bool test(std::int64_t queue) = 0;
  // Waits for what has been copied between the host and the device in XACC_SYNC. What else is there, regions and steps
  // of chains, is not what the host sees, and goes on.
  virtual void wait_for_copies() = 0;
  // What is put into `queue` from now on waits for what `other` has.
  virtual void order(std::int64_t queue, std::int64_t other) = 0;
  // What is put into XACC_SYNC from now on waits for what all queues have.
  virtual void join() = 0;
  // Null where queues are no streams: steps of chains are then run by the host.
  virtual Stream stream(std::int64_t queue) = 0;

  // Runs a region's kernel behind what its queue has. Its reductions are in the host's variables on return from
  // XACC_SYNC, and of other queues when these have come to their end.
  virtual Launched launch(const xacc_launch& how, void** values) = 0;
};

// The host itself: one memory or, to tell what is where, two; queues are always at their end.
std::unique_ptr<Device> make_host_device(bool separate);
// The GPU that this rank drives; null where the library was built without CUDA.
std::unique_ptr<Device> make_cuda_device();

}  // namespace tca::xacc
