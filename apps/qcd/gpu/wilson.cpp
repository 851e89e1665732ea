#include "qcd/gpu/wilson.hpp"

#include <algorithm>

#include "shared/gpu_sum.hpp"
#include "tca/device/produced.hpp"

namespace tca::qcd {
namespace {

Chunks interior(Chunks all) {
  all.count = all.interior;
  return all;
}
Chunks boundary(Chunks all) {
  all.order += all.interior;
  all.count -= all.interior;
  all.interior = 0;
  return all;
}

}  // namespace

template <class T>
GpuWilson<T>::GpuWilson(World& world, const Gauge& gauge, const WilsonOptions& options,
                        const std::string& name, bool in_kernel, const OwnStream& stream)
    : lattice_(gauge.lattice()),
      stream_(stream),
      two_rows_(options.storage == Storage::two_rows),
      tables_(gauge, options.storage, options.antiperiodic),
      half_(tables_.ground.half()),
      links_(tables_.links),
      time_sign_(tables_.time_sign),
      next_(tables_.next),
      even_order_(tables_.order[0]),
      odd_order_(tables_.order[1]),
      b_(half_ * spinor_reals * static_cast<std::size_t>(options.rhs)),
      x_(b_.size()),
      r_(b_.size()),
      odd_(b_.size()),
      s_(b_.size()),
      p_(b_.size()),
      q_(b_.size()),
      w_(b_.size()) {
  tables_.links.clear();
  tables_.links.shrink_to_fit();
  solve_.ground = tables_.ground;
  solve_.ground.links = links_.data();
  solve_.ground.time_sign = time_sign_.data();
  solve_.ground.next = next_.data();
  solve_.ground.rhs = static_cast<Word>(options.rhs);
  for (const Word odd : {0U, 1U})
    solve_.chunks[odd] = {(odd == 0 ? even_order_ : odd_order_).data(), tables_.interior[odd],
                          tables_.ground.chunks()};
  solve_.b = b_.data();
  solve_.x = x_.data();
  solve_.r = r_.data();
  solve_.odd = odd_.data();
  solve_.s = s_.data();
  solve_.p = p_.data();
  solve_.q = q_.data();
  solve_.w = w_.data();
  solve_.kappa2 = static_cast<T>(options.kappa * options.kappa);
  cuda_ok(two_rows_ ? prepare_hops<T, 12>() : prepare_hops<T, 18>(), "preparing hops");
  if (!lattice_.faces().empty()) {
    const int reals = half_reals * options.rhs;
    if (options.peer == nullptr && apps::is_one_sub_cluster(world) && !world.ranks_share_devices()) {
      stored_.emplace(world, lattice_, reals, name + " halves");
      crossing_ = stored_->crossing();
    } else {
      faces_.emplace(world, lattice_, name, reals, true, options.peer);
      crossing_.ghosts = faces_->ghosts();
      std::fill_n(crossing_.to, directions, faces_->outgoing());
      if (!world.ranks_share_devices()) side_.emplace();
    }
  }
  if (in_kernel) connect_kernels(world, name + " in kernels");
}

template <class T>
void GpuWilson<T>::connect_kernels(World& world, const std::string& name) {
  std::optional<ProducedPut<Half<T>>> to[directions];
  std::optional<ProducedArrival<Half<T>>> from[directions];
  produced_.emplace(world.chain(name, {.guarded = false}));
  for_each_way(lattice_, [&](const Face& face, const Face& behind) {
    const auto halves = static_cast<std::int64_t>(face.even.size());
    to[face.direction] = produced_->put_produced<Half<T>>(face.neighbour, halves);
    from[behind.direction] = produced_->expect_produced<Half<T>>(behind.neighbour, halves);
  });
  produced_->commit();
  solve_.halves.steps = produced_->device_produced().progress();
  for (const Face& face : lattice_.faces()) {
    solve_.halves.to[face.direction] = to[face.direction]->device();
    solve_.halves.from[face.direction] = from[face.direction]->device();
  }
}

template <class T>
void GpuWilson<T>::launch(const Stage<T>& stage, const Chunks& some, unsigned blocks, double* partials) {
  const auto how = two_rows_ ? launch_hop<T, 12> : launch_hop<T, 18>;
  // No hop may be early after a chain's kernel that waits for a rank on the same GPU: the hop's blocks might
  // take the place that the other rank needs.
  const bool early = !faces_ || side_;
  cuda_ok(how(solve_.ground, stage, some, blocks, crossing_, partials, early, stream_.get()),
          "starting a hop");
}

// If the last exchange was of the same parity, a neighbour may still be reading its halves. An exchange of
// the other parity makes sure that it is not.
template <class T>
const Crossing<T>& GpuWilson<T>::clear_to_send(bool odd) {
  if (stored_ && odd == last_odd_) {
    cuda_ok(launch_meet(solve_.ground, crossing_, !odd, stream_.get()), "meeting neighbours");
    last_odd_ = !odd;
  }
  return crossing_;
}

// Only chunks at the faces have anything to send.
template <class T>
void GpuWilson<T>::project(const T* field, bool odd, bool dagger) {
  const Chunks some = boundary(solve_.chunks[odd ? 1 : 0]);
  cuda_ok(launch_project(solve_.ground, field, odd, dagger, some, clear_to_send(odd), stream_.get()),
          "starting a projection");
}

// Beside chains the interior gets the fewest blocks that need no more turns than all that can run at once.
// Some of the exchange's kernels run in the place that is left. Otherwise a block whose place they had taken
// would begin late, and a kernel ends with its last block.
template <class T>
unsigned GpuWilson<T>::interior_blocks(const Chunks& all) const {
  const unsigned at_once = hop_blocks(all.interior);
  if (at_once == 0) return 0;
  const unsigned turns = (all.interior + at_once - 1) / at_once;
  return (all.interior + turns - 1) / turns;
}

template <class T>
unsigned GpuWilson<T>::run(const Stage<T>& stage, double* partials) {
  const Chunks& all = solve_.chunks[stage.to_odd ? 1 : 0];
  if (faces_)
    run_beside_chains(stage, all, partials);
  else
    launch(stage, all, hop_blocks(all.count), partials);
  last_odd_ = !stage.to_odd;
  return shares();
}

template <class T>
void GpuWilson<T>::run_beside_chains(const Stage<T>& stage, const Chunks& all, double* partials) {
  const Sites sent = stage.to_odd ? Sites::even : Sites::odd;
  const cudaStream_t crossing = side_ ? side_->fork(stream_.get()) : stream_.get();
  faces_->start(sent, crossing);
  launch(stage, interior(all), interior_blocks(all), partials);
  faces_->wait(sent, crossing);
  if (side_) side_->join(stream_.get());
  const Chunks some = boundary(all);
  launch(stage, some, hop_blocks(some.count),
         partials + std::size_t{interior_blocks(all)} * rhs() * sum_count);
}

// Counts the chunks of the even sites, over which solves take sums. If a row has an odd number of chunks, the
// odd sites may have another number of chunks with ghosts.
template <class T>
unsigned GpuWilson<T>::shares() const {
  const Chunks& all = solve_.chunks[0];
  if (!faces_) return hop_blocks(all.count);
  return interior_blocks(all) + hop_blocks(all.count - all.interior);
}

template <class T>
void GpuWilson<T>::update(const CgSteps* steps) {
  cuda_ok(launch_update(solve_, steps, clear_to_send(false), stream_.get()), "starting an update");
}

template <class T>
std::int64_t GpuWilson<T>::bytes() const {
  return lattice_.slots() * half_reals * std::int64_t{rhs()} * std::int64_t{sizeof(T)};
}

template <class T>
std::string GpuWilson<T>::explain() const {
  if (produced_) return produced_->explain();
  if (faces_) return faces_->explain();
  std::string text;
  for (const Face& face : lattice_.faces()) {
    text +=
        "to rank " + std::to_string(face.neighbour) + ": " +
        std::to_string(face.even.size() * half_reals * std::int64_t{rhs()} * std::int64_t{sizeof(T)}) +
        " bytes a hop, cuda/direct: stored by the kernel that makes them, and signalled by the one behind\n";
  }
  return text;
}

template class GpuWilson<float>;
template class GpuWilson<double>;

}  // namespace tca::qcd
