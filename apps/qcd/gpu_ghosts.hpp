// Where the halves of spinors that cross between ranks are stored and found.
//
// For steps that the host starts: in the window whose slots chains send (faces.hpp). Group by group, unit u of slot k lies at
// (u count + k) units.
//
// For a kernel that stays: as lines, 8 bytes of data and the number of the exchange in one 16-byte store, straight into the
// neighbour's memory by the thread that has the half, and polled there by the thread that needs it. No barrier of the grid
// stands between the sender's arithmetic and its stores, nor between arrival and use; a chain carried by the grid would need
// both, because it does not tell which bytes belong to which block.
//
// No line is overwritten before it has been used, though nobody acknowledges any. Exchanges are of even and odd sites in turn, in
// lines of their own, and the two ends of a link between ranks send to each other: who sends site x a second time has, in
// between, used what its neighbour y across the face sent, and y sent that only after it had used x's first half. Only between
// solves does one parity follow itself, and there nobody uses what was sent last.
#pragma once

#include "qcd/gpu_site.hpp"
#include "tca/device/patience.hpp"

namespace tca::qcd {

// Of the window: what arrives, or what goes out.
template <class T>
struct WindowGhosts {
  const T* ghosts = nullptr;

  TCA_DEVICE Half<T> half(const Ground<T>& ground, Word direction, Word slot, const Stage<T>& stage,
                          SiteThread&) const {
    // What arrives has the parity of the field that is read.
    const FaceGroup& face = ground.faces[stage.to_odd ? 0 : 1][direction];
    const T* const group = ghosts + static_cast<std::size_t>(face.begin) * half_reals;
    Half<T> half;
    TCA_UNROLL
    for (Word a = 0; a < 3; ++a) half.colour[a] = four_at(group, face.count, slot - face.begin, a);
    return half;
  }
};

template <class T>
struct WindowSink {
  T* outgoing = nullptr;

  TCA_DEVICE void put(const FaceGroup& face, Word slot, const Half<T>& half) const {
    T* const group = outgoing + static_cast<std::size_t>(face.begin) * half_reals;
    TCA_UNROLL
    for (Word a = 0; a < 3; ++a) put_four(group, face.count, slot - face.begin, a, half.colour[a]);
  }
};

template <class T>
inline constexpr Word half_lines = half_reals * sizeof(T) / 8;

// The lines of all ranks that one has to do with, on the device.
template <class T>
struct LineRoom {
  device::Line* own = nullptr;
  device::Line* theirs[8] = {};  // by direction
  Word* exchanges = nullptr;     // how many there have been; kept between kernels

  static constexpr std::size_t lines(std::size_t slots) { return slots * half_lines<T>; }
};

template <class T>
struct LineGhosts {
  const LineRoom<T>& room;
  const device::Patience& patience;
  Word exchange;

  // Zeros once it has given up.
  TCA_DEVICE Half<T> half(const Ground<T>& ground, Word direction, Word slot, const Stage<T>& stage,
                          SiteThread& thread) const {
    const FaceGroup& face = ground.faces[stage.to_odd ? 0 : 1][direction];
    const device::Line* const from =
        room.own + static_cast<std::size_t>(face.begin) * half_lines<T> + (slot - face.begin);
    device::Waiting waiting(patience, exchange);
    device::Line lines[half_lines<T>];
    while (thread.good) {
      // All of them are asked for before any is looked at: one trip to the L2.
      TCA_UNROLL
      for (Word l = 0; l < half_lines<T>; ++l) lines[l] = device::load_line(from + l * face.count);
      bool all = true;
      TCA_UNROLL
      for (Word l = 0; l < half_lines<T>; ++l) all = all && device::carries(lines[l], exchange);
      if (all) break;
      thread.good = waiting.goes_on(face.neighbour);
    }
    std::uint64_t data[half_lines<T>];
    TCA_UNROLL
    for (Word l = 0; l < half_lines<T>; ++l) data[l] = thread.good ? device::data_of(lines[l]) : 0;
    Half<T> half;
    std::memcpy(&half, data, sizeof half);
    return half;
  }
};

template <class T>
struct LineSink {
  const LineRoom<T>& room;
  Word exchange;

  TCA_DEVICE void put(const FaceGroup& face, Word slot, const Half<T>& half) const {
    device::Line* const to =
        room.theirs[face.direction] + static_cast<std::size_t>(face.to) * half_lines<T> + (slot - face.begin);
    std::uint64_t data[half_lines<T>];
    std::memcpy(data, &half, sizeof half);
    TCA_UNROLL
    for (Word l = 0; l < half_lines<T>; ++l)
      device::store_line(to + l * face.count, device::make_line(data[l], exchange));
  }
};

}  // namespace tca::qcd
