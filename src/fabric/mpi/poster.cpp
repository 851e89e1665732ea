#include "fabric/mpi/poster.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/fail.hpp"
#include "base/poll.hpp"
#include "base/system/leak_intentionally.hpp"

namespace tca::mpi {

namespace {

constexpr std::string_view carrying_posts = "passing on a post";

// A post waits rather than have more than this on its way to a rank, so a target that does nothing costs no
// more.
constexpr std::size_t most_under_way = std::size_t{4} << 20;

// The beginning of a message. The puts follow, then the notices, then the bytes.
struct Head {
  std::uint64_t job;
  std::uint32_t puts, notices;
};

struct PutInto {
  std::uint64_t generation, offset;
  base::Shape shape;
};

struct Raised {
  std::int32_t slot;
  std::uint32_t tag;
};

}  // namespace

class MpiOwnRegion final : public fabric::OwnRegion {
 public:
  MpiOwnRegion(MpiPoster& poster, std::size_t bytes, std::byte* existing) : poster_(poster), data_(existing) {
    if (existing == nullptr) {
      owned_ = base::Zeroed(bytes);
      data_ = owned_.data();
      if (data_ == nullptr) base::fail(Errc::out_of_memory, "no memory for {} bytes; ask for less", bytes);
    }
    name_ = {.job = poster.job_, .generation = ++poster.generations_};
    poster.regions_[name_.generation] = {data_, bytes};
  }
  MpiOwnRegion(const MpiOwnRegion&) = delete;
  ~MpiOwnRegion() override { poster_.regions_.erase(name_.generation); }

  std::byte* data() const override { return data_; }
  const fabric::RegionName& name() const override { return name_; }

 private:
  MpiPoster& poster_;
  base::Zeroed owned_;
  std::byte* data_;
  fabric::RegionName name_;
};

namespace {

class MpiFarRegion final : public fabric::FarRegion {
 public:
  MpiFarRegion(int rank, const fabric::RegionName& name) : rank_(rank), name_(name) {}
  bool is_live() const override { return true; }
  int rank() const { return rank_; }
  const fabric::RegionName& name() const { return name_; }

 private:
  int rank_;
  fabric::RegionName name_;
};

}  // namespace

class MpiPost final : public fabric::PostProgram {
 public:
  explicit MpiPost(MpiPoster& poster) : poster_(poster) {}

  void put(fabric::FarRegion& to, std::uint64_t offset, const std::byte* from,
           const base::Shape& shape) override {
    const auto& region = static_cast<const MpiFarRegion&>(to);
    ToRank& load = to_rank(region.rank());
    load.job = region.name().job;
    load.puts.push_back({region.name().generation, offset, shape});
    load.sources.push_back(from);
  }
  void notify(int rank, int slot, std::uint32_t tag) override {
    to_rank(rank).notices.push_back({slot, tag});
  }
  void clear() override { ranks_.clear(); }

  // Anything refused in the previous start is thrown before anything is sent, and so are puts that cannot
  // be sent.
  void start() override {
    check();
    std::vector<base::Blob> messages;
    for (const auto& [rank, load] : ranks_) messages.push_back(begin_message(rank, load));
    auto message = messages.begin();
    for (const auto& [rank, load] : ranks_) {
      append_bytes(*message, load);
      poster_.send(rank, std::move(*message++), posted_);
    }
  }

  bool has_left() override {
    poster_.progress();
    check();
    return std::ranges::all_of(posted_->under_way,
                               [&](int rank) { return poster_.bytes_under_way(rank) <= most_under_way; });
  }
  bool has_landed() override {
    poster_.progress();
    check();
    return posted_->under_way.empty();
  }
  std::vector<int> missing() const override { return posted_->under_way; }

 private:
  struct ToRank {
    std::uint64_t job = 0;  // 0: only notices, for whichever process is this rank
    std::vector<PutInto> puts;
    std::vector<const std::byte*> sources;
    std::vector<Raised> notices;
  };

  ToRank& to_rank(int rank) {
    const auto known = std::ranges::find(ranks_, rank, &std::pair<int, ToRank>::first);
    return known != ranks_.end() ? known->second : ranks_.emplace_back(rank, ToRank{}).second;
  }

  static std::size_t bytes_of(const ToRank& load) {
    std::size_t bytes = 0;
    for (const PutInto& put : load.puts) bytes += put.shape.bytes();
    return bytes;
  }

  static base::Blob begin_message(int rank, const ToRank& load) {
    base::Writer writer;
    writer.put(Head{load.job, static_cast<std::uint32_t>(load.puts.size()),
                    static_cast<std::uint32_t>(load.notices.size())});
    for (const PutInto& put : load.puts) writer.put(put);
    for (const Raised& notice : load.notices) writer.put(notice);
    base::Blob message = writer.blob();
    if (const std::size_t bytes = message.size() + bytes_of(load); bytes > std::numeric_limits<int>::max())
      base::fail(Errc::invalid_argument,
                 "{} bytes to rank {} at once; over mpi a post has up to 2 GiB for each rank", bytes, rank);
    return message;
  }

  void append_bytes(base::Blob& message, const ToRank& load) const {
    std::size_t at = message.size();
    message.resize(at + bytes_of(load));
    for (std::size_t i = 0; i < load.puts.size(); ++i) {
      poster_.gather(message.data() + at, load.sources[i], load.puts[i].shape);
      at += load.puts[i].shape.bytes();
    }
  }

  void check() {
    if (!posted_->refused) return;
    const auto [rank, answer] = *std::exchange(posted_->refused, std::nullopt);
    if (answer.verdict == Verdict::gone) fabric::fail_gone(rank);
    if (answer.verdict == Verdict::full) fabric::fail_full(answer.slot, rank);
    fabric::fail_foreign();
  }

  MpiPoster& poster_;
  std::vector<std::pair<int, ToRank>> ranks_;
  std::shared_ptr<Posted> posted_ = std::make_shared<Posted>();
};

MpiPoster::MpiPoster(MpiControl& control, fabric::Stager* stager)
    : control_(control), comm_(control.comm()), stager_(stager) {}

// MPI may still read and write what is under way, so that is left to the process.
MpiPoster::~MpiPoster() {
  if (!outgoing_.empty()) base::leak_intentionally(std::move(outgoing_));
  if (!incoming_.empty()) base::leak_intentionally(std::move(incoming_));
  if (!answering_.empty()) base::leak_intentionally(std::move(answering_));
}

std::unique_ptr<fabric::OwnRegion> MpiPoster::expose_alone(const fabric::RegionSpec& spec) {
  active_ = true;
  return std::make_unique<MpiOwnRegion>(*this, spec.bytes, spec.existing);
}

std::unique_ptr<fabric::FarRegion> MpiPoster::attach(int rank, std::size_t, const fabric::RegionName& name) {
  return std::make_unique<MpiFarRegion>(rank, name);
}

std::unique_ptr<fabric::PostProgram> MpiPoster::make_post() { return std::make_unique<MpiPost>(*this); }

bool MpiPoster::take(int source, int slot, std::uint32_t tag) {
  active_ = true;
  if (notices_.take(source, slot, tag)) return true;
  progress();
  return notices_.take(source, slot, tag).has_value();
}

std::optional<std::uint32_t> MpiPoster::take_any(int source, int slot) {
  active_ = true;
  progress();
  return notices_.take(source, slot, {});
}

void MpiPoster::gather(std::byte* row, const std::byte* from, const base::Shape& shape) const {
  stager_ != nullptr ? stager_->gather(row, from, shape) : static_cast<void>(base::gather(row, from, shape));
}
void MpiPoster::scatter(std::byte* to, const std::byte* row, const base::Shape& shape) const {
  stager_ != nullptr ? stager_->scatter(to, row, shape) : static_cast<void>(base::scatter(to, row, shape));
}

// What a rank posts to itself takes the same path, so that it keeps the same order.
void MpiPoster::send(int rank, base::Blob message, std::shared_ptr<Posted> posted) {
  const InMpi inside;
  active_ = true;
  posted->under_way.push_back(rank);
  Outgoing& out = outgoing_.emplace_back(Outgoing{rank, std::move(message), {}, std::move(posted)});
  check(MPI_Irecv(&out.answer, sizeof out.answer, MPI_BYTE, rank, Tag::post_answer, comm_, &out.requests[1]),
        carrying_posts);
  check(MPI_Isend(out.message.data(), static_cast<int>(out.message.size()), MPI_BYTE, rank, Tag::post, comm_,
                  &out.requests[0]),
        carrying_posts);
}

std::size_t MpiPoster::bytes_under_way(int rank) const {
  std::size_t bytes = 0;
  for (const Outgoing& out : outgoing_)
    if (out.rank == rank) bytes += out.message.size();
  return bytes;
}

void MpiPoster::progress() {
  const InMpi inside;
  receive();
  store_received();
  look_for_answers();
}

void MpiPoster::receive() {
  for (;;) {
    int come = 0, bytes = 0;
    MPI_Message handle;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, Tag::post, comm_, &come, &handle, &status), carrying_posts);
    if (!come) return;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), carrying_posts);
    Incoming& in =
        incoming_.emplace_back(Incoming{status.MPI_SOURCE, base::Blob(static_cast<std::size_t>(bytes))});
    check(MPI_Imrecv(in.message.data(), bytes, MPI_BYTE, &handle, &in.request), carrying_posts);
  }
}

void MpiPoster::store_received() {
  std::set<int> waits;  // sources with an earlier message
  for (auto in = incoming_.begin(); in != incoming_.end();) {
    int done = 0;
    if (!waits.contains(in->source)) check(MPI_Test(&in->request, &done, MPI_STATUS_IGNORE), carrying_posts);
    if (!done) {
      waits.insert(in->source);
      ++in;
      continue;
    }
    Answering& answering = answering_.emplace_back(Answering{store(in->source, in->message)});
    check(MPI_Isend(&answering.answer, sizeof answering.answer, MPI_BYTE, in->source, Tag::post_answer, comm_,
                    &answering.request),
          carrying_posts);
    in = incoming_.erase(in);
  }
}

// Answers arrive in message order, so each is where it belongs.
void MpiPoster::look_for_answers() {
  for (auto out = outgoing_.begin(); out != outgoing_.end();) {
    int done = 0;
    check(MPI_Testall(2, out->requests.data(), &done, MPI_STATUSES_IGNORE), carrying_posts);
    if (!done) {
      ++out;
      continue;
    }
    std::vector<int>& under_way = out->posted->under_way;
    under_way.erase(std::ranges::find(under_way, out->rank));
    if (out->answer.verdict != Verdict::landed) out->posted->refused = {out->rank, out->answer};
    out = outgoing_.erase(out);
  }
  std::erase_if(answering_, [](Answering& answering) {
    int done = 0;
    check(MPI_Test(&answering.request, &done, MPI_STATUS_IGNORE), carrying_posts);
    return done != 0;
  });
}

Answer MpiPoster::store(int source, const base::Blob& message) {
  base::Reader reader(message);
  const auto head = reader.get<Head>();
  if (head.job != 0 && head.job != job_) return {Verdict::foreign};
  std::vector<PutInto> puts;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < head.puts; ++i) {
    puts.push_back(reader.get<PutInto>());
    bytes += puts.back().shape.bytes();
    if (!regions_.contains(puts.back().generation)) return {Verdict::gone};
  }
  std::vector<Raised> notices;
  for (std::uint32_t i = 0; i < head.notices; ++i) {
    const auto notice = reader.get<Raised>();
    if (!notices_.reserve(source, notice.slot, notice.tag)) {
      for (const Raised& given : notices) notices_.give_up(source, given.slot, given.tag);
      return {Verdict::full, notice.slot};
    }
    notices.push_back(notice);
  }
  const std::byte* dense = message.data() + (message.size() - bytes);
  for (const PutInto& put : puts) {
    scatter(regions_[put.generation].data() + put.offset, dense, put.shape);
    dense += put.shape.bytes();
  }
  for (const Raised& notice : notices) notices_.raise(source, notice.slot, notice.tag);
  return {};
}

// A rank that is gone no longer answers. If MPI has failed, whoever ends this world has been told so.
void MpiPoster::finish() try {
  if (!active_ || !is_up()) return;
  base::await(
      [&] {
        progress();
        return answering_.empty() && std::ranges::all_of(outgoing_, [&](const Outgoing& out) {
                 return control_.is_gone(out.rank);
               });
      },
      control_.time_limit);
} catch (const Error&) {
}

}  // namespace tca::mpi
