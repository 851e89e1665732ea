/*
 * The hubs of a ring of four tell each other what has failed (src/model/net/faults/watch.cpp). Each of its two cables or hubs
 * fails at a moment of its own; the hubs beside it notice. Whoever learns of a fault for the first time sends the news to
 * both neighbours, and sends it on a cable that has failed in vain. At the end every hub that lives knows of each fault
 * beside which a hub stands that it can still reach.
 */
#define HUBS 4
#define FAULTS 2
#define CABLES 4 /* cable c joins hub c and the one after it */

#ifndef SECOND
#define SECOND 2 /* the cable that fails besides cable 0 */
#endif

bool dead[CABLES];
byte knows[HUBS]; /* a bit for each fault */
chan news[HUBS] = [8] of { byte }; /* to each hub */
byte noticed; /* hubs that have noticed what they are to notice */

#define after(hub) ((hub + 1) % HUBS)
#define before(hub) ((hub + HUBS - 1) % HUBS)

inline tell_both(hub, fault) {
  atomic {
    if :: !dead[hub] -> news[after(hub)]!fault :: else fi;
#ifndef BREAK_ONWARD
    if :: !dead[before(hub)] -> news[before(hub)]!fault :: else fi
#endif
  }
}

inline learn(hub, fault) {
  if
#ifdef BREAK_ONCE /* it passes on the first news that it gets, and no other */
  :: knows[hub] == 0 -> knows[hub] = knows[hub] | fault; tell_both(hub, fault)
  :: knows[hub] != 0 && (knows[hub] & fault) == 0 -> knows[hub] = knows[hub] | fault
#else
  :: (knows[hub] & fault) == 0 -> knows[hub] = knows[hub] | fault; tell_both(hub, fault)
#endif
  :: (knows[hub] & fault) != 0 /* it has told everybody */
  fi
}

proctype Hub(byte me) {
  byte fault;
  bool sees_first = (me == 0 || me == 1), sees_second = (me == SECOND || me == after(SECOND));
end:
  do
  :: sees_first && dead[0] -> sees_first = false; learn(me, 1); noticed++
  :: sees_second && dead[SECOND] -> sees_second = false; learn(me, 2); noticed++
  :: news[me]?fault -> learn(me, fault)
  od
}

proctype Fails(byte cable) { dead[cable] = true }

/* Whoever is joined to a hub beside the fault by cables that live. Two cuts make two halves, and each has a hub beside
 * each of them. */
#define all_know (knows[0] == 3 && knows[1] == 3 && knows[2] == 3 && knows[3] == 3)

init {
  atomic {
    run Hub(0); run Hub(1); run Hub(2); run Hub(3);
    run Fails(0); run Fails(SECOND)
  }
  (noticed == 4 && empty(news[0]) && empty(news[1]) && empty(news[2]) && empty(news[3]));
  all_know
}
