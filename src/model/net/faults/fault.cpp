#include "model/net/faults/fault.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/fail.hpp"
#include "base/text/duration.hpp"

namespace tca::net {

namespace {

std::optional<std::uint32_t> read_node(std::string_view text) {
  std::uint32_t node = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return node;
}

// Reads "20us" and the like.
std::optional<des::Time> read_time(std::string_view text) {
  const std::optional<double> us = base::read_microseconds(text);
  constexpr double most_us = 1e9;  // a quarter of an hour, far below the end of the clock
  if (!us || *us > most_us) return std::nullopt;
  return des::from_us(*us);
}

std::optional<Fault> read_fault(std::string_view text) {
  const std::size_t colon = text.find(':'), at = text.find('@');
  if (colon == text.npos || at == text.npos || at < colon) return std::nullopt;
  const std::string_view kind = text.substr(0, colon), where = text.substr(colon + 1, at - colon - 1);
  const std::optional<des::Time> time = read_time(text.substr(at + 1));
  if (!time) return std::nullopt;
  if (kind == "cable") {
    const std::size_t dash = where.find('-');
    if (dash == where.npos) return std::nullopt;
    const auto one = read_node(where.substr(0, dash)), other = read_node(where.substr(dash + 1));
    if (!one || !other || *one == *other) return std::nullopt;
    return Fault{Fault::Kind::cable, std::min(*one, *other), std::max(*one, *other), *time};
  }
  const std::optional<std::uint32_t> node = read_node(where);
  if (!node || (kind != "hub" && kind != "host")) return std::nullopt;
  return Fault{kind == "hub" ? Fault::Kind::hub : Fault::Kind::host, *node, *node, *time};
}

}  // namespace

std::vector<Fault> read_faults(std::string_view text, std::string_view asker) {
  std::vector<Fault> faults;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    const std::optional<Fault> fault = read_fault(word);
    if (!fault) {
      base::fail(Errc::invalid_argument,
                 "{}: '{}' is no fault; write cable:0-1@20us (between the hubs of two nodes), hub:3@50us or "
                 "host:2@1ms, several with commas between them, and times in ns, us, ms or s up to 1000 s",
                 asker, word);
    }
    faults.push_back(*fault);
  }
  if (faults.size() > most_faults)
    base::fail(Errc::invalid_argument, "{}: {} faults; {} are the most", asker, faults.size(), most_faults);
  return faults;
}

std::string name_of(const Fault& fault) {
  if (fault.kind == Fault::Kind::cable) return fmt::format("cable {}-{}", fault.node, fault.other);
  return fmt::format("{} {}", fault.kind == Fault::Kind::hub ? "hub" : "host", fault.node);
}

std::string describe(const Fault& fault) {
  return fmt::format("{}, which failed at {:.3f} us", name_of(fault), des::to_us(fault.at));
}

}  // namespace tca::net
