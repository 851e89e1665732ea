// Puts `[rank] ` before every line that a rank prints.
#include "cli/launch/tag.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/system/limits.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

constexpr std::size_t longest_line = 64 * 1024;  // a longer line is cut, so that it cannot fill the memory
// A pipe that poll() reports as writable takes this much at once.
constexpr std::size_t unblocked_write = 4096;
constexpr ssize_t block = 4096;
// After so long a line without an end is taken for a prompt. Programs that print a line in pieces are faster.
constexpr std::chrono::milliseconds quiet{100};

}  // namespace

// Returns how much of a line without an end can be shown. For a return at its end, what comes next tells
// whether it belongs to the line end.
std::size_t TaggedOutput::showable(const Source& source) {
  return source.ends_block ? 0 : source.line.size() - (source.line.ends_with('\r') ? 1 : 0);
}

TaggedOutput::Ends TaggedOutput::add_rank(int rank) {
  Ends ends;
  const std::string tag = fmt::format("[{}] ", rank);
  ends.out = add_source(tag, 0);
  ends.err = add_source(tag, 1);
  return ends;
}

TaggedOutput::Ends TaggedOutput::add_untagged() {
  Ends ends;
  ends.out = add_source({}, 0);
  return ends;
}

Fd TaggedOutput::add_source(std::string tag, std::size_t sink) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(Errc::out_of_memory,
                fmt::format("no pipe for the ranks' output: {}; or start fewer ranks, or leave out --tag",
                            base::limit_met(errno)));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  sources_.push_back({Fd(ends[0]), std::move(tag), {}, sink, {}, false});
  return Fd(ends[1]);
}

void TaggedOutput::add_to(std::vector<pollfd>& polled) const {
  for (const Sink& sink : sinks_)
    if (!sink.pending.empty()) polled.push_back({sink.fd, POLLOUT, 0});
  for (const Source& source : sources_)
    if (source.pipe.is_open() && sinks_[source.sink].pending.empty())
      polled.push_back({source.pipe.get(), POLLIN, 0});
}

std::optional<std::chrono::milliseconds> TaggedOutput::look_again_after() const {
  std::optional<std::chrono::milliseconds> soonest;
  for (const Source& source : sources_) {
    if (showable(source) == 0) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(source.came + quiet - Clock::now());
    soonest = std::max(std::chrono::milliseconds(0), std::min(left, soonest.value_or(left)));
  }
  return soonest;
}

bool TaggedOutput::advance() {
  bool more = false;
  for (Source& source : sources_) {
    const bool is_held_up = sinks_[source.sink].pending.size() >= longest_line;
    if (source.pipe.is_open() && (is_held_up || read(source)))
      more = true;
    else
      show_part(source);
  }
  for (Sink& sink : sinks_) write(sink);
  return more;
}

bool TaggedOutput::read(Source& source) {
  std::array<char, 16 * 1024> buffer;
  const ssize_t got = ::read(source.pipe.get(), buffer.data(), buffer.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) source.pipe.close();
  if (got <= 0) return false;
  std::string& pending = sinks_[source.sink].pending;
  if (source.tag.empty()) {
    pending.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }
  source.line.append(buffer.data(), static_cast<std::size_t>(got));
  source.came = Clock::now();
  source.ends_block = got % block == 0;
  take_lines(source);
  return true;
}

void TaggedOutput::take_lines(Source& source) {
  std::size_t begin = 0;
  for (std::size_t end; (end = source.line.find('\n', begin)) != std::string::npos; begin = end + 1)
    put(source, std::string_view(source.line).substr(begin, end + 1 - begin));
  source.line.erase(0, begin);
  if (source.line.size() < longest_line) return;
  put(source, source.line + "\n");
  source.line.clear();
}

void TaggedOutput::show_part(Source& source) {
  const std::size_t part = showable(source);
  if (part == 0 || Clock::now() < source.came + quiet) return;
  put(source, std::string_view(source.line).substr(0, part));
  source.line.erase(0, part);
}

// A return takes the terminal back to the tag, which is then printed again.
void TaggedOutput::put(Source& source, std::string_view text) {
  Sink& sink = sinks_[source.sink];
  if (sink.in_line != &source) {
    if (sink.in_line != nullptr) sink.pending += '\n';
    sink.pending += source.tag;
  }
  for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
    end = std::min(text.find('\r', begin), text.size() - 1) + 1;
    sink.pending += text.substr(begin, end - begin);
    if (text[end - 1] == '\r' && text.substr(end) != "\n") sink.pending += source.tag;
  }
  sink.in_line = text.back() == '\n' ? nullptr : &source;
}

void TaggedOutput::write(Sink& sink) {
  while (!sink.pending.empty()) {
    pollfd polled{sink.fd, POLLOUT, 0};
    if (poll(&polled, 1, 0) <= 0) return;
    const ssize_t put = ::write(sink.fd, sink.pending.data(), std::min(sink.pending.size(), unblocked_write));
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // When nobody reads the output any more, SIGPIPE has ended this launcher by now, and the ranks with it. A
    // launcher for which SIGPIPE is ignored drops the output here.
    if (put < 0 && failure_ == 0) failure_ = errno;
    sink.pending.erase(0, put < 0 ? std::string::npos : static_cast<std::size_t>(put));
  }
}

void TaggedOutput::finish_lines() {
  for (Source& source : sources_) {
    if (!source.line.empty()) put(source, source.line + "\n");
    source.line.clear();
  }
  for (Sink& sink : sinks_) {
    if (sink.in_line != nullptr) sink.pending += '\n';
    sink.in_line = nullptr;
  }
}

}  // namespace tca::tool
