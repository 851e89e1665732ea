#include "control/control.hpp"

#include <cerrno>

#include "base/error.hpp"
#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/system/limits.hpp"
#include "base/text/ranks.hpp"

namespace tca::control {

namespace {

// Returns what kind of call `what` is, without the quoted name of its object: names are checked elsewhere,
// with messages that say more.
std::string_view kind_of(std::string_view what) { return what.substr(0, what.find('\'')); }

void require_same_call(const Control& control, std::string_view first, int rank, std::string_view theirs) {
  if (kind_of(theirs) == kind_of(first)) return;
  base::fail(
      Errc::refused,
      "rank {} is in {}, rank {} in {}; every rank must make the same collective calls in the same order",
      control.called(0), first, control.called(rank), theirs);
}

// What a rank lays out at a meeting begins with the name of its call.
base::Writer begin(std::string_view what) { return base::Writer().put_string(what); }

}  // namespace

Ballot Ballot::in(std::string_view what, const Votes& votes) {
  const std::string_view kind = kind_of(what);
  const auto [call, not_call] = vote_for(base::fnv1a(std::as_bytes(std::span(kind))));
  return {call, not_call, votes};
}

void Ballot::add(const Ballot& other) {
  call = std::max(call, other.call);
  not_call = std::max(not_call, other.not_call);
  for (std::size_t i = 0; i < votes.size(); ++i) votes[i] = std::max(votes[i], other.votes[i]);
}

// After a meeting that was aborted in the middle the ranks are at different calls.
template <class Meet>
auto Control::meet(std::string_view what, const Meet& how) {
  if (broken_) std::rethrow_exception(broken_);
  check_call(what);
  ++meetings_;
  try {
    return how();
  } catch (...) {
    broken_ = std::current_exception();
    throw;
  }
}

std::vector<base::Blob> Control::all_gather(const base::Blob& mine, std::string_view what) {
  std::vector<base::Blob> all;
  all.reserve(static_cast<std::size_t>(size()));
  all_gather_each(mine, what, [&](std::size_t, std::span<const std::byte> theirs) {
    all.emplace_back(theirs.begin(), theirs.end());
  });
  return all;
}

// If a call has the same name as here, nobody needs to read it.
void Control::all_gather_each(
    const base::Blob& mine, std::string_view what,
    const std::function<void(std::size_t rank, std::span<const std::byte> theirs)>& read) {
  const base::Blob name = begin(what).blob();
  const auto all =
      meet(what, [&] { return gather_shared(base::Writer().put_blob(name).put_blob(mine).blob(), what); });
  const auto has_name = [&](const base::Blob& theirs) {
    return theirs.size() >= name.size() && std::equal(name.begin(), name.end(), theirs.begin());
  };
  const bool first_has_name = has_name(all->front());
  for (std::size_t rank = 0; rank < all->size(); ++rank) {
    const std::span<const std::byte> theirs = (*all)[rank];
    std::size_t begin = name.size();
    if (!first_has_name || !has_name((*all)[rank])) {
      base::Reader reader((*all)[rank]);
      const std::string called = reader.get_string();
      require_same_call(*this, base::Reader((*all)[0]).get_string(), static_cast<int>(rank), called);
      begin = theirs.size() - reader.rest().size();
    }
    read(rank, theirs.subspan(begin));
  }
}

Exchanged Control::exchange(const std::vector<Letter>& letters, const Votes& votes, std::string_view what) {
  const Ballot ballot = Ballot::in(what, votes);
  base::Writer writer = begin(what);
  writer.put(ballot).put(letters.size());
  std::vector<int> readers;
  for (const Letter& letter : letters) {
    writer.put(letter.rank).put(letter.bytes.size()).put_blob(letter.bytes);
    readers.push_back(letter.rank);
  }
  const Delivered delivered = meet(what, [&] { return deliver(writer.blob(), readers, ballot, what); });
  Exchanged exchanged{{}, delivered.ballot.votes};
  if (!delivered.ballot.is_of_one_call()) {
    const std::string first = base::Reader(delivered.from.front().bytes).get_string();
    for (const Letter& theirs : delivered.from)
      require_same_call(*this, first, theirs.rank, base::Reader(theirs.bytes).get_string());
  }
  for (const Letter& theirs : delivered.from) {
    base::Reader reader(theirs.bytes);
    reader.get_string();
    reader.get<Ballot>();
    for (auto n = reader.get<std::size_t>(); n > 0; --n) {
      const int to = reader.get<int>();
      const auto bytes = reader.get<std::size_t>();
      if (to == rank() && theirs.rank != rank())
        exchanged.letters.push_back({theirs.rank, reader.get_blob(bytes)});
      else
        reader.skip(bytes);
    }
  }
  return exchanged;
}

// Ranks whose calls are of other kinds have laid out something other than a ballot.
Control::Delivered Control::deliver(const base::Blob& mine, std::span<const int>, const Ballot& ballot,
                                    std::string_view what) {
  Delivered delivered{{}, ballot};
  std::vector<base::Blob> all = gather(mine, what);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    base::Reader reader(all[rank]);
    const Ballot theirs = Ballot::in(reader.get_string());
    delivered.ballot.add(theirs.call == ballot.call ? reader.get<Ballot>() : theirs);
    delivered.from.push_back({static_cast<int>(rank), std::move(all[rank])});
  }
  return delivered;
}

std::string Loss::in_words() const {
  if (how == How::left) return "left the world";
  const std::string whose = trouble.origin ? fmt::format("rank {} ", *trouble.origin) : std::string();
  return fmt::format("{} ({}{})", how == How::failed ? "failed" : "died", whose, trouble.reason);
}

Trouble Loss::passed_on(int rank) const { return trouble.origin ? trouble : Trouble{in_words(), rank}; }

base::Blob Control::attempt(std::string_view what, const std::function<base::Blob()>& make) const {
  std::optional<Error> problem;
  base::Blob made;
  try {
    made = make();
  } catch (const Error& error) {
    if (error.code() == Errc::rank_lost) throw;  // the others also wait for that rank and find out themselves
    problem = error;
  } catch (const std::bad_alloc&) {
    problem = Error(
        Errc::out_of_memory,
        fmt::format("rank {} has no memory left in {}: {}", called(rank()), what, base::limit_met(ENOMEM)),
        {.rank = called(rank())});
  }
  base::Writer writer;
  writer.put(problem.has_value());
  if (problem) base::write(writer, *problem);
  return writer.put_blob(made).blob();
}

// A sentence is about the rank in its error's fields. If it is about none, the ranks that hit it are named.
void Control::require_all(std::vector<base::Blob>& all) const {
  std::optional<Error> problem;
  std::vector<int> ranks;  // that met this problem
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    base::Reader reader(all[rank]);
    std::optional<Error> theirs;
    if (reader.get<bool>()) theirs = base::read_error(reader);
    all[rank] = reader.rest();
    if (!theirs || (problem && std::string_view(theirs->what()) != problem->what())) continue;
    problem = std::move(theirs);
    ranks.push_back(called(static_cast<int>(rank)));
  }
  if (!problem) return;
  if (problem->rank() || ranks.size() == all.size()) throw Error(*problem);
  throw Error(problem->code(), fmt::format("rank {}: {}", base::list_ranks(ranks), problem->what()),
              {.rank = ranks.front()})
      .with(problem->fields());
}

std::vector<base::Blob> Control::make_together(std::string_view what,
                                               const std::function<base::Blob()>& make) {
  std::vector<base::Blob> all = all_gather(attempt(what, make), what);
  require_all(all);
  return all;
}

void Control::do_together(std::string_view what, const std::function<void()>& act) {
  const base::Blob mine = attempt(what, [&] {
    act();
    return base::Blob{};
  });
  const bool failed = base::Reader(mine).get<bool>();
  if (exchange({}, {failed}, what).votes[0] == 0) return;
  std::vector<base::Blob> all = all_gather(mine, what);
  require_all(all);
}

namespace {

class Exchange final : public Wait {
 public:
  Exchange(const AllGather& exchange, std::string_view what) : exchange_(exchange), what_(what) {}
  std::string what() const override { return std::string(what_); }
  ErrorFields about() const override { return {.missing = exchange_.missing()}; }

 private:
  const AllGather& exchange_;
  std::string_view what_;
};

}  // namespace

std::vector<base::Blob> Control::complete(AllGather& exchange, std::string_view what,
                                          std::string_view what_to_do) {
  await(exchange, what, what_to_do);
  return exchange.take();
}

void Control::await(AllGather& exchange, std::string_view what, std::string_view what_to_do) {
  const Exchange wait(exchange, what);
  base::Poll poll(cores());
  base::Poll::Look look;
  while (!exchange.advance()) {
    if (wait_turn(wait)) continue;
    const bool waited_long = poll.pause(look);
    if (poll.has_yielded()) look.moves = while_waiting();
    if (!waited_long) continue;
    // Ranks whose bytes have arrived do not count: one that has failed may only have waited too long for
    // the same rank as this one, whose own time limit says more.
    const std::vector<int> missing = exchange.missing();
    for (const int rank : missing) {
      if (const std::optional<Loss> loss = lost(rank))
        fail_lost(rank, *loss, fmt::format("waiting for it in {}", what));
    }
    // If everything has arrived but not everything has been sent, it is not known which rank does not take
    // it.
    if (poll.waited() >= time_limit)
      fail_late(poll.waited(), what, {.missing = missing}, what_to_do, "others to take what it sent");
  }
}

void Control::fail_lost(int rank, const Loss& loss, std::string_view meanwhile, ErrorFields about) {
  const int me = called(this->rank()), them = called(rank);
  trouble = loss.passed_on(them);
  note_failure(Errc::rank_lost);
  about.rank = me;
  about.missing = {them};
  base::fail(Errc::rank_lost, std::move(about), "rank {} {} while rank {} was {}", them, loss.in_words(), me,
             meanwhile);
}

void Control::fail_over(std::string_view what) const {
  base::fail(Errc::invalid_argument, {.rank = called(rank())},
             "this world is over for rank {}, which has left it, and {} needs the others; make collective "
             "calls while its World is there",
             called(rank()), what);
}

void Control::fail_late(std::chrono::nanoseconds waited, std::string_view where, ErrorFields about,
                        std::string_view what_to_do, std::string_view otherwise) {
  for (int& rank : about.missing) rank = called(rank);
  const std::string whom = about.missing.empty() ? std::string(otherwise)
                                                 : fmt::format("rank {}", base::list_ranks(about.missing));
  trouble = {fmt::format("it waited too long for {} in {}", whom, where)};
  note_failure(Errc::timed_out);
  about.rank = called(rank());
  base::fail(Errc::timed_out, std::move(about), "rank {} waited {:.1f} s in {} for {}{}", called(rank()),
             std::chrono::duration<double>(waited).count(), where, whom, what_to_do);
}

}  // namespace tca::control
