#include "fabric/cuda/post/regions.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "fabric/cuda/post/poster.hpp"

namespace tca::cuda {

namespace {

// By job and generation.
class OfProcess {
 public:
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  void add(const fabric::RegionName& name, const std::shared_ptr<const Region>& memory) {
    const std::lock_guard guard(mutex_);
    all_[key(name)] = memory;
  }
  void remove(const fabric::RegionName& name) {
    const std::lock_guard guard(mutex_);
    all_.erase(key(name));
  }
  std::shared_ptr<const Region> find(const fabric::RegionName& name) {
    const std::lock_guard guard(mutex_);
    const auto found = all_.find(key(name));
    return found == all_.end() ? nullptr : found->second.lock();
  }

 private:
  static Key key(const fabric::RegionName& name) { return {name.job, name.generation}; }

  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Region>> all_;
};

// Never destroyed: a program's exit handlers may end its world after the library's static objects are gone.
OfProcess& of_process() {
  static OfProcess& all = *new OfProcess;
  return all;
}

}  // namespace

std::shared_ptr<const Region> region_of_process(const fabric::RegionName& name) {
  return of_process().find(name);
}

CudaOwnRegion::CudaOwnRegion(CudaPoster& poster, const fabric::RegionSpec& spec)
    : poster_(poster), is_program_s_(spec.existing != nullptr) {
  try {
    memory_ = std::make_shared<const Region>(poster.make_memory(spec, token_));
    name_ = poster.publish(token_, is_program_s_);
  } catch (...) {
    seal(token_);
    throw;
  }
  of_process().add(name_, memory_);
}

CudaOwnRegion::~CudaOwnRegion() {
  of_process().remove(name_);
  poster_.withdraw(name_, is_program_s_);
  // From here on the descriptor may be another file's. A source that takes it looks at the board afterwards.
  seal(token_);
}

void CudaOwnRegion::read(std::uint64_t offset, std::span<std::byte> into) const {
  poster_.copier().read(data() + offset, into);
}
void CudaOwnRegion::write(std::uint64_t offset, std::span<const std::byte> from) const {
  poster_.copier().write(data() + offset, from);
}

}  // namespace tca::cuda
