/* Point-to-point calls of every kind, whose results are those of MPI: run with and without the library. Prints what is wrong, and
   ends with a code other than 0. Two ranks or more; the others only take part in what is collective. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int size;

enum { large = 300000 };
static int out[large], in[large];

static int count_of(const MPI_Status* status, MPI_Datatype type) {
  int count;
  MPI_Get_count(status, type, &count);
  return count;
}

static void blocking(MPI_Comm comm) {
  const int sizes[] = {0, 1, 10, 100, 3000, large};
  for (int each = 0; each < 6; ++each) {
    const int n = sizes[each];
    MPI_Status status;
    memset(in, 0, sizeof in);
    if (rank == 0) {
      MPI_Send(out, n, MPI_INT, 1, each, comm);
      MPI_Ssend(out, n, MPI_INT, 1, each, comm);
    } else if (rank == 1) {
      MPI_Recv(in, large, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == each && count_of(&status, MPI_INT) == n);
      CHECK(memcmp(in, out, sizeof(int) * (size_t)n) == 0);
      MPI_Recv(in, n, MPI_INT, 0, each, comm, MPI_STATUS_IGNORE);
    }
  }
  if (rank < 2) {
    MPI_Status status;
    int mine = rank, other = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 5, &other, 1, MPI_INT, 1 - rank, 5, comm, &status);
    CHECK(other == 1 - rank && status.MPI_SOURCE == 1 - rank);
    MPI_Sendrecv_replace(&mine, 1, MPI_INT, 1 - rank, 6, 1 - rank, 6, comm, MPI_STATUS_IGNORE);
    CHECK(mine == 1 - rank);
    MPI_Sendrecv(&mine, 1, MPI_INT, MPI_PROC_NULL, 5, &other, 1, MPI_INT, MPI_PROC_NULL, 5, comm, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && count_of(&status, MPI_INT) == 0);
  }
}

/* Columns of a matrix, which another type receives; and a part of an element. */
static void types(void) {
  double matrix[8][8], column[8];
  MPI_Datatype columns;
  MPI_Status status;
  MPI_Request request;
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &columns);
  MPI_Type_commit(&columns);
  for (int i = 0; i < 64; ++i) matrix[i / 8][i % 8] = rank == 0 ? i : -1;
  if (rank == 0) {
    MPI_Send(&matrix[0][3], 1, columns, 1, 0, MPI_COMM_WORLD);
    MPI_Isend(&matrix[0][4], 1, columns, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Type_free(&columns);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(matrix, 3, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(column, 8, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status);
    for (int i = 0; i < 8; ++i) CHECK(column[i] == 8 * i + 3);
    MPI_Irecv(&matrix[0][1], 1, columns, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status, columns) == 1);
    for (int i = 0; i < 64; ++i) CHECK(matrix[i / 8][i % 8] == (i % 8 == 1 ? i / 8 * 8 + 4 : -1));
    MPI_Recv(&matrix[0][2], 1, columns, 0, 2, MPI_COMM_WORLD, &status);
    CHECK(count_of(&status, columns) == MPI_UNDEFINED && count_of(&status, MPI_DOUBLE) == 3);
    for (int i = 0; i < 8; ++i) CHECK(matrix[i][2] == (i < 3 ? i : -1));
    MPI_Type_free(&columns);
  } else {
    MPI_Type_free(&columns);
  }
}

static int drawn(int limit) {
  static unsigned long state = 12345;
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (int)((state >> 33) % (unsigned long)limit);
}

/* Of a few elements, in one of MPI's ways to make one, out of another that was made so. */
static MPI_Datatype random_type(int depth) {
  const MPI_Datatype named[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT_INT, MPI_CHAR, MPI_DOUBLE_INT};
  const int lengths[] = {1 + drawn(2), drawn(3), 1 + drawn(2)},
            places[] = {drawn(3), 4 + drawn(3), 9 + drawn(3)};
  const int sizes[] = {3 + drawn(2), 4}, parts[] = {2, 1 + drawn(3)}, starts[] = {1, 0};
  MPI_Datatype inner, type, types[2];
  MPI_Aint extent, begin, addresses[3];
  if (depth == 0) {
    MPI_Type_dup(named[drawn(5)], &type);
    return type;
  }
  inner = random_type(depth - 1);
  MPI_Type_get_extent(inner, &begin, &extent);
  for (int i = 0; i < 3; ++i) addresses[i] = places[i] * extent + 8 * i;
  switch (drawn(10)) {
    case 0:
      MPI_Type_contiguous(3, inner, &type);
      break;
    case 1:
      MPI_Type_vector(3, 1 + drawn(2), 3, inner, &type);
      break;
    case 2:
      MPI_Type_create_hvector(2, 2, 2 * extent + 8, inner, &type);
      break;
    case 3:
      MPI_Type_indexed(3, lengths, places, inner, &type);
      break;
    case 4:
      MPI_Type_create_hindexed(3, lengths, addresses, inner, &type);
      break;
    case 5:
      MPI_Type_create_indexed_block(3, 2, places, inner, &type);
      break;
    case 6:
      types[0] = inner;
      types[1] = MPI_INT;
      addresses[1] = 6 * extent + 16;
      MPI_Type_create_struct(2, lengths, addresses, types, &type);
      break;
    case 7:
      MPI_Type_create_subarray(2, sizes, parts, starts, drawn(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner,
                               &type);
      break;
    case 8:
      MPI_Type_create_resized(inner, 0, extent + 16, &type);
      break;
    default: {
      const int whole[] = {6, 4}, ways[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                args[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 1};
      MPI_Type_create_darray(2, drawn(2), 2, whole, ways, args, grid, MPI_ORDER_C, inner, &type);
    }
  }
  MPI_Type_free(&inner);
  return type;
}

/* What travels is what MPI packs, and what comes goes where MPI unpacks it to. */
static void random_types(void) {
  enum { most = 1 << 17 };
  static char from[most], packed[most], got[most], expected[most];
  if (rank > 1) return;
  for (int each = 0; each < 200; ++each) {
    MPI_Datatype type = random_type(1 + drawn(3));
    const int count = 1 + drawn(3), way = drawn(3);
    int size, at = 0;
    MPI_Aint begin, extent;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &begin, &extent);
    for (int i = 0; i < most; ++i) from[i] = (char)(i * 31 + i / 256 + each);
    if (begin + extent * 4 >= most) {
      MPI_Type_free(&type);
      continue;
    }
    MPI_Pack(from, count, type, packed, most, &at, MPI_COMM_SELF);
    CHECK(at == count * size);
    if (rank == 0) {
      if (way == 0) MPI_Send(from, count, type, 1, 3, MPI_COMM_WORLD);
      if (way == 1) {
        MPI_Request request;
        MPI_Isend(from, count, type, 1, 3, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      if (way == 2) MPI_Send(packed, at, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
      memset(got, 0, most);
      memset(expected, 0, most);
      if (way < 2) {
        MPI_Recv(got, most, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(memcmp(got, packed, (size_t)at) == 0);
      } else {
        int position = 0;
        MPI_Recv(got, count, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Unpack(packed, at, &position, expected, count, type, MPI_COMM_SELF);
        CHECK(memcmp(got, expected, most) == 0);
      }
    }
    MPI_Type_free(&type);
  }
}

/* Calls of MPI 4, beside and among the others. */
static void of_mpi_4(void) {
#if MPI_VERSION >= 4
  const int other = 1 - rank;
  int mine = rank, got = -1, parts[4] = {rank, rank + 10, rank + 20, rank + 30}, come[4] = {0};
  MPI_Request requests[3];
  MPI_Status status;
  MPI_Message message;
  MPI_Count sum = 1, total = 0;
  if (rank < 2) {
    MPI_Isendrecv(&mine, 1, MPI_INT, other, 60, &got, 1, MPI_INT, other, 60, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, &status);
    CHECK(got == other);
    MPI_Isendrecv_replace(&mine, 1, MPI_INT, other, 61, MPI_ANY_SOURCE, 61, MPI_COMM_WORLD, requests);
    MPI_Send_c(&rank, 1, MPI_INT, other, 62, MPI_COMM_WORLD);
    MPI_Recv_c(&got, 1, MPI_INT, other, 62, MPI_COMM_WORLD, &status);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    CHECK(mine == other && got == other);
    MPI_Isendrecv_c(&rank, 1, MPI_INT, other, 63, &got, 1, MPI_INT, MPI_PROC_NULL, 63, MPI_COMM_WORLD,
                    requests);
    MPI_Mprobe(other, 63, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv_c(&mine, 1, MPI_INT, &message, &status);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    CHECK(mine == other);
    MPI_Sendrecv_c(&rank, 1, MPI_INT, other, 64, &got, 1, MPI_INT, other, 64, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    CHECK(got == other);
    /* Messages in parts match each other alone, and are MPI's. */
    MPI_Precv_init(come, 2, 2, MPI_INT, other, 65, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(parts, 2, 2, MPI_INT, other, 65, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Irecv(&got, 1, MPI_INT, other, 65, MPI_COMM_WORLD, &requests[2]);
    MPI_Pready(1, requests[1]);
    MPI_Pready(0, requests[1]);
    MPI_Send(&rank, 1, MPI_INT, other, 65, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(got == other && come[0] == other && come[3] == other + 30);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  /* Ranks may mix the two. */
  for (int i = 0; i < 10; ++i) {
    if (rank == 0)
      MPI_Allreduce_c(&sum, &total, 1, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD);
    else
      MPI_Allreduce(&sum, &total, 1, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(total == size);
    if (rank == 0)
      MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
      MPI_Bcast_c(&got, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
#endif
}

/* Calls of MPI 4.1, for requests of which some are the engine's, and one is MPI's (for no rank). */
static void of_mpi_4_1(void) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  enum { all = 4 };
  MPI_Request requests[all] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[all];
  int got[all] = {-1, -1, -1, -1}, flag = 0, index = -1, indices[all], found = -1;
  MPI_Request_get_status_any(all, requests, &index, &flag, &statuses[0]);
  CHECK(flag && index == MPI_UNDEFINED);
  MPI_Request_get_status_some(all, requests, &found, indices, statuses);
  CHECK(found == MPI_UNDEFINED);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 1; i < all; ++i) {
      MPI_Recv(NULL, 0, MPI_INT, 1, 80, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&i, 1, MPI_INT, 1, 80 + i, MPI_COMM_WORLD);
    }
  }
  if (rank == 1) {
    for (int i = 1; i < all; ++i) MPI_Irecv(&got[i], 1, MPI_INT, 0, 80 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Request_get_status_any(all, requests, &index, &flag, &statuses[0]);
    CHECK(!flag);
    MPI_Request_get_status_some(all, requests, &found, indices, statuses);
    CHECK(found == 0);
    MPI_Send(NULL, 0, MPI_INT, 0, 80, MPI_COMM_WORLD);
    while (!flag) MPI_Request_get_status_any(all, requests, &index, &flag, &statuses[0]);
    CHECK(index == 1 && statuses[0].MPI_TAG == 81 && got[1] == 1);
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_get_status_some(all, requests, &found, indices, statuses);
    CHECK(found == 2 && indices[0] + indices[1] == 1);
    MPI_Request_get_status_all(all, requests, &flag, statuses);
    CHECK(!flag);
    for (int i = 2; i < all; ++i) MPI_Send(NULL, 0, MPI_INT, 0, 80, MPI_COMM_WORLD);
    while (!flag) MPI_Request_get_status_all(all, requests, &flag, statuses);
    CHECK(statuses[3].MPI_TAG == 83 && statuses[0].MPI_SOURCE == MPI_PROC_NULL && got[2] == 2 && got[3] == 3);
    MPI_Waitall(all, requests, statuses);
    CHECK(statuses[2].MPI_TAG == 82);
  }
#endif
}

/* Addresses in place of a buffer. */
static void bottom(void) {
  int number = rank == 0 ? 5 : -1, length = 1;
  MPI_Aint where;
  MPI_Datatype integer = MPI_INT, there;
  MPI_Get_address(&number, &where);
  MPI_Type_create_struct(1, &length, &where, &integer, &there);
  MPI_Type_commit(&there);
  if (rank == 0) MPI_Send(MPI_BOTTOM, 1, there, 1, 8, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(MPI_BOTTOM, 1, there, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(number == 5);
  }
  MPI_Type_free(&there);
}

static void nonblocking(MPI_Comm comm) {
  enum { many = 64 };
  MPI_Request requests[2 * many + 1];
  MPI_Status statuses[2 * many + 1];
  int come[many], going[many], indices[2 * many + 1], index, done, remaining;
  if (rank > 1) return;
  const int other = 1 - rank;
  for (int way = 0; way < 5; ++way) {
    for (int i = 0; i < many; ++i) {
      going[i] = rank * 1000 + i;
      come[i] = -1;
      MPI_Irecv(&come[i], 1, MPI_INT, i % 3 ? other : MPI_ANY_SOURCE, i, comm, &requests[i]);
    }
    for (int i = 0; i < many; ++i) {
      if (i % 4 == 0)
        MPI_Issend(&going[i], 1, MPI_INT, other, i, comm, &requests[many + i]);
      else
        MPI_Isend(&going[i], 1, MPI_INT, other, i, comm, &requests[many + i]);
    }
    /* One of MPI's own among them. */
    MPI_Ibarrier(MPI_COMM_SELF, &requests[2 * many]);
    remaining = 2 * many + 1;
    switch (way) {
      case 0:
        MPI_Waitall(2 * many + 1, requests, statuses);
        break;
      case 1:
        for (; remaining > 0; --remaining) {
          MPI_Waitany(2 * many + 1, requests, &index, statuses);
          CHECK(index != MPI_UNDEFINED && requests[index] == MPI_REQUEST_NULL);
          if (index < many) CHECK(statuses[0].MPI_TAG == index && statuses[0].MPI_SOURCE == other);
        }
        MPI_Waitany(2 * many + 1, requests, &index, statuses);
        CHECK(index == MPI_UNDEFINED);
        break;
      case 2:
        while (remaining > 0) {
          MPI_Waitsome(2 * many + 1, requests, &done, indices, statuses);
          for (int i = 0; i < done; ++i)
            if (indices[i] < many) CHECK(statuses[i].MPI_TAG == indices[i]);
          remaining -= done;
        }
        MPI_Waitsome(2 * many + 1, requests, &done, indices, statuses);
        CHECK(done == MPI_UNDEFINED);
        break;
      case 3:
        do MPI_Testall(2 * many + 1, requests, &done, statuses);
        while (!done);
        break;
      default:
        while (remaining > 0) {
          MPI_Testany(2 * many + 1, requests, &index, &done, MPI_STATUS_IGNORE);
          if (done) --remaining;
          if (remaining == 0) break;
          MPI_Testsome(2 * many + 1, requests, &done, indices, MPI_STATUSES_IGNORE);
          remaining -= done;
        }
    }
    for (int i = 0; i < many; ++i) CHECK(come[i] == other * 1000 + i);
    for (int i = 0; i <= 2 * many; ++i) CHECK(requests[i] == MPI_REQUEST_NULL);
  }
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Status status;
  int mine, other, done;
  if (rank > 1) return;
  MPI_Recv_init(&other, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&mine, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &requests[1]);
  MPI_Test(&requests[0], &done, &status);
  CHECK(done && status.MPI_SOURCE == MPI_ANY_SOURCE);
  for (int step = 0; step < 100; ++step) {
    mine = step + rank;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(other == step + 1 - rank && requests[0] != MPI_REQUEST_NULL);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void probes(void) {
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  int found = 0;
  if (rank == 0) {
    for (int i = 0; i < 4; ++i) MPI_Send(out, 100 + i, MPI_INT, 1, 20 + i, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Probe(MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &status);
    CHECK(count_of(&status, MPI_INT) == 102);
    MPI_Recv(in, large, MPI_INT, 0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!found) MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
    CHECK(status.MPI_TAG == 20);
    MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    CHECK(status.MPI_TAG == 20);
    MPI_Recv(in, large, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_TAG == 21);
    MPI_Mrecv(in, large, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && count_of(&status, MPI_INT) == 100);
    for (found = 0; !found;) MPI_Improbe(0, 23, MPI_COMM_WORLD, &found, &message, &status);
    MPI_Imrecv(in, large, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status, MPI_INT) == 103 && memcmp(in, out, 103 * sizeof(int)) == 0);
  }
}

static void ends(void) {
  MPI_Request request;
  MPI_Status status;
  int cancelled, error;
  MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled);
  if (rank == 0) {
    MPI_Isend(out, large, MPI_INT, 1, 30, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(out, 10, MPI_INT, 1, 31, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(in, large, MPI_INT, 0, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    error = MPI_Recv(in, 5, MPI_INT, 0, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(error, &error);
    CHECK(error == MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }
}

/* A rank that waits in MPI's own barrier receives what it has asked for before. */
static void elsewhere(void) {
  MPI_Request request;
  if (rank == 1) MPI_Irecv(in, large, MPI_INT, 0, 40, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Ssend(out, large, MPI_INT, 1, 40, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(memcmp(in, out, sizeof in) == 0);
  }
  /* Many short ones that nobody takes before the barrier. */
  if (rank == 0)
    for (int i = 0; i < 5000; ++i) MPI_Send(&out[i], 1, MPI_INT, 1, 41, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    for (int i = 0; i < 5000; ++i) {
      MPI_Recv(in, 1, MPI_INT, 0, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(in[0] == out[i]);
    }
}

/* Each kind has a number of its own, and its own messages. */
static void kinds_of_communicators(void) {
  enum { kinds = 7 };
  MPI_Comm made[kinds];
  MPI_Group group;
  int periods[] = {0, 0}, extents[] = {size, 1}, kept[] = {1, 0}, next = (rank + 1) % size, one = 1, got;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made[0]);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made[1]);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &made[2]);
  MPI_Group_free(&group);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &made[3]);
  MPI_Cart_sub(made[3], kept, &made[4]);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &next, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made[5]);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made[6]);
  for (int each = 0; each < kinds && rank < 2; ++each) {
    int number = 100 * rank + each;
    MPI_Send(&number, 1, MPI_INT, 1 - rank, 1, made[each]);
  }
  for (int each = kinds - 1; each >= 0 && rank < 2; --each) {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made[each], MPI_STATUS_IGNORE);
    CHECK(got == 100 * (1 - rank) + each);
  }
  for (int each = 0; each < kinds; ++each) MPI_Comm_free(&made[each]);
}

static void communicators(void) {
  MPI_Comm copy, reversed;
  int got, reversed_rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_rank(reversed, &reversed_rank);
  if (rank == 0) {
    int numbers[] = {1, 2, 3};
    MPI_Send(&numbers[0], 1, MPI_INT, 1, 0, copy);
    MPI_Send(&numbers[1], 1, MPI_INT, size - 2, 0, reversed);
    MPI_Send(&numbers[2], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Status status;
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 3);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, reversed, &status);
    CHECK(got == 2 && status.MPI_SOURCE == size - 1);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, copy, MPI_STATUS_IGNORE);
    CHECK(got == 1);
  }
  blocking(copy);
  nonblocking(copy);
  if (rank < 2) {
    /* Freed while messages are under way. */
    MPI_Request requests[2];
    MPI_Irecv(in, large, MPI_INT, 1 - rank, 1, copy, &requests[0]);
    MPI_Isend(out, large, MPI_INT, 1 - rank, 1, copy, &requests[1]);
    MPI_Comm_free(&copy);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(memcmp(in, out, sizeof in) == 0);
  } else {
    MPI_Comm_free(&copy);
  }
  MPI_Comm_free(&reversed);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < large; ++i) out[i] = i * 7 + 1;
  blocking(MPI_COMM_WORLD);
  types();
  random_types();
  of_mpi_4();
  of_mpi_4_1();
  bottom();
  nonblocking(MPI_COMM_WORLD);
  persistent();
  probes();
  ends();
  elsewhere();
  communicators();
  kinds_of_communicators();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !wrong) puts("all messages are right");
  MPI_Finalize();
  return wrong;
}
