// Posts between GPUs. A kernel of the source stores into the mapped region and raises notices at the owner,
// in the memory of its GPU and of its host; so a post is ordered on a stream, or repeated by a graph, like
// a kernel. The owner need not do anything.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/control.hpp"
#include "fabric/cuda/launch/launch_throttle.hpp"
#include "fabric/cuda/launch/own_stream.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/cuda/memory/stager.hpp"
#include "fabric/cuda/post/board.hpp"
#include "fabric/cuda/post/regions.hpp"
#include "fabric/cuda/timeout_report.hpp"
#include "fabric/posting.hpp"

namespace tca::cuda {

class CudaPost;
struct CompiledPost;

// The resources of a rank that its poster uses.
struct PosterResources {
  Inbox& inbox;
  HostCopier& copier;
  cudaStream_t setup;
  int device;
  bool exported;         // ranks are processes
  unsigned block_limit;  // of a kernel that stores
  LaunchThrottle throttle;
  std::function<void()> check;  // throws the error of whatever has gone wrong on this rank's GPU
};

class CudaPoster final : public fabric::Poster {
 public:
  // Waits on streams that time out identify themselves by this number.
  static constexpr Word waits_id = ~Word{0};

  // Collective, and on every rank the first to take room from its inbox.
  CudaPoster(control::Control& control, const control::Places& places, const PosterResources& resources);
  CudaPoster(const CudaPoster&) = delete;
  ~CudaPoster() override;

  std::unique_ptr<fabric::OwnRegion> expose_alone(const fabric::RegionSpec& spec) override;
  std::unique_ptr<fabric::FarRegion> attach(int rank, std::size_t bytes,
                                            const fabric::RegionName& name) override;
  std::unique_ptr<fabric::PostProgram> make_post() override;
  bool take(int source, int slot, std::uint32_t tag) override;
  std::optional<std::uint32_t> take_any(int source, int slot) override;
  void take_on(int source, int slot, std::uint32_t tag, Stream stream) override;

  // Throws the errors of posts on streams.
  void check();
  // Returns the notice for which a wait on a stream has waited too long.
  TimeoutReport late() const;
  void synchronize() const { cudaStreamSynchronize(starts_.stream); }

 private:
  friend class CudaOwnRegion;
  friend class CudaPost;
  friend struct CompiledPost;

  // For regions.
  HostCopier& copier() const { return resources_.copier; }
  Region make_memory(const fabric::RegionSpec& spec, Token& token) const;
  fabric::RegionName publish(const Token& token, bool is_program_s);
  void withdraw(const fabric::RegionName& name, bool is_program_s);
  void tell_ended(const fabric::RegionName& name) const;
  void await_turns() const;
  bool stores_nothing_more(int source) const;
  Mapped map(int rank, std::size_t bytes, const fabric::RegionName& name);

  // For notices, and posts.
  template <class Wanted>
  std::optional<std::uint32_t> take_wanted(int source, int slot, const Wanted& wanted);
  device::PostNotice notice_at(int rank, int slot, std::uint32_t tag);
  device::WaitLimits limits() const;
  void retire(std::unique_ptr<CompiledPost> compiled);

  int index(int rank) const { return index_[static_cast<std::size_t>(rank)]; }
  int me() const { return index(control_.rank()); }
  HostBoard& own_board() const { return *reinterpret_cast<HostBoard*>(board_memory_.data()); }
  HostBoard& board(int rank);
  HostSlot& own_slot(int source, int slot) const { return own_board().slot(index(source), slot, ranks_); }
  template <class T>
  T* word_at(int rank, std::size_t offset) const {
    return resources_.inbox.at<T>(rank, words_[static_cast<std::size_t>(rank)] + offset);
  }

  control::Control& control_;
  PosterResources resources_;
  std::vector<int> index_;  // each rank's number within the sub-cluster; -1 for those of others
  int ranks_ = 0;           // in the sub-cluster
  DeviceBoard layout_;
  Room limits_room_;
  Word *waiting_ = nullptr, *told_tag_ = nullptr;  // by rank
  Token board_token_;
  Region board_memory_;
  // By rank: its board, the random number that identifies its tokens, and where the words are in its inbox.
  std::vector<Token> boards_;
  std::vector<std::uint64_t> jobs_, words_;
  std::vector<std::optional<Region>> mapped_boards_;  // by rank, those that this one has posted to
  std::uint64_t generations_ = 0;
  std::uint32_t next_place_ = 0;
  std::vector<std::uint32_t> free_places_;
  std::vector<std::uint32_t> free_turns_;
  std::map<std::pair<int, int>, TakenByStreams> taken_by_streams_;  // by source and slot
  StageRooms rooms_;
  OwnStream starts_{Work::finite};  // of the host
  std::vector<CudaPost*> posts_;
  std::list<std::unique_ptr<CompiledPost>> retired_;  // whose kernels may still run
};

}  // namespace tca::cuda
