// What the PEs of a team do together in kernels: barriers, and sums and broadcasts of few values, a step each.
//
// The places are a team's (tca/device/team.hpp), and so are the rules: in every step each PE sends a packet at least to each
// other one and waits for one from each, and two sets of places take turns. A PE that sends in step n + 1 has read all of step
// n; so everybody has read step n - 1, whose places step n + 1 takes.
//
// `Group` is who makes the call: a thread, a warp or a block on a GPU, threads on the host (see tca/device/stores.hpp).
#pragma once

#include <type_traits>

#include "tca/device/team_packets.hpp"

namespace tca::nvshmem {

using device::Word;

// Every call returns `nobody` where all PEs have come. Otherwise lanes that know return the PE that has not, and the others
// `somebody`.
inline constexpr Word nobody = device::no_link, somebody = nobody - 1;

// A wait of some microseconds, which keeps nothing but a count: what takes longer goes on out of line with
// a BoundedWait, so that a call that is quick has few registers to save.
class ShortWait {
 public:
  TCA_DEVICE bool keep_polling(Word) { return ++polls_ < polls; }

 private:
#ifdef __CUDA_ARCH__
  static constexpr Word polls = 64;
#else
  static constexpr Word polls = 8;
#endif
  Word polls_ = 0;
};

template <class Group>
class Meeting {
 public:
  // Every lane makes it, and every call, with the same arguments.
  TCA_DEVICE Meeting(const DeviceTeam& team, const Group& group) : team_(team), group_(group) {
    group_.sync();  // what the lanes have stored is to be sent, and the step before has ended
    step_ = *team.step + 1;
  }

  // What any lane of any PE has stored or knows before it is there for all behind it.
  TCA_DEVICE Word barrier() {
    // Releases: what the other lanes have stored came to this one by the group's barrier.
    if (group_.lane() < team_.size) device::fence_system();
    for (Word pe = group_.lane(); pe < team_.size; pe += group_.lanes())
      if (pe != team_.rank) send(pe, 0, 0);
    Word missing = nobody;
    await_lanes_pes<ShortWait>(missing);
    if (!group_.all(missing == nobody)) return barrier_patiently(team_, group_, step_);
    return end();
  }

  // Adds up `count` values, at most those of the team, in the order of the PEs: all get the same bits.
  template <class T>
  TCA_DEVICE Word sum(T* to, const T* from, Word count) {
    for (Word v = group_.lane(); v < count; v += group_.lanes()) send_to_all(v, device::bits_of(from[v]));
    bool done = group_.lane() >= count;
    if (count <= group_.lanes()) {
      ShortWait waiting;
      Word missing = nobody;
      done = done || add_up(to, from, group_.lane(), waiting, missing);
      if (group_.all(done)) return end();
    }
    return sum_patiently(team_, group_, step_, to, from, count, done);
  }

  // Gives everybody the `bytes` of the root, at most 8 for each value of the team.
  TCA_DEVICE Word broadcast(std::byte* to, const std::byte* from, Word bytes, Word root) {
    const Word words = (bytes + 7) / 8;
    Word missing = nobody;
    if (team_.rank == root) {
      for (Word w = group_.lane(); w < words || w == 0; w += group_.lanes()) {
        const std::uint64_t word = piece(from, bytes, w);
        send_to_all(w, word);
        store_piece(to, bytes, w, word);
      }
    } else {
      if (group_.lane() == 0) send_to_all(0, 0);
      for (Word w = group_.lane(); w < words; w += group_.lanes())
        if (await_one(root, w, missing)) store_piece(to, bytes, w, box(root, w)->read_once().data());
    }
    // The others' packets say that they have read the step before.
    await_lanes_pes<device::BoundedWait>(missing);
    return end(missing);
  }

 private:
  TCA_DEVICE Meeting(const DeviceTeam& team, const Group& group, Word step)
      : team_(team), group_(group), step_(step) {}

  static TCA_DEVICE_APART Word barrier_patiently(const DeviceTeam& team, Group group, Word step) {
    Meeting same(team, group, step);
    Word missing = nobody;
    same.await_lanes_pes<device::BoundedWait>(missing);
    return same.end(missing);
  }
  // `done` says that this lane's first value is there: then `from` may have it no longer.
  template <class T>
  static TCA_DEVICE_APART Word sum_patiently(const DeviceTeam& team, Group group, Word step, T* to,
                                             const T* from, Word count, bool done) {
    Meeting same(team, group, step);
    Word missing = nobody;
    for (Word v = group.lane() + (done ? group.lanes() : 0); v < count; v += group.lanes()) {
      device::BoundedWait waiting(team.limits, step);
      if (!same.add_up(to, from, v, waiting, missing)) break;
    }
    return same.end(missing);
  }

  // Adds a value of all PEs up; false where one has not come.
  template <class T, class Waiting>
  TCA_DEVICE bool add_up(T* to, const T* from, Word v, Waiting& waiting, Word& missing) const {
    const T own = from[v];
    T total{};
    for (Word first = 0; first < team_.size; first += device::packets_at_once) {
      device::Packet got[device::packets_at_once];
      if (!await(first, v, waiting, missing, got)) return false;
      TCA_UNROLL
      for (Word k = 0; k < device::packets_at_once; ++k) {
        if (first + k >= team_.size) break;
        const T value = first + k == team_.rank ? own : device::value_of<T>(got[k].data());
        total = first + k == 0 ? value : total + value;
      }
    }
    to[v] = total;
    return true;
  }

  TCA_DEVICE const device::Packet* box(Word from, Word place) const {
    return team_.mine + static_cast<std::size_t>((from * 2 + step_ % 2) * team_.max_values + place);
  }
  TCA_DEVICE void send(Word to, Word place, std::uint64_t data) const {
    (team_.theirs[to] + static_cast<std::size_t>(step_ % 2 * team_.max_values + place))
        ->write(device::Packet::of(data, step_));
  }
  // It begins with the PE after this one, so that not all send to the same one.
  TCA_DEVICE void send_to_all(Word place, std::uint64_t data) const {
    for (Word pe = team_.rank + 1; pe < team_.size; ++pe) send(pe, place, data);
    for (Word pe = 0; pe < team_.rank; ++pe) send(pe, place, data);
  }

  // Waits for the same place of a few PEs from `first` on, whose packets are all asked for at once: one after
  // the other they would take a trip to the L2 each.
  template <class Waiting>
  TCA_DEVICE bool await(Word first, Word place, Waiting& waiting, Word& missing,
                        device::Packet (&got)[device::packets_at_once]) const {
    for (;;) {
      Word late = nobody;
      TCA_UNROLL
      for (Word k = 0; k < device::packets_at_once; ++k) {
        const Word pe = first + k;
        if (pe >= team_.size || pe == team_.rank) continue;
        got[k] = box(pe, place)->read_once();
        if (!got[k].carries(step_)) late = pe;
      }
      if (late == nobody) return true;
      if (waiting.keep_polling(late)) continue;
      missing = late;
      return false;
    }
  }
  // Waits for a packet of one PE, whose data the caller reads again. The load that finds it acquires, in the
  // same trip; a fence behind it would take longer than the trip.
  template <class Waiting = device::BoundedWait>
  TCA_DEVICE bool await_one(Word pe, Word place, Word& missing) const {
    if (pe == team_.rank || missing != nobody) return missing == nobody;
    Waiting waiting = make_wait<Waiting>();
    while (!box(pe, place)->read_acquire().carries(step_)) {
      if (waiting.keep_polling(pe)) continue;
      missing = pe;
      return false;
    }
    return true;
  }

  template <class Waiting>
  TCA_DEVICE void await_lanes_pes(Word& missing) const {
    for (Word pe = group_.lane(); pe < team_.size; pe += group_.lanes()) await_one<Waiting>(pe, 0, missing);
  }
  template <class Waiting>
  TCA_DEVICE Waiting make_wait() const {
    if constexpr (std::is_same_v<Waiting, ShortWait>) {
      return {};
    } else {
      return {team_.limits, step_};
    }
  }

  static TCA_DEVICE std::uint64_t piece(const std::byte* from, Word bytes, Word word) {
    std::uint64_t data = 0;
    for (Word b = 0; b < 8 && word * 8 + b < bytes; ++b)
      data |= std::uint64_t{static_cast<std::uint8_t>(from[word * 8 + b])} << (8 * b);
    return data;
  }
  static TCA_DEVICE void store_piece(std::byte* to, Word bytes, Word word, std::uint64_t data) {
    for (Word b = 0; b < 8 && word * 8 + b < bytes; ++b)
      to[word * 8 + b] = static_cast<std::byte>(static_cast<std::uint8_t>(data >> (8 * b)));
  }

  // The next step of this team begins behind the barrier of its group.
  TCA_DEVICE Word end() const {
    if (group_.lane() == 0) *team_.step = step_;
    return nobody;
  }
  TCA_DEVICE Word end(Word missing) const {
    const bool good = group_.all(missing == nobody);
    end();
    if (good) return nobody;
    return missing == nobody ? somebody : missing;
  }

  const DeviceTeam& team_;
  const Group& group_;
  Word step_ = 0;
};

}  // namespace tca::nvshmem
