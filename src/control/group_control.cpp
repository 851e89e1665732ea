#include "control/group_control.hpp"

#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/text/ranks.hpp"
#include "control/members.hpp"

namespace tca::control {

namespace {

// Members that make a group identify it by this without having communicated.
std::uint64_t key_of(const std::vector<int>& ranks, std::uint64_t number) {
  base::Writer writer;
  writer.put(number);
  for (const int rank : ranks) writer.put(rank);
  return base::fnv1a(writer.blob());
}

}  // namespace

GroupControl::GroupControl(Control& parent, std::vector<int> ranks, std::uint64_t number,
                           std::vector<int> called)
    : parent_(parent), subset_{std::move(ranks), 0, 0}, called_(std::move(called)) {
  subset_.key = key_of(subset_.ranks, number);
  rank_ = number_in(subset_.ranks, parent.rank()).value();
  time_limit = parent.time_limit;
  usable_cores = parent.usable_cores;
  while_waiting = parent.while_waiting;
}

// Trouble that began on a rank outside is described in words, since that rank has no number here.
std::optional<Loss> GroupControl::lost(int rank) {
  std::optional<Loss> loss = parent_.lost(parent_rank(rank));
  if (!loss || !loss->trouble.origin) return loss;
  Trouble& theirs = loss->trouble;
  const std::optional<int> here = number_in(subset_.ranks, *theirs.origin);
  if (!here) theirs.reason = fmt::format("rank {} of the world around it {}", *theirs.origin, theirs.reason);
  theirs.origin = here ? std::optional(called(*here)) : here;
  return loss;
}

// The parent judges a wait by its own numbers. What it says in words about all its ranks keeps them.
bool GroupControl::wait_turn(const Wait& wait, std::chrono::nanoseconds at_most) {
  class Outer final : public Wait {
   public:
    Outer(const Wait& wait, const GroupControl& group) : wait_(wait), group_(group) {}
    std::string what() const override { return wait_.what(); }
    ErrorFields about() const override {
      ErrorFields about = wait_.about();
      for (int& rank : about.missing) rank = group_.parent_rank(rank);
      return about;
    }

   private:
    const Wait& wait_;
    const GroupControl& group_;
  };
  try {
    return parent_.wait_turn(Outer(wait, *this), at_most);
  } catch (const Error& error) {
    ErrorFields fields = error.fields();
    fields.rank = called(rank_);
    fields.missing = wait.about().missing;
    for (int& rank : fields.missing) rank = called(rank);
    throw Error(error.code(), error.what(), std::move(fields));
  }
}

std::unique_ptr<AllGather> GroupControl::begin_among(const Subset& subset, const base::Blob& mine) {
  Subset of_parent = subset;
  for (int& rank : of_parent.ranks) rank = parent_rank(rank);
  return parent_.begin_among(of_parent, mine);
}

// The key is included, so that ranks that call two groups in different orders are told.
std::vector<base::Blob> GroupControl::gather(const base::Blob& mine, std::string_view what) {
  const base::Blob marked = base::Writer().put(subset_.key).put_blob(mine).blob();
  const std::unique_ptr<AllGather> exchange = parent_.begin_among(subset_, marked);
  ++subset_.exchanges;
  std::vector<base::Blob> all = complete(
      *exchange, what,
      called_.empty() ? "; did it make the same call, on the same group?"
                      : "; does it commit the chain too, and do both ranks put to each other or expect it?");
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    base::Reader reader(all[rank]);
    if (reader.get<std::uint64_t>() != subset_.key) {
      base::fail(
          Errc::refused, {.rank = called(rank_), .missing = {called(static_cast<int>(rank))}},
          "rank {} is in {} of a group of ranks {} of the world around it, and rank {} in a call of another "
          "group; ranks that are in several groups call them in the same order",
          called(rank_), what, base::list_ranks(subset_.ranks), called(static_cast<int>(rank)));
    }
    all[rank] = reader.rest();
  }
  return all;
}

// Ranks that wait for this one elsewhere are told what it hit here, in the parent's numbers.
void GroupControl::note_failure(Errc code) {
  parent_.trouble = trouble;
  if (trouble.origin)
    parent_.trouble.origin =
        parent_rank(called_.empty() ? *trouble.origin : number_in(called_, *trouble.origin).value());
  parent_.note_failure(code);
}

}  // namespace tca::control
