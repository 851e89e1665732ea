// A post on GPUs, in the form that its kernels take.
#pragma once

#include <memory>
#include <vector>

#include "fabric/cuda/kernels.hpp"
#include "fabric/cuda/post/poster.hpp"

namespace tca::cuda {

// What kernels need of a post until the last of them is done, which may be after the post has changed or
// been destroyed.
struct CompiledPost {
  explicit CompiledPost(CudaPoster& poster);
  CompiledPost(const CompiledPost&) = delete;
  ~CompiledPost();

  // Acquire: pairs with the release at the end of a start.
  bool is_through() const { return device::reached(device::load_acquire(&view.report->done), ticket); }

  CudaPoster& poster;
  Room room;
  device::Post view;
  Grid grid;
  std::vector<std::shared_ptr<const Mapped>> regions;
  std::unique_ptr<StageRoom> staged;  // the sources that kernels do not reach
  Word ticket = 0;                    // of the last start
  bool is_captured = false;           // a graph may start it at any time
  std::optional<std::uint32_t> turn;  // its number among those that store into memory of programs
};

class CudaPost final : public fabric::PostProgram {
 public:
  explicit CudaPost(CudaPoster& poster);
  CudaPost(const CudaPost&) = delete;
  ~CudaPost() override;

  void put(fabric::FarRegion& to, std::uint64_t offset, const std::byte* from,
           const base::Shape& shape) override;
  void notify(int rank, int slot, std::uint32_t tag) override;
  void clear() override;
  void start() override;
  void start_on(Stream stream) override;
  bool has_left() override;
  bool has_landed() override { return has_left(); }
  std::vector<int> missing() const override { return {}; }

  // Throws the errors of starts on streams.
  void check_streams() {
    if (on_stream_) check();
  }

 private:
  struct Put {
    std::shared_ptr<const Mapped> region;
    std::uint64_t offset;
    const std::byte* from;
    base::Shape shape;
    bool is_staged;  // kernels do not reach the source
  };
  struct Raised {
    int rank, slot;
    std::uint32_t tag;
  };

  void check();
  void prepare();
  void compile();
  void add_regions();
  Word* turn_at(int rank);
  Word add_stores();
  void add_notices();
  std::size_t staged_bytes() const;

  CudaPoster& poster_;
  std::vector<Put> puts_;
  std::vector<Raised> notices_;
  std::unique_ptr<CompiledPost> compiled_;  // null before the first start
  bool changed_ = true;                     // since it was compiled
  bool on_stream_ = false;                  // the last start was on a stream
  unsigned polls_ = 0;
};

}  // namespace tca::cuda
