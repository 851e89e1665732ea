// The published figures that the scorecard holds the model against: machines/published/*.toml, see docs/model.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tca::tool {

// What was run to get a figure: a benchmark's settings, as `with = { ... }` has them.
struct RunSettings {
  std::string machine;            // of the file, unless it says otherwise
  std::string scheme = "direct";  // direct, mpi, rma, hybrid, cuda
  std::string library;            // of the machine's MPI libraries
  std::string plane = "jk";       // of a cube: jk (block) or ik (block-stride)
  std::string memory = "gpu";     // of a ping-pong's buffers
  std::string from, to;           // gpu or host
  std::int64_t bytes = 0;
  std::int64_t n = 0;
  std::int64_t ranks = 2;
  std::int64_t gpu = 0;  // its number in the node, which says what it shares a socket with
  // APEnet+'s card, where it was another one than that of the machine file; 0: as there.
  std::int64_t engines = 0;     // DMA engines
  std::int64_t gpu_window = 0;  // bytes asked of a GPU and not yet come
  double translate_us = 0;      // of a packet's address
  bool translate_overlaps = false;
  std::int64_t element = 8;  // bytes of a number
  bool self_notify = false;  // the sender waits for its own notification as well
  bool staged = false;       // through the hosts' memories
  bool loop_back = false;    // back into the same card
  bool rate = false;         // the result is in GB/s instead of us
  // Of kernels that put by themselves, by the protocol that `library` names: one kernel for all steps, or one of a graph for
  // each; with the promises of a part, or of the whole grid; what is in rows put as it is, or packed before and unpacked after.
  std::string start = "kernel", scope = "parts";
  bool packed = false;
  std::vector<std::int64_t> extents, grid;
};

// "mpi, mvapich2-gdr-2.2, gpu 2, 8 B": what differs from the defaults.
std::string describe(const RunSettings& settings);

enum class Use { fitted, predicted, unusable };

std::string_view to_string(Use use);

struct Figure {
  std::string source;  // "P2B"
  std::string name;
  std::string run;  // "pingpong"; empty when unusable
  RunSettings with;
  std::optional<RunSettings> over;  // the figure is the ratio of the two
  std::optional<RunSettings> less;  // or their difference
  std::string x;                    // "bytes" or "n": what the points or the crossing are over; else empty
  std::string unit;
  Use use = Use::unusable;
  std::string reason, note;
  std::string place;  // FILE:LINE:COLUMN

  // One of these says what was published.
  std::vector<std::pair<std::int64_t, double>> points;
  std::vector<std::int64_t> sizes;  // of a drawing that cannot be read: where the model's curve is drawn
  std::optional<double> value, at_least, at_most;
  std::optional<double> greatest;                    // of the ratio over all x
  std::optional<std::pair<double, double>> between;  // where `with` begins to take longer than `over`
};

// In the order of the files' names. Throws Error{invalid_argument}, FILE:LINE:COLUMN first.
std::vector<Figure> read_figures(const std::filesystem::path& folder);

// The same of one file's text; `file` is for messages.
std::vector<Figure> parse_figures(std::string_view text, const std::string& file);

}  // namespace tca::tool
