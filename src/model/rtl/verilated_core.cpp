// The hubs that Verilator has made of rtl/.
#include <hub128.h>
#include <hub256.h>

#include <algorithm>

#include "model/rtl/core.hpp"

namespace tca::rtl {

namespace {

template <class Model, std::size_t words>
class Verilated final : public Core {
 public:
  explicit Verilated(std::uint32_t node) : model_(&context_) {
    model_.node_i = static_cast<CData>(node);
    for (const int high : {1, 0, 1}) {
      model_.rst_ni = static_cast<CData>(high);
      model_.eval();
    }
  }
  ~Verilated() override { model_.final(); }

  void cycle(const Wires& in, Wires& out) override {
    give(in);
    model_.clk_i = 0;
    model_.eval();
    take(out);
    idle_ = model_.idle_o != 0;
    waiting_ = model_.waiting_o != 0;
    model_.clk_i = 1;
    model_.eval();
  }
  bool idle() const override { return idle_; }
  bool waiting() const override { return waiting_; }

 private:
  // On the cables, what several of them carry is packed into one value.
  static CData bit(std::uint32_t number, bool set) { return static_cast<CData>((set ? 1u : 0u) << number); }
  static bool has(CData bits, std::uint32_t number) { return ((bits >> number) & 1) != 0; }

  void give(const Wires& in) {
    model_.cable_valid_i = model_.cable_last_i = model_.cable_credit_i = 0;
    for (std::uint32_t port = 0; port < port::host; ++port) {
      const Beat& beat = in.beats[port];
      model_.cable_credit_i |= bit(port, in.credits[port]);
      model_.cable_valid_i |= bit(port, beat.valid);
      model_.cable_last_i |= bit(port, beat.last);
      if (beat.valid) std::copy_n(beat.words.begin(), words, model_.cable_data_i.data() + port * words);
    }
    const Beat& beat = in.beats[port::host];
    model_.host_credit_i = in.credits[port::host];
    model_.host_valid_i = beat.valid;
    model_.host_last_i = beat.last;
    if (beat.valid) std::copy_n(beat.words.begin(), words, model_.host_data_i.data());
  }

  void take(Wires& out) {
    for (std::uint32_t port = 0; port < port::host; ++port) {
      Beat& beat = out.beats[port];
      out.credits[port] = has(model_.cable_credit_o, port);
      beat.valid = has(model_.cable_valid_o, port);
      beat.last = has(model_.cable_last_o, port);
      if (beat.valid) std::copy_n(model_.cable_data_o.data() + port * words, words, beat.words.begin());
    }
    Beat& beat = out.beats[port::host];
    out.credits[port::host] = model_.host_credit_o != 0;
    beat.valid = model_.host_valid_o != 0;
    beat.last = model_.host_last_o != 0;
    if (beat.valid) std::copy_n(model_.host_data_o.data(), words, beat.words.begin());
  }

  VerilatedContext context_;
  Model model_;
  bool idle_ = false, waiting_ = false;
};

}  // namespace

void check_core() {}

std::unique_ptr<Core> make_core(std::uint32_t bits, std::uint32_t node) {
  if (bits == 128) return std::make_unique<Verilated<Hub128, 4>>(node);
  return std::make_unique<Verilated<Hub256, 8>>(node);
}

}  // namespace tca::rtl
