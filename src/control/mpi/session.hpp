// Initialises MPI in this process unless the program has done so, and finalises it only if it was
// initialised here.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "control/control.hpp"

namespace tca::mpi {

// Which threads call MPI: only the rank's own, or also a progress thread (progress_thread.hpp) or a proxy
// thread (staged.hpp).
enum class Callers { own_thread, progress_thread, proxy_thread };

// Initialises MPI unless that has been done; it is then finalised when the process ends. Throws
// Error{incompatible} if MPI does not allow such callers, or has already been finalised.
void ensure_session(Callers callers, std::chrono::milliseconds time_limit);

// Throws Error{incompatible} if only the thread that initialised MPI may call it, and this is another one.
void check_thread(std::string_view what);

// A BeforeEnd has its function called if it still exists when MPI is about to be finalised, by this library
// or by the program. Parts of a world use this, since no MPI call is allowed afterwards. `trouble` says why
// the process ends in the middle of the world, if it does.
class BeforeEnd {
 public:
  using Call = std::function<void(const std::optional<control::Trouble>& trouble)>;

  explicit BeforeEnd(Call call);
  BeforeEnd(const BeforeEnd&) = delete;
  ~BeforeEnd();

 private:
  friend class Ends;
  Call call_;
};

// Called when a rank is lost or fails, including this one. MPI_Finalize would wait for ranks that never
// arrive, so this process ends without calling it.
void spoil_session();

// Called when all processes of the job have come together again after worlds that failed for some:
// MPI_Finalize is called after all.
void mend_session();

}  // namespace tca::mpi
