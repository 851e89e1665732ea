/// @file
/// Adds what ghost cells have gathered to the cells that they stand for: a halo in reverse, as in the
/// deposition of charge, in finite elements, and in XcalableMP's reduce_shadow:
///
///     tca::Halo halo(world, "rho", grid, {ny, nx}, {.corners = true});
///     auto rho = world.window<double>(halo.elements());
///     tca::Fold fold(world, "rho back", halo);
///     fold.add(rho).commit();
///     for (...) {
///       deposit(rho);                 // into cells and ghosts, which were set to 0 before
///       fold.start();
///       others();                     // overlaps
///       fold.wait();                  // cells have what the neighbours' ghosts have gathered for them
///     }
///
/// The halo determines which ghosts are added, and where: by its grid, its exchanged widths, and its
/// corners, without which ghosts that are outside in more than one dimension are left out. Ghosts stay as
/// they are.
///
/// A cell becomes op(... op(op(own, first), second) ..., last), where the others are its ghosts on other
/// ranks, by the number of the rank, and on the same rank by the side of the cell's owner on which that
/// rank lies, in row-major order. So a program gets the same bits in every run, on every fabric, on hosts
/// and on GPUs. It also gets them on another number of ranks or another grid if the operation is exact:
/// with integers (which wrap around), with min and max, and with floating-point sums that need no rounding,
/// such as those of multiples of 2^-20 below 2^32 in doubles. Otherwise a sum that needs rounding is
/// rounded in another order there, since what one rank has added up itself arrives in one piece.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "tca/chain.hpp"
#include "tca/detail/api.hpp"
#include "tca/halo.hpp"
#include "tca/stream.hpp"
#include "tca/types.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca {

struct DeviceFold;

namespace halo {
class FoldState;
}

/// A fold is a chain of the same name into memory of its own, and adds what has arrived in `wait`. So until
/// then a rank may also write to its cells; its ghosts are being sent, and may not change.
class TCA_API Fold {
 public:
  /// Makes an empty fold over the ranks of the halo's world, which involves no other rank until it is
  /// committed. The halo need not be committed, and may be destroyed before the fold is.
  Fold(World& world, std::string name, const Halo& halo, ChainOptions options = {});

  /// Adds a field of `Halo::elements` elements that begins at element `offset` of this rank's part of a
  /// window. A fold has any number of fields, of any types of numbers, and carries them in one chain.
  /// Throws Error{invalid_argument} if the window is too small, for a field that overlaps another one,
  /// after `commit`, and on GPUs for numbers other than float, double, int32 and int64.
  template <Element T>
  requires(data_type_of<T>() != DataType::other) Fold& add(const Window<T>& field, Count offset = 0,
                                                           ReduceOp op = ReduceOp::sum) {
    return add(field.untyped(), data_type_of<T>(), offset, op);
  }
  /// The same for windows without a type, and for elements that are several numbers of one type, such as
  /// vectors and complex numbers, which are combined number by number. Also throws Error{invalid_argument}
  /// if an element is not a whole number of them.
  Fold& add(const raw::Window& field, DataType type, Count offset = 0, ReduceOp op = ReduceOp::sum);

  /// Collective. Makes the memory for what arrives, as large as the cells that other ranks have ghosts of.
  /// Throws Error{refused}, with the same message on every rank, if ranks have added no window, different
  /// ones, or the same in another order or for other operations. Throws what World::window and
  /// Chain::commit do as well.
  void commit();

  /// The calls of the chain; see Chain. `test`, `wait` and `wait_for` also add what has arrived, once for
  /// each start.
  void start();
  [[nodiscard]] bool test();
  void wait();
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds duration);
  void run() {
    start();
    wait();
  }
  void start(Stream stream);
  void wait(Stream stream);
  void run(Stream stream) {
    start(stream);
    wait(stream);
  }

  /// What a kernel needs to take steps by itself: the chain, as Chain::device returns it (tca/chain.cuh),
  /// and the cells of a field, numbered from 0 in the order in which they were added, which the kernel
  /// combines after each wait (device::fold_cells in tca/device/fold.hpp). Valid as long as the fold. Throw
  /// Error{invalid_argument} before `commit`, if the fabric has no kernels, and for a field that does not
  /// exist.
  [[nodiscard]] const DeviceChain& device() const;
  [[nodiscard]] const DeviceFold& cells(std::size_t field) const;

  [[nodiscard]] std::string explain() const;

  /// Returns how many bytes of all fields this rank sends in a step.
  std::int64_t bytes() const;

  /// A fold that was moved from may only be destroyed or assigned to; all other calls throw
  /// Error{invalid_argument}.
  Fold(Fold&&) noexcept;
  Fold& operator=(Fold&&) noexcept;
  ~Fold();

 private:
  halo::FoldState& state() const;

  std::unique_ptr<halo::FoldState> state_;
};

}  // namespace tca
