#include "fft/way.hpp"

namespace tca::fft {

namespace {

class HostWay : public Way {
 public:
  HostWay(World& world, const Pipeline& forward, const Pipeline& backward)
      : world_(world), forward_(forward), backward_(backward) {}

  void forward() override { forward_.run(); }
  void backward() override { backward_.run(); }

  Taken run(int pairs) override {
    Taken taken;
    const double begin = now_us();
    double last = begin;
    bool exchanged = false;
    const Pipeline::Lap lap = [&](bool exchanging) {
      const double now = now_us();
      if (exchanged) taken.exchange_us += now - last;
      exchanged = exchanging;
      last = now;
    };
    for (int pair = 0; pair < pairs; ++pair) {
      forward_.run(lap);
      backward_.run(lap);
    }
    taken.total_us = now_us() - begin;
    return taken;
  }

 private:
  double now_us() const { return world_.now().count() * 1e6; }

  World& world_;
  const Pipeline &forward_, &backward_;
};

}  // namespace

std::unique_ptr<Way> host_way(World& world, const Pipeline& forward, const Pipeline& backward) {
  return std::make_unique<HostWay>(world, forward, backward);
}

}  // namespace tca::fft
