#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "membership.hpp"

namespace opentca_python {

namespace nb = nanobind;

class ChainObject final : public Member {
 public:
  ChainObject(std::shared_ptr<Place> place, tca::Chain chain)
      : Member(std::move(place), Kind::step), handle_(std::move(chain)) {}
  void drop() override { handle_.drop(); }
  tca::Chain& step() { return present(*this, handle_, "chain"); }

 private:
  Handle<tca::Chain> handle_;
};

tca::ChainOptions chain_options(bool guarded, std::optional<double> time_limit, std::string channel,
                                bool partners_only = false, bool reroute = false);

void bind_chains(nb::module_& module);

}  // namespace opentca_python
