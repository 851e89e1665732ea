/*
 * Produced signals (tca/device/produced.hpp) of kernels that follow each other on a stream, as in lattice QCD's steps. Kernel n
 * begins with the signal of exchange n, for what kernels before it have stored at the neighbour, waits for the neighbour's, and
 * reads; its blocks store what belongs to exchange n + 1 meanwhile, before, between and after their reads. Even and odd exchanges
 * have a place each, and one counter.
 *
 * MEET: the same place follows itself. An exchange of nothing comes between, and stores are behind it.
 */
#define PLACES 4
#include "memory.pml"

#if defined(MEET) || defined(BREAK_SAME_PARITY) || defined(BREAK_ONE_BUFFER)
#define GHOST(n) 0
#else
#define GHOST(n) ((n) % 2 * 2)
#endif

inline store(n, word) { forth[me]!GHOST(n) + word,TAG(me, n) }
inline read(n, word) { assert(data[AT(INTO(me), GHOST(n) + word)] == TAG(INTO(me), n)) }

inline exchange() {
  number++;
  forth[me]!ARRIVE,number;
  arrive[OF(INTO(me), 0)] >= number
}

proctype Rank(byte me) {
  byte n, number;
  bool read_0, read_1, stored_0, stored_1;
  store(1, 0);
  store(1, 1);
  for (n : 1 .. STEPS) {
    exchange();
    read_0 = false;
    read_1 = false;
    stored_0 = false;
    stored_1 = false;
    do
    :: !read_0 -> read(n, 0); read_0 = true
    :: !read_1 -> read(n, 1); read_1 = true
#if !defined(MEET) && !defined(BREAK_SAME_PARITY)
    :: !stored_0 -> store(n + 1, 0); stored_0 = true
    :: !stored_1 -> store(n + 1, 1); stored_1 = true
    :: read_0 && read_1 && stored_0 && stored_1 -> break
#else
    :: read_0 && read_1 -> break
#endif
    od;
#ifdef MEET
    exchange();
#endif
#if defined(MEET) || defined(BREAK_SAME_PARITY)
    store(n + 1, 0);
    store(n + 1, 1)
#endif
  }
}
