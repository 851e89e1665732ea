/// @file
/// The two ends of a produced put, whose elements one kernel produces and another kernel uses, with no
/// window between them:
///
///     // on the sender
///     tca::ProducedPut<Half> sent = chain.put_produced<Half>(right, 4096);
///     chain.commit();
///     kernel<<<blocks, threads>>>(chain.device_produced(), sent.device(), ...);
///
///     // on the receiver
///     tca::ProducedArrival<Half> come = chain.expect_produced<Half>(left, 4096);
///     chain.commit();
///     kernel<<<blocks, threads>>>(chain.device_produced(), come.device(), ...);
///
/// In the kernels (tca/produced.cuh) a thread writes element i, and a thread of the other rank reads element i, in
/// any order. Every element is written once in a step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tca/detail/api.hpp"
#include "tca/detail/moved.hpp"
#include "tca/window.hpp"

namespace tca {

class Chain;
template <class T>
struct DeviceProducedPut;
template <class T>
struct DeviceProducedArrival;
struct DeviceProducedSignal;
struct DeviceExpectedSignal;
namespace device {
struct Produced;
}

namespace core {

class ChainState;
struct ProducedEnd;

// Returns the end as kernels see it. Throws Error{invalid_argument} before the commit.
TCA_API const device::Produced& produced_view(const std::shared_ptr<ProducedEnd>& end);
TCA_API std::int64_t produced_elements(const std::shared_ptr<ProducedEnd>& end);
TCA_API int produced_partner(const std::shared_ptr<ProducedEnd>& end);

}  // namespace core

/// The sending end. Copies name the same put, and may outlive the chain; what `device` has returned may not.
template <Element T>
class ProducedPut {
 public:
  /// Returns what a kernel writes to. Throws Error{invalid_argument} before the commit.
  DeviceProducedPut<T> device() const { return {core::produced_view(end_)}; }
  std::int64_t elements() const { return core::produced_elements(end_); }
  /// Returns the target.
  int rank() const { return core::produced_partner(end_); }

 private:
  friend class Chain;
  explicit ProducedPut(std::shared_ptr<core::ProducedEnd> end) : end_(std::move(end)) {}

  std::shared_ptr<core::ProducedEnd> end_;
};

/// The receiving end. Otherwise like ProducedPut.
template <Element T>
class ProducedArrival {
 public:
  /// Returns what a kernel reads from. Throws Error{invalid_argument} before the commit.
  DeviceProducedArrival<T> device() const { return {core::produced_view(end_)}; }
  std::int64_t elements() const { return core::produced_elements(end_); }
  /// Returns the sender.
  int rank() const { return core::produced_partner(end_); }

 private:
  friend class Chain;
  explicit ProducedArrival(std::shared_ptr<core::ProducedEnd> end) : end_(std::move(end)) {}

  std::shared_ptr<core::ProducedEnd> end_;
};

/// The two ends of a produced signal, which a kernel raises when other ranks may read what kernels have stored in
/// their memory by themselves; see tca/device/produced.hpp. Copies name the same signal.
class TCA_API ProducedSignal {
 public:
  /// Throws Error{invalid_argument} before the commit.
  DeviceProducedSignal device() const;
  /// Returns the target.
  int rank() const { return core::produced_partner(end_); }

 private:
  friend class Chain;
  explicit ProducedSignal(std::shared_ptr<core::ProducedEnd> end) : end_(std::move(end)) {}

  std::shared_ptr<core::ProducedEnd> end_;
};
class TCA_API ExpectedSignal {
 public:
  /// Throws Error{invalid_argument} before the commit.
  DeviceExpectedSignal device() const;
  /// Returns the sender.
  int rank() const { return core::produced_partner(end_); }

 private:
  friend class Chain;
  explicit ExpectedSignal(std::shared_ptr<core::ProducedEnd> end) : end_(std::move(end)) {}

  std::shared_ptr<core::ProducedEnd> end_;
};

}  // namespace tca
