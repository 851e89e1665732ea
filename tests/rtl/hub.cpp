#include "hub.hpp"

#include <hub128.h>
#include <hub256.h>

#include <cstring>

namespace tca::test {

namespace {

template <class Model, std::size_t width>
class Verilated : public Hub {
 public:
  explicit Verilated(std::uint32_t node) : model_(&context_) {
    model_.node_i = static_cast<unsigned char>(node);
    model_.clk_i = 0;
    model_.rst_ni = 1;
    model_.eval();
    model_.rst_ni = 0;
    model_.eval();
    model_.rst_ni = 1;
    model_.eval();
  }

  Ports cycle(const Ports& in) override {
    Ports out;
    unsigned valid = 0, last = 0, credit = 0;
    for (std::size_t port = 0; port < cables; ++port) {
      const unsigned bit = 1U << port;
      if (in.cable[port]) {
        valid |= bit;
        if (in.cable[port]->last) last |= bit;
        put(model_.cable_data_i, port, *in.cable[port]);
      }
      if (in.cable_credit[port]) credit |= bit;
      if ((model_.cable_valid_o & bit) != 0) {
        out.cable[port] = get(model_.cable_data_o, port, (model_.cable_last_o & bit) != 0);
      }
      out.cable_credit[port] = (model_.cable_credit_o & bit) != 0;
    }
    model_.cable_valid_i = static_cast<unsigned char>(valid);
    model_.cable_last_i = static_cast<unsigned char>(last);
    model_.cable_credit_i = static_cast<unsigned char>(credit);
    model_.host_valid_i = in.host.has_value();
    if (in.host) {
      put(model_.host_data_i, 0, *in.host);
      model_.host_last_i = in.host->last;
    }
    model_.host_credit_i = in.host_credit;
    if (model_.host_valid_o != 0) out.host = get(model_.host_data_o, 0, model_.host_last_o != 0);

    model_.stream_valid_i = offer_.has_value();
    if (offer_) {
      std::memcpy(model_.stream_descriptor_i.data(), offer_->descriptor.data(), sizeof offer_->descriptor);
      model_.stream_value_i = offer_->value;
    }
    model_.eval();
    out.host_credit = model_.host_credit_o != 0;
    if (model_.stream_ready_o != 0) offer_.reset();
    model_.clk_i = 1;
    model_.eval();
    model_.clk_i = 0;
    model_.eval();
    return out;
  }

  void offer(const Stream& stream) override { offer_ = stream; }
  [[nodiscard]] bool offering() const override { return offer_.has_value(); }
  [[nodiscard]] bool idle() const override { return model_.idle_o != 0; }
  [[nodiscard]] bool waiting() const override { return model_.waiting_o != 0; }

 private:
  template <class Words>
  static void put(Words& words, std::size_t place, const Beat& beat) {
    std::memcpy(words.data() + place * (width / 32), beat.data.data(), width / 8);
  }
  template <class Words>
  static Beat get(const Words& words, std::size_t place, bool last) {
    Beat beat;
    beat.last = last;
    std::memcpy(beat.data.data(), words.data() + place * (width / 32), width / 8);
    return beat;
  }

  VerilatedContext context_;
  Model model_;
  std::optional<Stream> offer_;
};

}  // namespace

std::unique_ptr<Hub> Hub::make(std::size_t width, std::uint32_t node) {
  if (width == 128) return std::make_unique<Verilated<Hub128, 128>>(node);
  return std::make_unique<Verilated<Hub256, 256>>(node);
}

}  // namespace tca::test
