// Changes to a text that keep its lines: what is taken out leaves its line ends and line markers behind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tca::xacc {

class Edits {
 public:
  explicit Edits(std::string_view text) : text_(text) {}

  // Several insertions at one place stand in the order in which they were made.
  void insert(std::size_t at, std::string what) { replace(at, at, std::move(what)); }
  void replace(std::size_t begin, std::size_t end, std::string what);
  void append(const Edits& other) { edits_.insert(edits_.end(), other.edits_.begin(), other.edits_.end()); }
  std::string apply() const { return apply(0, text_.size()); }
  // What becomes of a part. Changes of `more` stand behind those made here at the same place; what it inserts
  // behind the part is not of it.
  std::string apply(std::size_t begin, std::size_t end, const Edits* more = nullptr) const;

 private:
  struct Edit {
    std::size_t begin, end;
    std::string what;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

}  // namespace tca::xacc
