// Which calls the library serves, so that they can be left to MPI instead, and how OPENTCA_MPI_DENY and `tca mpi --deny` name them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "mpi/p2p/names.hpp"

namespace tca::interposer {

inline constexpr std::array<std::string_view, 12> served_collectives = {"Barrier",
                                                                        "Bcast",
                                                                        "Reduce",
                                                                        "Allreduce",
                                                                        "Allgather",
                                                                        "Alltoall",
                                                                        "Reduce_scatter_block",
                                                                        "Neighbor_allgather",
                                                                        "Neighbor_allgatherv",
                                                                        "Neighbor_alltoall",
                                                                        "Neighbor_alltoallv",
                                                                        "Neighbor_alltoallw"};

constexpr char small(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr bool is_same_word(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, small, small);
}

// Returns the name without MPI_ and without the ending of large counts: such a call goes the way of the other, with which ranks may
// mix it.
constexpr std::string_view plain(std::string_view name) {
  if (is_same_word(name.substr(0, 4), "MPI_")) name.remove_prefix(4);
  if (name.size() > 2 && is_same_word(name.substr(name.size() - 2), "_c")) name.remove_suffix(2);
  return name;
}

constexpr bool is_same_call(std::string_view one, std::string_view other) {
  return is_same_word(plain(one), plain(other));
}

constexpr bool is_served(std::string_view name) {
  const auto is_named = [&](std::string_view call) { return is_same_call(call, name); };
  return std::ranges::any_of(served_collectives, is_named) || std::ranges::any_of(message_calls, is_named);
}

// Returns the names in a list with commas.
inline std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  for (std::size_t end = 0; !list.empty(); list.remove_prefix(std::min(end + 1, list.size()))) {
    end = std::min(list.find_first_of(", "), list.size());
    if (end > 0) names.push_back(list.substr(0, end));
  }
  return names;
}

// Returns those that name no call which is served.
inline std::vector<std::string_view> unserved_in(std::string_view list) {
  std::vector<std::string_view> names = names_in(list);
  std::erase_if(names, is_served);
  return names;
}

}  // namespace tca::interposer
