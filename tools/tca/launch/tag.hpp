// Puts `[rank] ` before every line that a rank prints.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "launch/fd.hpp"

namespace tca::tool {

// Reads the ranks' output from pipes and passes it on. Never blocks: while this process's own stdout or
// stderr takes no more, the pipes stay unread, and a rank that prints too much waits as it would for a
// terminal.
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

  // Passes on what can be passed on. Returns false when the pipes held nothing more.
  bool advance();

  // Whether output has been read but not yet written.
  bool has_pending() const { return !sinks_[0].pending.empty() || !sinks_[1].pending.empty(); }

  // Returns the errno of the first output that could not be written, and so was lost, or 0.
  int failure() const { return failure_; }

  // Ends those lines that have no line end.
  void finish_lines();

 private:
  struct Source {
    Fd pipe;
    std::string tag, line;
    std::size_t sink;
  };
  struct Sink {
    int fd;
    std::string pending;
  };

  Fd add_source(std::string tag, std::size_t sink);
  bool read(Source& source);
  void write(Sink& sink);

  std::vector<Source> sources_;
  std::vector<Sink> sinks_{{STDOUT_FILENO, {}}, {STDERR_FILENO, {}}};
  int failure_ = 0;
};

}  // namespace tca::tool
