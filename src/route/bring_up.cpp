#include "route/bring_up.hpp"

#include "fabric/shm/join.hpp"
#include "fabric/shm/shm_fabric.hpp"

namespace tca::route {

Ground bring_up_process(std::chrono::milliseconds time_limit) {
  const shm::Seating seating = shm::find_seating();
  Ground ground;
  ground.launcher = seating.launcher;
  if (seating.path.empty()) {
    ground.control = std::make_unique<shm::ShmControl>(shm::make_thread_board(1), 0, 1, time_limit);
    ground.fabrics.push_back(shm::make_fabric(*ground.control, shm::Space::of_threads()));
    if (ground.launcher.empty()) ground.launcher = "alone";
    return ground;
  }
  ground.control = shm::join(seating, time_limit);
  ground.fabrics.push_back(shm::make_fabric(*ground.control, shm::Space::of_processes()));
  return ground;
}

ThreadGround::ThreadGround(int ranks) : ranks_(ranks), board_(shm::make_thread_board(ranks)) {}

std::unique_ptr<fabric::Control> ThreadGround::control(int rank, std::chrono::milliseconds time_limit) const {
  return std::make_unique<shm::ShmControl>(shm::Mapping(board_.data(), board_.bytes(), false), rank, ranks_,
                                           time_limit);
}

Ground ThreadGround::bring_up(int rank, std::chrono::milliseconds time_limit) const {
  Ground ground;
  ground.control = control(rank, time_limit);
  ground.fabrics.push_back(shm::make_fabric(*ground.control, shm::Space::of_threads()));
  ground.launcher = "threads";
  return ground;
}

}  // namespace tca::route
