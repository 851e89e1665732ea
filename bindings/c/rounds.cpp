#include "tca/rounds.hpp"

#include "c/calls.hpp"
#include "c/handles.hpp"

namespace tca::c {

// Rounds of whichever of the two there is, found by its handle at every step: it may have been freed.
class HeldRounds {
 public:
  HeldRounds(tca_world* world, const char* name, tca_chain* chain, tca_halo* halo)
      : steps_{chain, halo}, rank_(world_of(world).rank()), rounds_(world_of(world), steps_, name) {}

  int run(tca_load load, tca_unload unload, void* context) {
    return rounds_.run(
        [&] {
          int has_more = 0;
          require(load(context, &has_more));
          return has_more != 0;
        },
        [&] { require(unload(context)); });
  }

 private:
  struct Steps {
    tca_chain* chain;
    tca_halo* halo;

    void start() { chain != nullptr ? object(chain).start() : object(halo).start(); }
    void wait() { chain != nullptr ? object(chain).wait() : object(halo).wait(); }
  };

  void require(tca_status status) const {
    if (status != TCA_OK) throw_status(rank_, status);
  }

  Steps steps_;
  int rank_;
  Rounds<Steps> rounds_;
};

}  // namespace tca::c

using namespace tca::c;

tca_status tca_rounds_of_chain(tca_world* world, const char* name, tca_chain* chain, tca_rounds** rounds) {
  return guarded(__func__, [&] {
    tca_rounds*& made = emptied(rounds);
    static_cast<void>(object(chain));
    made = make<tca_rounds>(world, &present(name, "the name"), chain, nullptr);
  });
}

tca_status tca_rounds_of_halo(tca_world* world, const char* name, tca_halo* halo, tca_rounds** rounds) {
  return guarded(__func__, [&] {
    tca_rounds*& made = emptied(rounds);
    static_cast<void>(object(halo));
    made = make<tca_rounds>(world, &present(name, "the name"), nullptr, halo);
  });
}

tca_status tca_rounds_run(tca_rounds* rounds, tca_load load, tca_unload unload, void* context, int* count) {
  return guarded(__func__, [&] {
    HeldRounds& all = object(rounds);
    int& ran = present(count, "the place for the count");
    if (load == nullptr || unload == nullptr) throw Misuse("load or unload is NULL");
    ran = all.run(load, unload, context);
  });
}

tca_status tca_rounds_free(tca_rounds* rounds) {
  return guarded(__func__, [&] { destroy(rounds); });
}
