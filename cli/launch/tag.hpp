// Puts `[rank] ` before every line that a rank prints.
#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/launch/fd.hpp"

namespace tca::tool {

// Reads the ranks' output from pipes and passes it on. Never blocks: while this process's own stdout or
// stderr takes no more, the pipes stay unread, and a rank that prints too much waits as it would for a
// terminal.
//
// A line without an end, such as a prompt or a progress bar, is passed on when nothing has come after it for
// a moment, unless it ends with a block of the size in which programs write what they have buffered. If
// another rank prints before the line goes on, the rest of it begins a line of its own.
class TaggedOutput {
 public:
  // Adds a pipe each for stdout and stderr, and returns the ends that the rank takes.
  struct Ends {
    Fd out, err;
  };
  Ends add_rank(int rank);

  // Adds a program whose stdout is passed on as it is, and whose stderr stays its own.
  Ends add_untagged();

  void add_to(std::vector<pollfd>& polled) const;

  // Returns after how long to look again for lines without an end; nothing where there are none.
  std::optional<std::chrono::milliseconds> look_again_after() const;

  // Passes on what can be passed on. Returns false when the pipes held nothing more.
  bool advance();

  // Whether output has been read but not yet written.
  bool has_pending() const { return !sinks_[0].pending.empty() || !sinks_[1].pending.empty(); }

  // Returns the errno of the first output that could not be written, and so was lost, or 0.
  int failure() const { return failure_; }

  // Ends those lines that have no line end.
  void finish_lines();

 private:
  using Clock = std::chrono::steady_clock;
  struct Source {
    Fd pipe;
    std::string tag, line;
    std::size_t sink;
    Clock::time_point came;   // when the last part of the line did
    bool ends_block = false;  // as programs write that buffer their output
  };
  struct Sink {
    int fd;
    std::string pending;
    const Source* in_line = nullptr;  // whose line has no end yet
  };

  static std::size_t showable(const Source& source);
  Fd add_source(std::string tag, std::size_t sink);
  bool read(Source& source);
  void take_lines(Source& source);
  void show_part(Source& source);
  void put(Source& source, std::string_view text);
  void write(Sink& sink);

  std::deque<Source> sources_;  // which sinks point to
  std::vector<Sink> sinks_{{STDOUT_FILENO, {}, nullptr}, {STDERR_FILENO, {}, nullptr}};
  int failure_ = 0;
};

}  // namespace tca::tool
