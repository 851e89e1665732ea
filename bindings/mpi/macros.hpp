// Lists of parameters by their number, for entries that C and Fortran call by name; and calls that are there twice.
#pragma once

#include <mpi.h>

#define TCA_HAS_MPI_4_1 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

// The calls that have a number of elements are there once with an int, and in MPI 4 once with a large number; so are places in buffers.
#if MPI_VERSION >= 4
#define TCA_FOR_COUNTS(of) of(int, ) of(MPI_Count, _c)
#define TCA_FOR_COUNTS_AND_PLACES(of) of(int, int, ) of(MPI_Count, MPI_Aint, _c)
#else
#define TCA_FOR_COUNTS(of) of(int, )
#define TCA_FOR_COUNTS_AND_PLACES(of) of(int, int, )
#endif

#define TCA_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, n, ...) n
#define TCA_NUMBER(...) \
  __VA_OPT__(TCA_PICK(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)) TCA_ZERO(__VA_ARGS__)
#define TCA_ZERO(...) TCA_ZERO_##__VA_OPT__(SOME)
#define TCA_ZERO_ 0
#define TCA_ZERO_SOME
#define TCA_JOIN(a, b) TCA_JOIN_(a, b)
#define TCA_JOIN_(a, b) a##b
// TCA_LIST(P, call, ...) is P(call, 0), P(call, 1) and so on, one for each of the others.
#define TCA_LIST(p, call, ...) TCA_JOIN(TCA_LIST_, TCA_NUMBER(__VA_ARGS__))(p, call)
#define TCA_LIST_0(p, c)
#define TCA_LIST_1(p, c) p(c, 0)
#define TCA_LIST_2(p, c) TCA_LIST_1(p, c), p(c, 1)
#define TCA_LIST_3(p, c) TCA_LIST_2(p, c), p(c, 2)
#define TCA_LIST_4(p, c) TCA_LIST_3(p, c), p(c, 3)
#define TCA_LIST_5(p, c) TCA_LIST_4(p, c), p(c, 4)
#define TCA_LIST_6(p, c) TCA_LIST_5(p, c), p(c, 5)
#define TCA_LIST_7(p, c) TCA_LIST_6(p, c), p(c, 6)
#define TCA_LIST_8(p, c) TCA_LIST_7(p, c), p(c, 7)
#define TCA_LIST_9(p, c) TCA_LIST_8(p, c), p(c, 8)
#define TCA_LIST_10(p, c) TCA_LIST_9(p, c), p(c, 9)
#define TCA_LIST_11(p, c) TCA_LIST_10(p, c), p(c, 10)
#define TCA_LIST_12(p, c) TCA_LIST_11(p, c), p(c, 11)
