// A part of a chain whose group never waits: it asks whether a step can go on, and may do other work when
// it cannot. For the fabric's own kernels, whose grids come to each call as a whole.
//
//   part.read_step();
//   while (!part.try_start(tell)) ...;   // asked until it succeeds; nothing else starts the chain meanwhile
//   part.keep_step();                    // for the next kernel; before or after the wait
//   while (!part.try_wait(tell)) ...;
//   part.acknowledge();                  // lets the partners send again
//
// A kernel may also leave after any call if it has called `keep_step`: the next one goes on with `try_start`
// where the step has not been sent, and with `try_wait` where it has. With `tell` the host learns who is
// missing.
#pragma once

#include "tca/chain.cuh"

namespace tca::cuda {

template <class ThreadGroup>
class PolledPart : public device::ChainPart<ThreadGroup> {
  using Part = device::ChainPart<ThreadGroup>;
  using Warp = device::Warp;

 public:
  using Part::read_step;

  // True once the step has been sent.
  __device__ bool try_start(bool tell) {
    if (!takes_part()) return true;
    group_.sync();
    if (!begun_) {
      begun_ = true;
      begin();
    }
    Word missing = out_.missing_ack(step_);
    if (missing == device::no_link && !out_.is_all())
      missing = device::missing_acks(chain_, step_, Warp(group_), out_.skipped());
    if (missing == device::no_link && chain_.segments_out > 0)
      missing = device::missing_permission(chain_, step_, group_);
    if (!has_all(missing, tell)) return false;
    begun_ = false;
    send();
    return true;
  }

  // True once what the step brings is in place.
  __device__ bool try_wait(bool tell) {
    if (!takes_part()) return true;
    const Warp warp(group_);
    Word missing = in_.try_receive(step_, warp);
    if (missing == device::no_link && !in_.is_all())
      missing = device::missing_packets(chain_, step_, warp, in_.skipped());
    if (missing == device::no_link && chain_.segments_in > 0)
      missing = device::missing_stores(chain_, step_, group_);
    if (!has_all(missing, tell)) return false;
    good_ = group_.all(in_.is_all() || device::receive_packets(chain_, step_, warp, in_.skipped()));
    if (good_ && chain_.segments_in > 0) good_ = device::receive_stores(chain_, step_, group_);
    return good_;
  }

  __device__ void acknowledge() const { in_.acknowledge(step_, Warp(group_)); }

  // A step that has begun but has not been sent does not count.
  __device__ void keep_step() { Part::keep_step(step_ - begun_); }

 protected:
  using Part::Part;

  using Part::begin;
  using Part::chain_;
  using Part::good_;
  using Part::group_;
  using Part::in_;
  using Part::out_;
  using Part::receives_own_packet_;
  using Part::send;
  using Part::sends_own_packet_;
  using Part::step_;
  using Part::takes_part;

  // Between the first `try_start` of a step and the one that sends it.
  bool begun_ = false;

 private:
  __device__ bool has_all(Word missing, bool tell) {
    if (tell && missing != device::no_link) {
      device::store_relaxed(chain_.limits.waiting + missing, step_);
      if (missing == gone_) device::end_wait_in_vain(chain_.limits);
      gone_ = device::is_gone(chain_.limits, missing) ? missing : device::no_link;
    }
    return group_.all(good_ && missing == device::no_link);
  }

  Word gone_ = device::no_link;  // for whom this lane waited when it last told, if that was gone
};

}  // namespace tca::cuda
