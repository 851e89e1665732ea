// When the library comes up and goes: in MPI_Init and MPI_Finalize.
#pragma once

#include <string>
#include <string_view>

#include "mpi/hook.hpp"
#include "mpi/presence.hpp"

namespace tca::interposer {

class Session {
 public:
  static Session& get();

  // Called before MPI comes up.
  void announce() { presence_.announce(); }
  // Called once MPI is up; collective where all ranks have the library.
  void begin();
  // Called before MPI is finalised.
  void end();

  // Whether all of the job's ranks have the library and the same settings. Then it may ask them.
  bool is_whole() const { return is_whole_; }
  // Whether collectives may be served.
  bool serves() const { return serves_; }

  // One line for the user: of the job, which its rank 0 says, or of this rank.
  void say(std::string_view line) const;
  void say_here(std::string_view line) const;

 private:
  bool agree_on_settings() const;
  bool have_known_buffers() const;

  Presence presence_;
  bool is_whole_ = false, serves_ = false;
};

template <>
struct Served<Call::Finalize> {
  static int serve() {
    Session::get().end();
    return next<Call::Finalize>()();
  }
};

}  // namespace tca::interposer
