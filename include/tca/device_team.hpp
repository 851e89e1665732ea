// A DeviceTeam is a team as an accelerator sees it: where signals and values for small collectives go. It is
// passed to kernels by value.
#pragma once

#include "tca/device_chain.hpp"
#include "tca/device_window.hpp"

namespace tca {

struct DeviceTeam {
  static constexpr device::Word max_ranks = device::max_ranks;

  device::Word rank = 0, size = 1, max_values = 0;
  // `theirs` are the lines at each rank for values from this one, in two sets of `max_values`; `mine` are
  // those here, by sender. Sets alternate between steps: a rank that sends in step n + 1 has read all of n,
  // so every rank has read n - 1, which used the same set.
  device::Line* theirs[max_ranks] = {};
  device::Line* mine = nullptr;
  device::Word* step = nullptr;
  // Counts of signals: `raise` at each rank those from this one, `raised` here those from each, and `sent`
  // and `seen` how many of both were used.
  device::Word* raise[max_ranks] = {};
  device::Word* raised = nullptr;
  device::Word* sent = nullptr;
  device::Word* seen = nullptr;
  device::Patience
      patience;  // its `waiting` ends with one more: the rank, from 1 on, whose signal did not come
};

}  // namespace tca
