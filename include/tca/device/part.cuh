// A step of a committed chain on a GPU: everything that runs one is built on ChainPart, whether it waits (a
// program's kernel, a kernel on a stream) or only polls (an attempt, the resident engine).
#pragma once

#include "tca/device/groups.cuh"
#include "tca/device/ll.hpp"
#include "tca/device/stores.hpp"

namespace tca::device {

// A part of a chain, and how far its group has come with it. Every lane of the group makes every call:
// `read_step` first, any number of steps, and `keep_step` last. A step is one of
//
//   part.start();                        // waits for what it needs
//   part.wait();
//
//   while (!part.try_start(tell)) ...;   // asked until it succeeds; nothing else starts the chain meanwhile
//   part.keep_step();                    // for the next kernel; before or after the wait
//   while (!part.try_wait(tell)) ...;
//   part.acknowledge();                  // lets the partners send again
//
// where the second never waits, so that its group may do other work when the step cannot proceed. It is for
// kernels whose grids reach each call as a whole. Such a kernel may also leave after any call if it has
// called `keep_step`: the next one continues with `try_start` if the step has not been sent, and with
// `try_wait` if it has. With `tell` the host learns which rank is missing.
//
// If the part `has_only_own_packets`, `try_start_own_packets` and `try_wait_own_packets` may replace any of
// these polls.
template <class ThreadGroup>
class ChainPart {
  using Unit = typename UnitOf<ThreadGroup>::Type;

 public:
  // `with_copy_engine`: the host has a copy engine move the puts that are meant for one. `receives_later`: see
  // `prepare_to_receive`.
  __device__ ChainPart(const DeviceChain& chain, const ThreadGroup& group, PartsStart starts,
                       bool with_copy_engine = false, bool receives_later = false)
      : chain_(chain),
        group_(group),
        out_(chain.ll_out, chain.chunks_out, Unit(group_)),
        sends_own_packet_(
            keep_in_register(out_.is_all() && chain.segments_out == 0 && chain.readies.count == 0)),
        starts_(starts),
        with_copy_engine_(with_copy_engine) {
    if (!receives_later) set_up_receiving();
  }
  ChainPart(const ChainPart&) = delete;

  // Finds out where to receive, for a part that `receives_later`: once it has sent, since that takes as
  // long as what it awaits is in flight. Called after `read_step` and before a wait.
  __device__ void prepare_to_receive() {
    if (!takes_part()) return;
    set_up_receiving();
    in_.begin_after(step_ - 1);
  }

  // Takes over the number of finished steps from the kernel that ran the chain last.
  __device__ void read_step() {
    if (!takes_part()) return;
    step_ = chain_.steps[group_.part()];
    out_.begin_after(step_);
    in_.begin_after(step_);
  }

  // Leaves the number of finished steps to the next kernel that runs the chain. A step that has begun but has
  // not been sent does not count.
  __device__ void keep_step() const {
    if (takes_part()) keep_step(step_ - begun_, group_.parts());
  }
  // The same after a step has been sent, if only the first `keepers` parts call it: they also keep the
  // entries of those that have nothing to do, since the next kernel to run the chain may do so with any
  // number of parts.
  __device__ void keep_sent_step(Word keepers) const { keep_step(step_, keepers); }

  // Sends what any lane of the group has stored before it.
  __device__ void start() {
    if (!takes_part()) return;
    group_.sync();
    begin();
    send();
  }

  // What arrived can be read by every lane of the group.
  __device__ bool wait() {
    if (!takes_part()) return good_;
    note_look(group_, step_, true);
    good_ = good_ && in_.receive(chain_.limits, step_, Unit(group_));
    if (receives_own_packet_ == 0) receive_others();
    note_end(group_, step_);
    return good_;
  }

  // True once the step has been sent.
  __device__ bool try_start(bool tell) {
    if (!takes_part()) return true;
    group_.sync();
    if (!begun_) {
      begun_ = true;
      begin();
    }
    Word missing = out_.missing_ack(step_);
    if (missing == no_link && !out_.is_all())
      missing = missing_acks(chain_, step_, Unit(group_), out_.skipped());
    if (missing == no_link && chain_.segments_out > 0) missing = missing_permission(chain_, step_, group_);
    if (!has_all(missing, tell)) return false;
    begun_ = false;
    send();
    return true;
  }

  // True once everything that the step delivers is in place.
  __device__ bool try_wait(bool tell) {
    if (!takes_part()) return true;
    const Unit warp(group_);
    note_look(group_, step_, false);
    Word missing = in_.try_receive(step_, warp);
    if (missing == no_link && !in_.is_all())
      missing = chain_.counts != 0 ? missing_packets<true>(chain_, step_, warp, in_.skipped())
                                   : missing_packets(chain_, step_, warp, in_.skipped());
    if (missing == no_link && chain_.segments_in > 0) missing = missing_stores(chain_, step_, group_);
    if (missing != no_link) note_missing(group_, missing, step_);
    if (!has_all(missing, tell)) return false;
    good_ = group_.all(in_.is_all() || receive_chunks());
    if (good_ && chain_.segments_in > 0) good_ = receive_stores(chain_, step_, group_);
    note_end(group_, step_);
    return good_;
  }

  __device__ void acknowledge() const { in_.acknowledge(step_, Unit(group_)); }

  // Whether everything that this group, which is a warp, has of the chain is one packet per lane each way.
  // The calls below then take fewer instructions.
  __device__ bool has_only_own_packets() const { return sends_own_packet_ != 0 && receives_own_packet_ != 0; }
  __device__ bool try_start_own_packets() {
    if (!begun_) ++step_;
    begun_ = !group_.all(out_.missing_ack(step_) == no_link);
    if (!begun_) out_.send_now(step_, Unit(group_));
    return !begun_;
  }
  __device__ bool try_wait_own_packets() { return in_.try_receive(step_, Unit(group_)) == no_link; }

  // Whether the step has taken so long that the host would like to know who is missing, well before it is
  // given up.
  __device__ bool is_late(std::uint64_t ns) const {
    constexpr std::uint64_t late_ns = 10'000'000;
    return ns > min(late_ns, chain_.limits.limit_ns / 2);
  }
  // Gives up the step if it has taken `ns` and may take no longer, a partner is gone or the world has met
  // an error. True once it has been given up.
  __device__ bool is_over(std::uint64_t ns) {
    const WaitLimits& limits = chain_.limits;
    if (ns > limits.limit_ns && group_.lane() == 0) end_wait_in_vain(limits);
    const bool over =
        group_.lane() == 0 && (load_relaxed(limits.over) != 0 || load_relaxed(limits.abort) != 0);
    good_ = good_ && !group_.any(over);
    return !good_;
  }

  __device__ bool good() const { return good_; }
  __device__ Word step() const { return step_; }

 protected:
  const DeviceChain& chain_;
  ThreadGroup group_;
  OwnPacket out_, in_;
  Word step_ = 0;
  // Whether this warp's own packets are all that the step sends from here, and all that it delivers here
  // (for a group of one warp): a small message then passes one branch for all the rest.
  Flag sends_own_packet_, receives_own_packet_ = 0;
  PartsStart starts_;
  bool with_copy_engine_;
  bool good_ = true;

 private:
  __device__ void set_up_receiving() {
    in_ = OwnPacket(chain_.ll_in, chain_.chunks_in, Unit(group_));
    receives_own_packet_ =
        keep_in_register(in_.is_all() && chain_.segments_in == 0 && group_.lanes() == Warp::size);
  }

  // Parts beyond the most that a chain is cut into have nothing to do.
  __device__ bool takes_part() const { return group_.part() < group_.parts(); }

  __device__ void keep_step(Word finished, Word keepers) const {
    group_.sync();  // every lane has read the number
    for (Word e = group_.part() + group_.lane() * keepers; e < max_parts; e += group_.lanes() * keepers) {
      chain_.steps[e] = finished;
    }
  }

  // Begins the next step. It also tells the partners that this part is done reading what arrived in the
  // step before.
  __device__ void begin() {
    ++step_;
    if (sends_own_packet_ != 0 || chain_.readies.count == 0) return;
    good_ = good_ && post_ready(chain_, step_, group_, starts_);
  }

  __device__ void send() {
    note_start(group_, step_);
    good_ = good_ && out_.send(chain_.limits, step_, Unit(group_));
    if (sends_own_packet_ == 0) send_others();
  }
  __device__ void send_others() {
    if (!out_.is_all()) good_ = good_ && send_chunks();
    if (chain_.segments_out > 0) good_ = group_.all(good_) && send_segments();
  }
  // Code that knows of lengths is compiled separately.
  __device__ bool send_chunks() {
    return chain_.counts != 0 ? send_packets<true>(chain_, step_, Unit(group_), out_.skipped())
                              : send_packets(chain_, step_, Unit(group_), out_.skipped());
  }
  __device__ bool send_segments() {
    return chain_.counts != 0 ? send_counted_stores(chain_, step_, group_, with_copy_engine_)
                              : send_stores(chain_, step_, group_, with_copy_engine_);
  }
  __device__ bool receive_chunks() {
    return chain_.counts != 0 ? receive_packets<true>(chain_, step_, Unit(group_), in_.skipped())
                              : receive_packets(chain_, step_, Unit(group_), in_.skipped());
  }
  __device__ void receive_others() {
    if (!in_.is_all()) good_ = good_ && receive_chunks();
    if (group_.lanes() > Warp::size) good_ = group_.all(good_);  // a warp alone has voted as it received
    if (good_ && chain_.segments_in > 0) good_ = receive_stores(chain_, step_, group_);
  }

  __device__ bool has_all(Word missing, bool tell) {
    if (tell && missing != no_link) {
      store_relaxed(chain_.limits.waiting + missing, step_);
      if (missing == gone_) end_wait_in_vain(chain_.limits);
      gone_ = is_gone(chain_.limits, missing) ? missing : no_link;
    }
    return group_.all(good_ && missing == no_link);
  }

  // Between the first `try_start` of a step and the one that sends it.
  bool begun_ = false;
  Word gone_ = no_link;  // for whom this lane waited when it last told, if that was gone
};

// The part of a chain that the calling block carries, as it is seen.
template <class View>
using PartOf = ChainPart<typename BlockFor<View>::Type>;

}  // namespace tca::device
