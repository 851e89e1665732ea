/*
 * The two ways between two ranks of a rerouted chain (src/core/chain/detour.hpp). From a moment that each learns at its own
 * time, what is sent by the first way is lost, data and the words that a step has landed; what is under way may still
 * arrive. Who learns of it, or is told, leaves the first way and tells how many steps have landed, modulo three; when it
 * has been told as well, it takes the second way from the step behind those that have landed at both ends. No step may be
 * finished that the partner lacks, at most the last one may be sent again, as the sources of those before may be gone, and
 * both must come to their end.
 */
#ifndef STEPS
#define STEPS 3
#endif

#define FIRST 0
#define TELLING 1
#define SECOND 2

bool cut;
chan first[2] = [STEPS] of { byte };  /* by receiver */
chan words[2] = [STEPS] of { byte };
chan second[2] = [STEPS] of { byte };
chan told[2] = [1] of { byte };
byte has_landed[2]; /* steps, ever */
byte has_finished[2];

active proctype Cable() { cut = true }

inline send(way, step) {
  atomic { if :: cut :: else -> way!step fi }
}

inline finish(step) {
  assert(has_landed[1 - me] >= step);
  finished = step;
  has_finished[me] = step
}

proctype End(byte me) {
  byte started, landed, finished, step, heard;
  byte state = FIRST;
  do
  :: finished == started && started < STEPS ->
     started++;
     if
     :: state == FIRST -> send(first[1 - me], started)
     :: state == SECOND -> second[1 - me]!started
     :: else
     fi
#ifdef BREAK_STALE /* what still comes by the first way is taken after it has been told what has landed */
  :: state != SECOND && landed < started && nempty(first[me]) ->
#else
  :: state == FIRST && landed < started && nempty(first[me]) ->
#endif
     first[me]?step;
     assert(step == landed + 1);
     landed = step;
     if :: has_landed[me] < landed -> has_landed[me] = landed :: else fi;
#ifdef BREAK_NO_WORD /* a step is finished as soon as it has landed here */
     finished = landed
#else
     send(words[1 - me], landed)
  :: state == FIRST && finished < landed && nempty(words[me]) ->
     words[me]?step;
     finish(step)
#endif
  :: state == FIRST && (cut || nempty(told[me])) ->
     state = TELLING;
     told[1 - me]!landed % 3
#ifdef BREAK_EARLY /* by its own knowledge alone */
  :: state == TELLING ->
#else
  :: state == TELLING && nempty(told[me]) ->
     told[me]?heard;
#ifndef BREAK_OWN /* behind the steps that have landed here, whatever lacks there */
     if :: heard == (landed + 2) % 3 -> landed-- :: else fi;
#endif
#endif
     state = SECOND;
     finish(landed);
     if
     :: started > landed ->
        assert(started == landed + 1);
        second[1 - me]!started
     :: else
     fi
  :: state == SECOND && finished < started && nempty(second[me]) ->
     second[me]?step;
     assert(step == started);
     landed = started;
     if :: has_landed[me] < landed -> has_landed[me] = landed :: else fi;
     finished = step;
     has_finished[me] = step
  :: has_finished[0] == STEPS && has_finished[1] == STEPS -> break
  od
}

init {
  atomic { run End(0); run End(1) }
}
