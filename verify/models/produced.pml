/*
 * Produced puts (tca/device/produced.hpp): a lot of two elements, each a packet that is stored and loaded as a whole, its
 * step with it; a packet is overwritten two steps later. The elements of a step are written and read in any order.
 *
 * Guarded: start n waits until the receiver has said that it has read the elements of n - 2, and says so of n - 1.
 * `done` of memory.pml is what it says.
 *
 * TURNS: without a guard. Element i of a step is written once element i of the step before has come from there.
 */
#define PLACES 4
#include "memory.pml"

#ifdef BREAK_ONE_BUFFER
#define PACKET(n, i) (i)
#else
#define PACKET(n, i) ((n) % 2 * 2 + (i))
#endif

#if defined(BREAK_NO_ROOM)
#define HAS_ROOM(n) true
#elif defined(BREAK_ROOM_LATE)
#define HAS_ROOM(n) (done[me] + 3 >= (n))
#else
#define HAS_ROOM(n) (done[me] + 2 >= (n))
#endif

#ifdef BREAK_SAID_EARLY
#define READ_SO_FAR(n) (n) /* of the step that begins */
#else
#define READ_SO_FAR(n) ((n) - 1)
#endif

inline store(n, i) { forth[me]!PACKET(n, i),TAG(me, n) }
#define HAS_COME(n, i) (data[AT(INTO(me), PACKET(n, i))] % 16 == (n))
inline read(n, i) {
  atomic { HAS_COME(n, i) -> assert(data[AT(INTO(me), PACKET(n, i))] == TAG(INTO(me), n)) }
}

#ifndef TURNS
proctype Rank(byte me) {
  byte n;
  bool stored_0, stored_1, read_0, read_1;
  for (n : 1 .. STEPS) {
    if
    :: SENDS(me) -> HAS_ROOM(n)
    :: else
    fi;
    if
    :: RECEIVES(me) -> back[INTO(me)]!DONE,READ_SO_FAR(n)
    :: else
    fi;
    stored_0 = !SENDS(me);
    stored_1 = !SENDS(me);
    read_0 = !RECEIVES(me);
    read_1 = !RECEIVES(me);
    do
    :: !stored_0 -> store(n, 0); stored_0 = true
    :: !stored_1 -> store(n, 1); stored_1 = true
    :: !read_0 && HAS_COME(n, 0) -> read(n, 0); read_0 = true /* by a thread of its own */
    :: !read_1 && HAS_COME(n, 1) -> read(n, 1); read_1 = true
    :: stored_0 && stored_1 && read_0 && read_1 -> break
    od
  }
}
#else
proctype Rank(byte me) {
  byte n;
  bool did_0, did_1;
  if
  :: SENDS(me) -> store(1, 0); store(1, 1)
  :: else
  fi;
  for (n : 1 .. STEPS) {
    did_0 = false;
    did_1 = false;
    do
#ifdef BREAK_FIRST_OF_ALL /* all of a step once the first of the step before has come */
    :: !did_0 && !did_1 -> read(n, 0); store(n + 1, 0); store(n + 1, 1); did_0 = true
    :: did_0 && !did_1 -> read(n, 1); did_1 = true
#elif defined(ONE_WAY)
    :: SENDS(me) && !did_0 -> store(n + 1, 0); did_0 = true
    :: SENDS(me) && !did_1 -> store(n + 1, 1); did_1 = true
    :: RECEIVES(me) && !did_0 -> read(n, 0); did_0 = true
    :: RECEIVES(me) && !did_1 -> read(n, 1); did_1 = true
#else
    :: !did_0 -> read(n, 0); store(n + 1, 0); did_0 = true
    :: !did_1 -> read(n, 1); store(n + 1, 1); did_1 = true
#endif
    :: did_0 && did_1 -> break
    od
  }
}
#endif
