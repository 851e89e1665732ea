#include "c/chains.hpp"
#include "c/handles.hpp"
#include "c/layouts.hpp"

namespace tca::c {

ChainOptions chain_options_of(const tca_chain_options* given) {
  const char* const what = "options of a chain";
  const tca_chain_options options = taken(given, TCA_CHAIN_OPTIONS_INIT, what);
  require_unset(options.reserved, what);
  return {.guarded = options.unguarded == 0,
          .time_limit = limit_of(options.time_limit),
          .channel = text_of(options.channel),
          .partners_only = options.partners_only != 0,
          .reroute = options.reroute != 0};
}

}  // namespace tca::c

using namespace tca::c;

tca_status tca_chain_create(tca_world* world, const char* name, const tca_chain_options* options,
                            tca_chain** chain) {
  return guarded(__func__, [&] {
    tca_chain*& made = emptied(chain);
    made = make<tca_chain>(world_of(world).chain(&present(name, "the name"), chain_options_of(options)));
  });
}

tca_status tca_chain_free(tca_chain* chain) {
  return guarded(__func__, [&] { destroy(chain); });
}

tca_status tca_chain_put(tca_chain* chain, tca_remote to, const tca_layout* to_layout, tca_local from,
                         const tca_layout* from_layout) {
  return guarded(__func__, [&] {
    tca::Chain& all = object(chain);
    const tca_layout& there = present(to_layout, "the layout");
    const tca_layout& here = from_layout == nullptr ? there : *from_layout;
    all.put(object(to.window).on(to.rank).at(to.offset).at(there.first), layout_of(there),
            object(from.window).at(from.offset).at(here.first), layout_of(here));
  });
}

tca_status tca_chain_put_counted(tca_chain* chain, tca_remote to, const tca_layout* to_layout, tca_local from,
                                 const tca_layout* from_layout, tca_counted_put** put) {
  return guarded(__func__, [&] {
    tca_counted_put*& made = emptied(put);
    const tca_layout& there = present(to_layout, "the layout");
    const tca_layout& here = from_layout == nullptr ? there : *from_layout;
    made = make<tca_counted_put>(object(chain).put_counted(
        object(to.window).on(to.rank).at(to.offset).at(there.first), layout_of(there),
        object(from.window).at(from.offset).at(here.first), layout_of(here)));
  });
}

tca_status tca_chain_expect_counted(tca_chain* chain, int rank, tca_counted_arrival** arrival) {
  return guarded(__func__, [&] {
    tca_counted_arrival*& made = emptied(arrival);
    made = make<tca_counted_arrival>(object(chain).expect_counted(rank));
  });
}

tca_status tca_chain_signal(tca_chain* chain, int rank) {
  return guarded(__func__, [&] { object(chain).signal(rank); });
}

tca_status tca_chain_expect(tca_chain* chain, int rank) {
  return guarded(__func__, [&] { object(chain).expect(rank); });
}

tca_status tca_chain_commit(tca_chain* chain) {
  return guarded(__func__, [&] { object(chain).commit(); });
}

tca_status tca_chain_start(tca_chain* chain) {
  return guarded(__func__, [&] { object(chain).start(); });
}

tca_status tca_chain_test(tca_chain* chain) {
  return guarded(__func__, [&] { return finished(object(chain).test()); });
}

tca_status tca_chain_wait(tca_chain* chain) {
  return guarded(__func__, [&] { object(chain).wait(); });
}

tca_status tca_chain_wait_for(tca_chain* chain, double seconds) {
  return guarded(__func__, [&] { return finished(object(chain).wait_for(duration_of(seconds))); });
}

tca_status tca_chain_run(tca_chain* chain) {
  return guarded(__func__, [&] { object(chain).run(); });
}

tca_status tca_chain_start_on(tca_chain* chain, tca_stream stream) {
  return guarded(__func__, [&] { object(chain).start(stream); });
}

tca_status tca_chain_wait_on(tca_chain* chain, tca_stream stream) {
  return guarded(__func__, [&] { object(chain).wait(stream); });
}

tca_status tca_chain_run_on(tca_chain* chain, tca_stream stream) {
  return guarded(__func__, [&] { object(chain).run(stream); });
}

tca_status tca_chain_explain(tca_chain* chain, const char** text) {
  return guarded(__func__, [&] { present(text, "the place for the text") = lent(object(chain).explain()); });
}

tca_status tca_chain_name(tca_chain* chain, const char** name) {
  return guarded(__func__, [&] { present(name, "the place for the name") = lent(object(chain).name()); });
}
