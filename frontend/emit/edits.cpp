#include "emit/edits.hpp"

#include <algorithm>
#include <iterator>

namespace tca::xacc {
namespace {

// The line ends of a text, and the markers that begin its lines.
std::string lines_of(std::string_view text) {
  std::string kept;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    kept += '\n';
    if (at + 1 >= text.size() || text[at + 1] != '#') continue;
    const std::size_t end = std::min(text.find('\n', at + 1), text.size());
    kept += text.substr(at + 1, end - at - 1);
  }
  return kept;
}

}  // namespace

void Edits::replace(std::size_t begin, std::size_t end, std::string what) {
  what += lines_of(text_.substr(begin, end - begin));
  edits_.push_back({begin, end, std::move(what)});
}

std::string Edits::apply(std::size_t begin, std::size_t end, const Edits* more) const {
  std::vector<Edit> sorted;
  for (const Edits* edits : {this, more})
    if (edits)
      std::copy_if(edits->edits_.begin(), edits->edits_.end(), std::back_inserter(sorted),
                   [&](const Edit& e) {
                     return e.begin >= begin && e.end <= end &&
                            (edits == this || e.begin < end || end == text_.size());
                   });
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t at = begin;
  for (const Edit& edit : sorted) {
    if (edit.begin < at) continue;  // within what was taken out
    result.append(text_.substr(at, edit.begin - at)).append(edit.what);
    at = edit.end;
  }
  return result.append(text_.substr(at, end - at));
}

}  // namespace tca::xacc
