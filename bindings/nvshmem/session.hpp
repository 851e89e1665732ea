// The PE that this process is, between init and finalize.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nvshmem/across_hosts.hpp"
#include "nvshmem/pe.hpp"
#include "tca/team.hpp"
#include "tca_nvshmem/types.h"

namespace tca::nvshmem {

class Session {
 public:
  // Collective. `flags` and `attributes` are those of nvshmemx_init_attr; 0: as launchers say.
  Session(unsigned flags, const nvshmemx_init_attr_t* attributes);
  Session(const Session&) = delete;
  ~Session();

  Pe& pe() { return *pe_; }
  // The PEs of a team.
  World& world_of(nvshmem_team_t team) { return node_ && team != NVSHMEM_TEAM_WORLD ? *node_ : world_; }
  // What a team does together where its PEs are on several hosts; null where kernels do it.
  AcrossHosts* across_hosts(nvshmem_team_t team) {
    return across_ && team == NVSHMEM_TEAM_WORLD ? &*across_ : nullptr;
  }
  // The stream of what the host does without naming one.
  Stream stream() const { return stream_; }

 private:
  World world_;
  std::optional<Pe> pe_;
  // Where PEs are on several hosts: those of this one, and what all do together.
  std::optional<World> node_;
  std::optional<AcrossHosts> across_;
  std::vector<Team> teams_;
  Stream stream_ = nullptr;
};

// Null before init and after finalize.
std::unique_ptr<Session>& session();

// Makes it; collective. It is left at the latest when the process ends.
void come_up(unsigned flags, const nvshmemx_init_attr_t* attributes);

// A name by which the PEs of a program find each other, in an id that travels to them as bytes.
void make_id(nvshmemx_uniqueid_t& id);

}  // namespace tca::nvshmem
