#include "c/calls.hpp"
#include "c/handles.hpp"

using namespace tca::c;

tca_status tca_counted_put_set(tca_counted_put* put, int64_t elements) {
  return guarded(__func__, [&] { object(put).set(elements); });
}

tca_status tca_counted_put_length(tca_counted_put* put, int64_t* elements) {
  return guarded(__func__, [&] { present(elements, "the place for the length") = object(put).length(); });
}

tca_status tca_counted_put_capacity(tca_counted_put* put, int64_t* elements) {
  return guarded(__func__, [&] { present(elements, "the place for the capacity") = object(put).capacity(); });
}

tca_status tca_counted_put_rank(tca_counted_put* put, int* rank) {
  return guarded(__func__, [&] { present(rank, "the place for the rank") = object(put).rank(); });
}

tca_status tca_counted_put_free(tca_counted_put* put) {
  return guarded(__func__, [&] { destroy(put); });
}

tca_status tca_counted_arrival_count(tca_counted_arrival* arrival, int64_t* elements) {
  return guarded(__func__, [&] { present(elements, "the place for the count") = object(arrival).count(); });
}

tca_status tca_counted_arrival_capacity(tca_counted_arrival* arrival, int64_t* elements) {
  return guarded(__func__,
                 [&] { present(elements, "the place for the capacity") = object(arrival).capacity(); });
}

tca_status tca_counted_arrival_rank(tca_counted_arrival* arrival, int* rank) {
  return guarded(__func__, [&] { present(rank, "the place for the rank") = object(arrival).rank(); });
}

tca_status tca_counted_arrival_free(tca_counted_arrival* arrival) {
  return guarded(__func__, [&] { destroy(arrival); });
}
