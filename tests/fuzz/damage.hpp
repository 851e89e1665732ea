// Damages text and bytes at random, with pieces that mean something to the parser that is to read them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tca::fuzz {

class Damage {
 public:
  Damage(std::uint64_t seed, std::vector<std::string> pieces) : random_(seed), pieces_(std::move(pieces)) {}

  std::string operator()(std::string text) {
    for (std::uint64_t count = 1 + below(4); count > 0; --count) once(text);
    return text;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void once(std::string& text) {
    if (text.empty()) return;
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        return;
      case 1:
        text.erase(at, 1 + below(40));
        return;
      case 2:
        text.insert(at, pieces_[below(pieces_.size())]);
        return;
      case 3:
        repeat_line(text, at);
        return;
      default:
        text.resize(at);
    }
  }

  static void repeat_line(std::string& text, std::size_t at) {
    const std::size_t last = text.rfind('\n', at);
    const std::size_t begin = last == std::string::npos ? 0 : last + 1;
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    if (begin <= end) text.insert(begin, text.substr(begin, end + 1 - begin));
  }

  std::mt19937_64 random_;
  std::vector<std::string> pieces_;
};

}  // namespace tca::fuzz
