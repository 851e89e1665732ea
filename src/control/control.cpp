#include "control/control.hpp"

#include <cerrno>

#include "base/fail.hpp"
#include "base/ranks.hpp"
#include "base/system/limits.hpp"

namespace tca::control {

namespace {

// Returns what kind of call `what` is, without the quoted name of its object: names are checked elsewhere,
// with messages that say more.
std::string_view kind_of(std::string_view what) { return what.substr(0, what.find('\'')); }

bool starts_with(const base::Blob& blob, const base::Blob& begin) {
  return blob.size() >= begin.size() && std::equal(begin.begin(), begin.end(), blob.begin());
}

}  // namespace

std::vector<base::Blob> Control::all_gather(const base::Blob& mine, std::string_view what) {
  if (broken_) std::rethrow_exception(broken_);
  check_call(what);
  std::vector<base::Blob> all;
  try {
    all = gather(base::Writer().put_string(what).put_blob(mine).blob(), what);
  } catch (...) {
    broken_ = std::current_exception();
    throw;
  }
  const base::Blob same = base::Writer().put_string(what).blob();
  const std::string first = base::Reader(all[0]).get_string();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (first == what && starts_with(all[rank], same)) {
      all[rank].erase(all[rank].begin(), all[rank].begin() + static_cast<std::ptrdiff_t>(same.size()));
      continue;
    }
    base::Reader reader(all[rank]);
    const std::string theirs = reader.get_string();
    if (kind_of(theirs) != kind_of(first)) {
      base::fail(
          Errc::refused,
          "rank 0 is in {}, rank {} in {}; every rank must make the same collective calls in the same order",
          first, rank, theirs);
    }
    all[rank] = reader.rest();
  }
  return all;
}

base::Blob Control::attempt(std::string_view what, const std::function<base::Blob()>& make) const {
  Errc code{};
  std::string problem;
  base::Blob made;
  try {
    made = make();
  } catch (const Error& error) {
    if (error.code() == Errc::rank_lost) throw;  // the others also wait for that rank and find out themselves
    code = error.code();
    problem = error.what();
  } catch (const std::bad_alloc&) {
    code = Errc::out_of_memory;
    problem = fmt::format("rank {} has no memory left in {}: {}", rank(), what, base::limit_met(ENOMEM));
  }
  return base::Writer().put(code).put_string(problem).put_blob(made).blob();
}

void Control::require_all(std::vector<base::Blob>& all) {
  Errc code{};
  std::string problem;
  std::vector<int> ranks;  // that met this problem
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    base::Reader reader(all[rank]);
    const Errc theirs = reader.get<Errc>();
    std::string text = reader.get_string();
    all[rank] = reader.rest();
    if (text.empty() || (!problem.empty() && text != problem)) continue;
    code = theirs;
    problem = std::move(text);
    ranks.push_back(static_cast<int>(rank));
  }
  if (problem.empty()) return;
  const bool names_ranks = problem.starts_with("rank ") || ranks.size() == all.size();
  throw Error(code, names_ranks ? problem : fmt::format("rank {}: {}", base::list_ranks(ranks), problem));
}

std::vector<base::Blob> Control::make_together(std::string_view what,
                                               const std::function<base::Blob()>& make) {
  std::vector<base::Blob> all = all_gather(attempt(what, make), what);
  require_all(all);
  return all;
}

void Control::fail_lost(int rank, std::string_view how, std::string_view meanwhile) {
  // A reason that names the rank where the trouble began is passed on to the others as it is.
  constexpr std::string_view failed = "failed (";
  const std::string_view reason = how.starts_with(failed) ? how.substr(failed.size()) : std::string_view();
  trouble = reason.starts_with("rank ") ? std::string(reason.substr(0, reason.size() - 1))
                                        : fmt::format("rank {} {}", rank, how);
  note_failure(Errc::rank_lost);
  base::fail(Errc::rank_lost, "rank {} {} while rank {} was {}", rank, how, this->rank(), meanwhile);
}

void Control::fail_over(std::string_view what) const {
  base::fail(Errc::invalid_argument,
             "this world is over for rank {}, which has left it, and {} needs the others; make collective "
             "calls while its World is there",
             rank(), what);
}

void Control::fail_late(std::chrono::nanoseconds waited, std::string_view where, std::string_view whom,
                        std::string_view what_to_do) {
  trouble = fmt::format("it waited too long for {} in {}", whom, where);
  note_failure(Errc::timed_out);
  base::fail(Errc::timed_out, "rank {} waited {:.1f} s in {} for {}{}", rank(),
             std::chrono::duration<double>(waited).count(), where, whom, what_to_do);
}

}  // namespace tca::control
