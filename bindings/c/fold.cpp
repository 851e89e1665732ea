#include "c/chains.hpp"
#include "c/handles.hpp"

using namespace tca::c;

tca_status tca_fold_create(tca_world* world, const char* name, tca_halo* halo,
                           const tca_chain_options* options, tca_fold** fold) {
  return guarded(__func__, [&] {
    tca_fold*& made = emptied(fold);
    made = make<tca_fold>(world_of(world), std::string(&present(name, "the name")), object(halo),
                          chain_options_of(options));
  });
}

tca_status tca_fold_free(tca_fold* fold) {
  return guarded(__func__, [&] { destroy(fold); });
}

tca_status tca_fold_add(tca_fold* fold, tca_window* window, int64_t offset, int type, int operation) {
  return guarded(__func__, [&] {
    object(fold).add(object(window), enumerator(type, tca::DataType::other, "tca_data_type"), offset,
                     enumerator(operation, tca::ReduceOp::product, "tca_reduce_op"));
  });
}

tca_status tca_fold_commit(tca_fold* fold) {
  return guarded(__func__, [&] { object(fold).commit(); });
}

tca_status tca_fold_start(tca_fold* fold) {
  return guarded(__func__, [&] { object(fold).start(); });
}

tca_status tca_fold_test(tca_fold* fold) {
  return guarded(__func__, [&] { return finished(object(fold).test()); });
}

tca_status tca_fold_wait(tca_fold* fold) {
  return guarded(__func__, [&] { object(fold).wait(); });
}

tca_status tca_fold_wait_for(tca_fold* fold, double seconds) {
  return guarded(__func__, [&] { return finished(object(fold).wait_for(duration_of(seconds))); });
}

tca_status tca_fold_run(tca_fold* fold) {
  return guarded(__func__, [&] { object(fold).run(); });
}

tca_status tca_fold_start_on(tca_fold* fold, tca_stream stream) {
  return guarded(__func__, [&] { object(fold).start(stream); });
}

tca_status tca_fold_wait_on(tca_fold* fold, tca_stream stream) {
  return guarded(__func__, [&] { object(fold).wait(stream); });
}

tca_status tca_fold_run_on(tca_fold* fold, tca_stream stream) {
  return guarded(__func__, [&] { object(fold).run(stream); });
}

tca_status tca_fold_explain(tca_fold* fold, const char** text) {
  return guarded(__func__, [&] { present(text, "the place for the text") = lent(object(fold).explain()); });
}
