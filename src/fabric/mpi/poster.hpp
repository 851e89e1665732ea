// Posts over MPI: each is one message to each of its targets, which stores it during a call of the library,
// raises the notices, and answers. The source is free as soon as the message is packed.
//
// MPI keeps the order of messages between two ranks, so posts land in the order in which they were started.
// Only the target can tell that a region is gone or a slot full; then it stores nothing of the message, and
// says so.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/codec.hpp"
#include "control/mpi/mpi_control.hpp"
#include "fabric/notice_counts.hpp"
#include "fabric/posting.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// The outcome of a message, as its target reports it.
enum class Verdict : std::int32_t { landed, gone, full, foreign };

struct Answer {
  Verdict verdict = Verdict::landed;
  std::int32_t slot = 0;  // one that is full
};

// What a post knows of its messages. They outlive it.
struct Posted {
  std::vector<int> under_way;  // the targets that have not answered, one for each message
  std::optional<std::pair<int, Answer>> refused;
};

class MpiPoster final : public fabric::Poster {
 public:
  // `stager` moves data in an accelerator's memory; null if there is none.
  MpiPoster(MpiControl& control, fabric::Stager* stager);
  MpiPoster(const MpiPoster&) = delete;
  ~MpiPoster() override;

  std::unique_ptr<fabric::OwnRegion> expose_alone(const fabric::RegionSpec& spec) override;
  std::unique_ptr<fabric::FarRegion> attach(int rank, std::size_t bytes,
                                            const fabric::RegionName& name) override;
  std::unique_ptr<fabric::PostProgram> make_post() override;
  bool take(int source, int slot, std::uint32_t tag) override;
  std::optional<std::uint32_t> take_any(int source, int slot) override;

  // Stores what others have posted here, and looks for answers.
  void progress();
  // Returns whether this rank has ever had anything to do with posts.
  bool is_active() const { return active_; }
  // Returns whether messages of posts move only while this rank polls.
  bool needs_polling() const { return !outgoing_.empty() || !incoming_.empty(); }
  // Waits until everything that this rank has posted is in place or has failed. Called when the rank
  // leaves. Does not throw.
  void finish();

 private:
  friend class MpiOwnRegion;
  friend class MpiPost;

  struct Outgoing {
    int rank;
    base::Blob message;
    Answer answer;
    std::shared_ptr<Posted> posted;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL,
                                        MPI_REQUEST_NULL};  // of the send, and of its answer
  };
  struct Incoming {
    int source;
    base::Blob message;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Answering {
    Answer answer;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void gather(std::byte* row, const std::byte* from, const base::Shape& shape) const;
  void scatter(std::byte* to, const std::byte* row, const base::Shape& shape) const;
  void send(int rank, base::Blob message, std::shared_ptr<Posted> posted);
  std::size_t bytes_under_way(int rank) const;
  void receive();
  void store_received();
  void look_for_answers();
  Answer store(int source, const base::Blob& message);

  MpiControl& control_;
  MPI_Comm comm_;
  fabric::Stager* stager_;
  const std::uint64_t job_ = fabric::random_job();
  bool active_ = false;
  std::uint64_t generations_ = 0;
  std::map<std::uint64_t, std::span<std::byte>> regions_;  // the live ones, by generation
  fabric::NoticeCounts notices_;
  // Lists, since MPI reads and writes in place.
  std::list<Outgoing> outgoing_;
  std::list<Incoming> incoming_;  // in message order for each source
  std::list<Answering> answering_;
};

}  // namespace tca::mpi
