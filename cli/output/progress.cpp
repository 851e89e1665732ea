// A progress bar on a terminal.
#include "cli/output/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace tca::tool {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);

// Time for a launcher to pass the wiping of the bar on before stdout follows: reading stderr and stdout from
// two pipes, it keeps no order between them.
constexpr auto passed_on_within = std::chrono::milliseconds(50);

// Where TERM is not set, nothing is known of the terminal. NO_COLOR counts when it is not empty
// (no-color.org).
bool takes_escape_sequences() {
  const char *terminal = std::getenv("TERM"), *plain = std::getenv("NO_COLOR");
  return terminal != nullptr && *terminal != '\0' && std::strcmp(terminal, "dumb") != 0 &&
         (plain == nullptr || *plain == '\0');
}

void write_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

int terminal_columns() {
  if (!takes_escape_sequences()) return 0;
  if (const char* said = base::variable(terminal_columns_variable)) return std::atoi(said);
  if (!isatty(STDERR_FILENO)) return 0;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

Progress::Progress(std::string label, std::int64_t total)
    : label_(std::move(label)), total_(total), shown_(total > 0 && terminal_columns() > 0) {}

Progress::Progress(std::string label, std::chrono::duration<double> limit)
    : label_(std::move(label)), limit_(limit), shown_(limit.count() > 0 && terminal_columns() > 0) {}

Progress::~Progress() {
  if (!shown_) return;
  write_stderr("\r\033[K");
  if (!isatty(STDERR_FILENO)) std::this_thread::sleep_for(passed_on_within);
}

bool Progress::due() const { return shown_ && Clock::now() >= next_draw_; }

void Progress::update(std::int64_t done, const std::string& note) {
  if (!due()) return;
  const auto now = Clock::now();
  next_draw_ = now + interval;
  const double fraction =
      total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : (now - begin_) / limit_;
  draw(std::clamp(fraction, 0.0, 1.0), note);
}

void Progress::draw(double fraction, const std::string& note) {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::string left = fraction > 0.02 ? fmt::format("{:.0f} s left", seconds / fraction - seconds) : "";
  const std::string after =
      fmt::format(" {:3.0f} %  {}{}{}", fraction * 100, left, note.empty() ? "" : "  ", note);
  const int columns = terminal_columns();
  const int room = columns - 1 - static_cast<int>(label_.size() + after.size()) - 3;
  const int width = std::clamp(room, 0, 40);
  const int filled = static_cast<int>(fraction * width);
  std::string line = fmt::format("{} [{:#<{}}{:.<{}}]{}", label_, "", filled, "", width - filled, after);
  line.resize(std::min(line.size(), static_cast<std::size_t>(columns - 1)));
  write_stderr("\r" + line + "\033[K");
}

}  // namespace tca::tool
