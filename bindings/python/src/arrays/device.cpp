#include "arrays/device.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "interpreter.hpp"
#include "tca/device/team.hpp"
#include "world.hpp"

namespace opentca_python {

using namespace nb::literals;

namespace {

nb::object arrays_of(const char* name) { return nb::module_::import_("opentca._arrays").attr(name); }

}  // namespace

std::optional<tca::Stream> stream_of(const Place& place, nb::handle given) {
  if (given.is_none() && !place.on_device()) return std::nullopt;
  if (given.is(arrays_of("HOST"))) return std::nullopt;
  const nb::object number =
      given.is_none() ? arrays_of("current_stream")(place.arrays()) : arrays_of("stream_number")(given);
  return reinterpret_cast<tca::Stream>(nb::cast<std::uintptr_t>(number));
}

void use_device_of(const void* address) {
  if (address != nullptr) arrays_of("use")(reinterpret_cast<std::uintptr_t>(address));
}

nb::object device_array(const Place& place, nb::handle window) {
  return arrays_of("array")(window, place.arrays());
}

namespace {

class TeamObject final : public Member {
 public:
  TeamObject(std::shared_ptr<Place> place, tca::Team team)
      : Member(std::move(place), Kind::step), handle_(std::move(team)) {}
  void drop() override { handle_.drop(); }
  tca::Team& team() { return present(*this, handle_, "team"); }

 private:
  Handle<tca::Team> handle_;
};

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

void bind_teams(nb::module_& module) {
  nb::class_<TeamObject>(module, "Team",
                         "All ranks as kernels see them, for sums, barriers and signals among them "
                         "(tca/team.cuh), on the fabric cuda.")
      .def(
          "__init__",
          [](TeamObject* self, const WorldObject& world, const std::string& name, std::int64_t max_values,
             std::int64_t max_blocks) {
            tca::World& of = world.place->world();
            tca::Team team = without_lock([&] { return of.team(name, max_values, max_blocks); });
            new (self) TeamObject(world.place, std::move(team));
          },
          "world"_a, "name"_a, "max_values"_a = 1, "max_blocks"_a = 0, "Collective.")
      .def_prop_ro(
          "size", [](TeamObject& self) { return self.team().device().size; }, "How many ranks there are.")
      .def_prop_ro(
          "raise_pointers",
          [](TeamObject& self) {
            const tca::DeviceTeam& team = self.team().device();
            std::vector<std::uintptr_t> words;
            for (std::uint32_t rank = 0; rank < team.size; ++rank) words.push_back(number(team.raise[rank]));
            return nb::tuple(nb::cast(words));
          },
          "The addresses, by rank, of the word there that counts this rank's signals.",
          nb::sig("def raise_pointers(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "raised", [](TeamObject& self) { return number(self.team().device().raised); },
          "The address of the words here that count the signals of each rank.")
      .def_prop_ro(
          "sent", [](TeamObject& self) { return number(self.team().device().sent); },
          "The address of the words here that count the signals to each rank.")
      .def_prop_ro(
          "seen", [](TeamObject& self) { return number(self.team().device().seen); },
          "The address of the words here that count what this rank has waited for of each.")
      .def(
          "device", [](TeamObject& self) { return bytes_of(self.team().device()); },
          "The bytes of the tca::DeviceTeam that kernels take.")
      .def(
          "close", [](TeamObject& self) { self.drop(); },
          "Gives up what it holds. Not collective, and never blocks.");
}

}  // namespace opentca_python
