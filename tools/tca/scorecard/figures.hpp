// Reads the published figures with which the scorecard compares the model: machines/published/*.toml, see
// docs/model.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tca::tool {

// How a figure was measured: a benchmark's settings, as in `with = { ... }`.
struct RunSettings {
  std::string machine;            // the file's, unless given here
  std::string scheme = "direct";  // direct, mpi, rma, hybrid, cuda
  std::string library;            // one of the machine's MPI libraries
  std::string plane = "jk";       // of a cube: jk (block) or ik (block-stride)
  std::string memory = "gpu";     // of a ping-pong's buffers
  std::string from, to;           // gpu or host
  std::int64_t bytes = 0;
  std::int64_t n = 0;
  std::string size;        // of NPB's benchmarks: the class
  std::int64_t scale = 0;  // of Graph500's
  std::int64_t ranks = 2;
  std::int64_t gpu = 0;  // the GPU's number in the node, which decides what it shares a socket with
  // APEnet+'s card, where it is not the one of the machine file; 0: as in that file.
  std::int64_t engines = 0;     // DMA engines
  std::int64_t gpu_window = 0;  // bytes requested from a GPU that have not arrived yet
  double gflops = 0;            // that a GPU sustains
  double translate_us = 0;      // for a packet's address
  bool translate_overlaps = false;
  std::int64_t element = 8;  // bytes of an array's element
  bool barrier = false;      // ranks meet after each exchange
  bool own_copy = false;     // an allgather also copies what a rank gives, out of another buffer
  bool self_notify = false;  // the sender also waits for its own notification
  bool staged = false;       // data goes through the hosts' memories
  bool staged_out = false;   // or through the sender's alone
  bool loop_back = false;    // data goes back into the same card
  bool rate = false;         // the result is in GB/s instead of us
  // For kernels that put by themselves, with the protocol that `library` names. `start`: one kernel runs all
  // steps ("kernel"), or a graph has one for each step ("graph"). `scope`: the promises of a put hold for
  // parts, or for the whole grid. `packed`: rows are packed before and unpacked after, instead of being put
  // as they are.
  std::string start = "kernel", scope = "parts";
  bool packed = false;
  std::vector<std::int64_t> extents, grid;
  std::vector<std::int64_t> lattice, domain;  // of lattice QCD: all sites, and those of a GPU
};

// Returns what differs from the defaults: "mpi, mvapich2-gdr-2.2, gpu 2, 8 B".
std::string describe(const RunSettings& settings);

enum class Use { fitted, predicted, unusable };

std::string_view to_string(Use use);

struct Figure {
  std::string source;  // such as "nakao-peach2"
  std::string name;
  std::string run;  // such as "pingpong"; empty when unusable
  RunSettings with;
  std::optional<RunSettings> over;  // the figure is the ratio `with` / `over`
  std::optional<RunSettings> less;  // or the difference `with` - `less`
  std::string x;                    // "bytes" or "n": what points or a crossing are over; otherwise empty
  std::string unit;
  Use use = Use::unusable;
  std::string reason, note;
  std::string place;  // FILE:LINE:COLUMN

  // What was published: one of the following.
  std::vector<std::pair<std::int64_t, double>> points;
  // For a drawing that cannot be read: sizes at which the model's curve is drawn.
  std::vector<std::int64_t> sizes;
  std::optional<double> value, at_least, at_most;
  std::optional<double> greatest;                    // the greatest ratio over all x
  std::optional<std::pair<double, double>> between;  // where `with` begins to take longer than `over`
};

// Returns the figures in the order of the files' names. Throws Error{invalid_argument} with a message that
// begins with FILE:LINE:COLUMN.
std::vector<Figure> read_figures(const std::filesystem::path& folder);

// Does the same for the text of one file; `file` is for messages.
std::vector<Figure> parse_figures(std::string_view text, const std::string& file);

}  // namespace tca::tool
