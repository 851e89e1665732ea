/*
 * What the PEs of a team do together (bindings/nvshmem/meeting.hpp): in every step each sends a packet at least to each other
 * one, and waits for one from each. Two sets of places take turns. Steps are barriers, which order what was stored before
 * them, or broadcasts (BROADCASTS, from PE 0; MIXED takes turns), where the root sends two packets and the others one
 * without data, which says that they have come. Stores to one place land in order, and in no order otherwise.
 */
#ifndef PES
#define PES 3
#endif
#ifndef STEPS
#define STEPS 3
#endif
#define PLACES_OF_EACH 2

#ifdef BREAK_ONE_SET
#define SET 0
#else
#define SET (n % 2)
#endif
#if defined(BROADCASTS)
#define IS_BROADCAST true
#define ROOT 0
#elif defined(MIXED)
#define IS_BROADCAST (n % 2 == 1)
#define ROOT (n / 2 % PES)
#else
#define IS_BROADCAST false
#define ROOT 0
#endif

#define PLACE(at, from, k) ((((at) * 2 + SET) * PES + (from)) * PLACES_OF_EACH + (k))
#define PLACES (PES * 2 * PES * PLACES_OF_EACH)

byte place[PLACES];                  /* the step whose packet is there */
chan wire[PLACES] = [2] of { byte }; /* on the way to a place */
byte data[PES];                      /* what a PE stores before a barrier: the step */
chan stored[PES] = [2] of { byte };

#define LANDS(p) ::wire[p]?place[p]
#define FOUR_LAND(p) LANDS(p) LANDS(p + 1) LANDS(p + 2) LANDS(p + 3)
#define TWELVE_LAND(p) FOUR_LAND(p) FOUR_LAND(p + 4) FOUR_LAND(p + 8)
#define IS_STORED(pe) ::stored[pe]?data[pe]

proctype Memory() {
end:
  do
  TWELVE_LAND(0) FOUR_LAND(12)
#if PES == 3
  FOUR_LAND(16) FOUR_LAND(20) TWELVE_LAND(24) IS_STORED(2)
#endif
  IS_STORED(0) IS_STORED(1)
  od
}

inline send_to_all(k) {
  atomic { for (to : 0 .. PES - 1) { if :: to != me -> wire[PLACE(to, me, k)]!n :: else fi } }
}

inline await_all() {
  for (from : 0 .. PES - 1) {
    if
    :: from != me -> place[PLACE(me, from, 0)] == n
    :: else
    fi
  }
}

proctype Pe(byte me) {
  byte n, to, from;
  for (n : 1 .. STEPS) {
    if
    :: IS_BROADCAST ->
      if
      :: me == ROOT ->
        send_to_all(0);
        send_to_all(1)
      :: else ->
#ifndef BREAK_ROOT_ALONE
        send_to_all(0);
#endif
        place[PLACE(me, ROOT, 0)] == n;
        place[PLACE(me, ROOT, 1)] == n
      fi;
#ifndef BREAK_ROOT_ALONE
      await_all()
#endif
    :: else ->
      stored[me]!n;
#ifndef BREAK_NO_FENCE
      data[me] == n; /* the fence before the packets */
#endif
      send_to_all(0);
      await_all();
      for (from : 0 .. PES - 1) { assert(data[from] >= n) }
    fi
  }
}

init {
  byte i;
  atomic {
    run Memory();
    for (i : 0 .. PES - 1) { run Pe(i) }
  }
end:
accept: /* for ever: any cycle at all is an acceptance cycle, and its absence says that every run ends */
  false
}
