// Buffers in memory of GPUs, as the engine sees them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "mpi/gpu/device.hpp"
#include "mpi/gpu/gpu.hpp"
#include "mpi/gpu/mappings.hpp"

namespace tca::interposer::gpu {

namespace {

// What the receiver's process needs to read a message where it is.
struct Reach {
  Handle handle;
  Places places;  // with addresses of the sender's process
};
static_assert(std::is_trivially_copyable_v<Reach>);

bool have_room(const TypeMap* map) { return map == nullptr || map->runs().size() <= most_pieces; }

Places places_of(std::byte* base, std::size_t size, const TypeMap* map) {
  Places places;
  places.base = base;
  if (map == nullptr || !have_room(map)) return places;
  places.extent = map->extent();
  places.size = size;
  std::uint64_t begin = 0;
  for (const Run& run : map->runs()) {
    places.piece[places.pieces++] = {run.offset, run.bytes, run.count, run.pitch, begin};
    begin += run.all_bytes();
  }
  return places;
}

class Buffer final : public p2p::Scattering {
 public:
  Buffer(std::byte* base, std::size_t bytes, std::size_t size, std::shared_ptr<const TypeMap> map,
         Device& device, const Allocation& allocation)
      : bytes_(bytes), size_(size), map_(std::move(map)), device_(device) {
    reach_.places = places_of(base, size, map_.get());
    is_simple_ = have_room(map_.get());
    if (!is_simple_) return;
    if (const std::optional<Handle> handle = Handles::get().of(allocation)) {
      reach_.handle = *handle;
      is_reached_ = true;
    }
  }

  std::span<const std::byte> reach() const override {
    return is_reached_ ? std::as_bytes(std::span(&reach_, 1)) : std::span<const std::byte>();
  }
  void gather(const std::byte*, std::size_t at, std::size_t bytes, std::byte* into) const override {
    if (is_simple_) {
      require(device_.copy_out(reach_.places, at, bytes, into));
      return;
    }
    const auto whole = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    read_pieces(whole.get());
    std::memcpy(into, whole.get() + at, bytes);
  }
  void scatter(std::byte*, std::size_t at, std::size_t bytes, const std::byte* from) const override {
    if (is_simple_) {
      require(device_.copy_in(reach_.places, at, bytes, from));
      return;
    }
    const auto whole = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    read_pieces(whole.get());
    std::memcpy(whole.get() + at, from, bytes);
    write_pieces(whole.get());
  }

  Device& device() const { return device_; }
  const Places& places() const { return reach_.places; }
  bool is_simple() const { return is_simple_; }

 private:
  static void require(bool is_copied) {
    if (!is_copied) throw std::bad_alloc();
  }
  // Datatypes of very many pieces go piece by piece.
  template <class Copy>
  void for_pieces(const Copy& copy) const {
    for (std::size_t element = 0; element < bytes_ / size_; ++element) {
      std::size_t at = element * size_;
      for (const Run& run : map_->runs()) {
        Places places;
        places.base = reach_.places.base + static_cast<std::int64_t>(element) * map_->extent();
        places.size = run.all_bytes();
        places.pieces = 1;
        places.piece[0] = {run.offset, run.bytes, run.count, run.pitch, 0};
        require(copy(places, run.all_bytes(), at));
        at += run.all_bytes();
      }
    }
  }
  void read_pieces(std::byte* whole) const {
    for_pieces([&](const Places& from, std::size_t bytes, std::size_t at) {
      return device_.copy_out(from, 0, bytes, whole + at);
    });
  }
  void write_pieces(const std::byte* whole) const {
    for_pieces([&](const Places& to, std::size_t bytes, std::size_t at) {
      return device_.copy_in(to, 0, bytes, whole + at);
    });
  }

  std::size_t bytes_, size_;
  std::shared_ptr<const TypeMap> map_;
  Device& device_;
  Reach reach_;
  bool is_simple_ = false, is_reached_ = false;
};

}  // namespace

std::string begin() {
  may_be_there = access("/dev/nvidiactl", F_OK) == 0 && Driver::get() != nullptr;
  return {};
}

std::shared_ptr<const p2p::Scattering> find(std::byte* buffer, std::size_t bytes, std::size_t size,
                                            std::shared_ptr<const TypeMap> map) {
  const std::byte* const first =
      reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(buffer) + (map ? map->offset() : 0));
  const std::optional<Allocation> allocation = Driver::get()->find(first);
  if (!allocation) return nullptr;
  Device* const device = Device::of(allocation->context);
  if (device == nullptr) throw std::bad_alloc();
  return std::make_shared<const Buffer>(buffer, bytes, size, std::move(map), *device, *allocation);
}

bool fetch(int source, std::span<const std::byte> reach, std::size_t bytes, const p2p::Target& target) {
  Reach from;
  if (reach.size() != sizeof from) return false;
  std::memcpy(static_cast<void*>(&from), reach.data(), sizeof from);
  const auto* const buffer = dynamic_cast<const Buffer*>(target.scattering);
  Device* const device = buffer != nullptr ? &buffer->device() : Device::any();
  if (device == nullptr) return false;
  const auto here = Mappings::get().find(source, from.handle, device->context());
  if (!here) return false;
  from.places.base += static_cast<std::int64_t>(*here) - static_cast<std::int64_t>(from.handle.base);
  if (buffer != nullptr && buffer->is_simple()) return device->copy(from.places, buffer->places(), bytes);
  auto* const data = static_cast<std::byte*>(target.data);
  if (target.scattering == nullptr) return device->copy_out(from.places, 0, bytes, data);
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (!device->copy_out(from.places, 0, bytes, copy.get())) return false;
  target.scattering->scatter(data, 0, bytes, copy.get());
  return true;
}

void end() {
  if (may_be_there) Mappings::get().forget_all();
}

}  // namespace tca::interposer::gpu
