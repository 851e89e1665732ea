#include "model/des/wait.hpp"

namespace tca::des {

void Semaphore::release(std::uint64_t count) {
  count_ += static_cast<std::int64_t>(count);
  while (list_.first != WaitList::nobody && simulator_.first_need(list_) <= available()) {
    take(simulator_.first_need(list_));
    simulator_.wake_first(list_);
  }
}

void Group::spawn(Task task, Label name) {
  ++started_;
  simulator_.spawn(run(std::move(task)), name);
}

Task Group::run(Task task) {
  co_await task;
  ended_.add();
}

}  // namespace tca::des
