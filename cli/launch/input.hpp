// Passes this process's stdin on to ranks.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/fd.hpp"

namespace tca::tool {

// Which rank reads stdin: its number, or one of these.
inline constexpr int nobody = -1, everybody = -2;

// A file or a pipe is one rank's stdin as it is. A terminal is read here, and a line goes on through a pipe,
// because ranks have a process group of their own: in the terminal's foreground, where reading is allowed,
// they would get Ctrl-C and Ctrl-Z in place of this process. The terminal is read only while this process is
// in the foreground itself and once the rank has taken what came before, so that the shell still gets what is
// typed for it.
class Input {
 public:
  explicit Input(int reader);

  // Returns what a rank takes for its stdin: an open end of a pipe, this process's own stdin, or nothing.
  struct End {
    Fd pipe;
    bool is_own = false;
  };
  End add_rank(int rank);

  void add_to(std::vector<pollfd>& polled) const;

  // Returns after how long to look again even if nothing happens; nothing for never.
  std::optional<std::chrono::milliseconds> look_again_after() const;

  // Passes on what can be passed on. Never blocks.
  void advance();

 private:
  struct Pipe {
    Fd fd;
    std::string pending;
  };
  bool has_ended() const { return pipes_.empty(); }
  bool may_read() const;
  void read();
  void write(Pipe& pipe);

  int reader_;
  bool is_terminal_;
  std::vector<Pipe> pipes_;  // those of the ranks that still read
};

}  // namespace tca::tool
