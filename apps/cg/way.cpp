#include "cg/way.hpp"

namespace tca::cg {

namespace {

class HostWay : public Way {
 public:
  HostWay(World& world, Solver& solver, Exchange& exchange, Order order)
      : world_(world), solver_(solver), exchange_(exchange), order_(order) {}

  Step run(int steps, std::vector<double>& step_us, const Tick& tick) override {
    solver_.restart();
    Step last;
    for (int step = 1; step <= steps; ++step) {
      const double begin = world_.now().count();
      last = solver_.step(exchange_, order_);
      step_us.push_back((world_.now().count() - begin) * 1e6);
      if (tick) tick(step);
    }
    return last;
  }

  MessageTimes time_messages(int steps) override {
    MessageTimes times;
    for (int step = 0; step < steps; ++step) solver_.step(exchange_, order_, &times);
    return times;
  }

  std::string explain(Message message) const override { return exchange_.explain(message); }

 private:
  World& world_;
  Solver& solver_;
  Exchange& exchange_;
  Order order_;
};

}  // namespace

std::unique_ptr<Way> host_way(World& world, Solver& solver, Exchange& exchange, Order order) {
  return std::make_unique<HostWay>(world, solver, exchange, order);
}

}  // namespace tca::cg
