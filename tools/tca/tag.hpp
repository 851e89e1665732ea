// Puts `[rank] ` before every line that a rank prints.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "fd.hpp"

namespace tca::tool {

// Reads the ranks' output from pipes and writes it on. Never blocks: while our own stdout or stderr takes no
// more, the pipes stay unread, and a rank that prints too much waits as it would for a terminal.
class TaggedOutput {
 public:
  // One pipe each for stdout and stderr; the rank takes the ends that are returned.
  struct Ends {
    Fd out, err;
  };
  Ends add_rank(int rank);

  // The same for a program whose stdout is only passed on, as it comes; its stderr stays its own.
  Ends add_untagged();

  void add_to(std::vector<pollfd>& polled) const;

  // Moves on what can be moved; false when the pipes held nothing more.
  bool advance();

  // What was read but not yet written, once every rank has ended.
  bool has_pending() const { return !sinks_[0].pending.empty() || !sinks_[1].pending.empty(); }

  // The first errno with which some of it could not be written, which is lost then; or 0.
  int failure() const { return failure_; }

  // Ends lines that were left without a line end.
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
