// Initialises MPI in this process unless the program has done so, and finalises it only if it was
// initialised here.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "control/control.hpp"

namespace tca::mpi {

// Which threads call MPI: the rank's own alone, a progress thread too (progress_thread.hpp), or a proxy
// thread too (staged.hpp).
enum class Callers { own_thread, progress_thread, proxy_thread };

// Initialises MPI unless that has been done; it is then finalised when the process ends. Throws
// Error{incompatible} when MPI does not allow the callers, or has been finalised already.
void ensure_session(Callers callers, std::chrono::milliseconds time_limit);

// Throws Error{incompatible} where only the thread that initialised MPI may call it, and this is another one.
void check_thread(std::string_view what);

// A BeforeEnd has its function called if it still exists when MPI is about to be finalised, by this library
// or by the program. Parts of a world use this, since nothing of MPI may be called afterwards. `trouble`
// says why the process ends in the middle of the world, if it does.
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

// Called when a rank is lost or fails, this one included. MPI_Finalize would wait for ranks that do not
// come, so this process ends without calling it.
void spoil_session();

// Called when every process of the job has come together again after worlds that failed for some:
// MPI_Finalize is called after all.
void mend_session();

}  // namespace tca::mpi
