/*
 * A flow from one rank to another whose way fails (src/fabric/sim/faults/reroute.cpp). From a moment that nobody knows, what is
 * sent by the old way is lost; what had passed the cable before still arrives, at any later time. Once one of the ends
 * has been told of it, the receiver tells the sender, by the new way, how many steps have landed and how many it permits.
 * The sender then sends by the new way what has departed and not landed. What comes by the old way after the receiver
 * has told is dropped. Every step must land once, whole and in order, and both ends must come to their end.
 */
#ifndef STEPS
#define STEPS 3
#endif

bool cut;
bool told; /* an end knows: it may be any time after the cut */
chan old_way = [STEPS] of { byte };     /* messages */
chan old_permits = [STEPS] of { byte };
chan new_way = [STEPS] of { byte };
chan new_permits = [STEPS] of { byte };
chan handed = [1] of { byte, byte };    /* landed, permits */

byte departed, landed, permits;
bool taken; /* the receiver has told the sender, and takes the new way */

active proctype Cable() {
  atomic { cut = true };
  atomic { told = true }
}

inline deliver(step) {
  assert(step == landed + 1);
  landed++
}

active proctype Sender() {
  byte permitted, step, had_landed;
  bool by_new_way;
  do
  :: departed < STEPS && !by_new_way && departed < permitted -> /* the guard of the next step has come */
     departed++;
     atomic { if :: cut :: else -> old_way!departed fi }
  :: departed < STEPS && by_new_way && departed < permitted ->
     departed++;
     new_way!departed
  :: !by_new_way && nempty(old_permits) ->
     old_permits?step;
     permitted++
  :: by_new_way && nempty(new_permits) ->
     new_permits?step;
     permitted++
  :: !by_new_way && nempty(handed) ->
     handed?had_landed,permitted;
     by_new_way = true;
#ifdef BREAK_FORGETS
     skip;
#else
     for (step : had_landed + 1 .. departed) { new_way!step }
#endif
#ifdef BREAK_EARLY /* it repeats by its own knowledge, before the receiver has told how far it is */
  :: told && !by_new_way ->
     by_new_way = true;
     permitted = permits;
     for (step : 1 .. departed) { new_way!step }
#endif
  :: departed == STEPS && landed == STEPS -> break
  od
}

inline permit() {
  permits++;
  if
  :: taken -> new_permits!permits
  :: else -> atomic { if :: cut :: else -> old_permits!permits fi }
  fi
}

active proctype Receiver() {
  byte step;
  permit();
  do
  :: old_way?step ->
#ifndef BREAK_LATE
     if
     :: taken /* it was under way when the flow took the new one, where it comes again */
     :: else ->
#else
     if
     :: true ->
#endif
        deliver(step);
        if :: landed < STEPS -> permit() :: else fi
     fi
  :: new_way?step ->
     deliver(step);
     if :: landed < STEPS -> permit() :: else fi
  :: told && !taken && landed < STEPS ->
     taken = true;
#ifdef BREAK_ONLY_LANDED /* the permissions that the old way has lost are not given again */
     handed!landed,landed
#else
     handed!landed,permits
#endif
  :: landed == STEPS && empty(old_way) && empty(new_way) && departed == STEPS -> break
  od
}
