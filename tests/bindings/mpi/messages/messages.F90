! Point-to-point calls from Fortran: of the module mpi_f08, or with USE_MPI of the module mpi.
program messages
#ifdef USE_MPI
  use mpi
#else
  use mpi_f08
#endif
  implicit none
  integer, parameter :: many = 10
#ifdef USE_MPI
#define COMMUNICATOR integer
#define REQUEST integer
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2 * many)
#define STATUS_AT(i) statuses(:, i)
#else
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
  type(MPI_Status) :: status, statuses(2 * many)
#define STATUS_AT(i) statuses(i)
#endif
  COMMUNICATOR :: copy
  REQUEST :: requests(2 * many), one
  integer :: rank, size, other, error, i, got, index, done, left, indices(2 * many)
  integer :: sent(many), come(many), wrong
  logical :: flag

  wrong = 0
  call MPI_Init(error)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
  call MPI_Comm_rank(copy, rank, error)
  call MPI_Comm_size(copy, size, error)
  other = 1 - rank

  if (rank == 0) then
    call MPI_Send(41, 1, MPI_INTEGER, other, 3, copy, error)
    call MPI_Send(42, 1, MPI_INTEGER, other, 4, copy, error)
  else
    call MPI_Probe(MPI_ANY_SOURCE, 4, copy, status, error)
    call check(SOURCE_OF(status) == 0 .and. TAG_OF(status) == 4, 1)
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(0, MPI_ANY_TAG, copy, flag, status, error)
    end do
    call check(TAG_OF(status) == 3, 2)
    call MPI_Recv(got, 1, MPI_INTEGER, 0, MPI_ANY_TAG, copy, status, error)
    call check(got == 41 .and. TAG_OF(status) == 3, 3)
    call MPI_Recv(got, 1, MPI_INTEGER, 0, 4, copy, MPI_STATUS_IGNORE, error)
    call check(got == 42, 4)
  end if

  call start()
  call MPI_Waitall(2 * many, requests, statuses, error)
  call ended(6)

  call start()
  call MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE, error)
  call ended(7)

  call start()
  do left = 1, 2 * many
    call MPI_Waitany(2 * many, requests, index, status, error)
    call check(index >= 1 .and. index <= 2 * many, 8)
    if (index <= many) call check(TAG_OF(status) == index, 9)
  end do
  call MPI_Waitany(2 * many, requests, index, status, error)
  call check(index == MPI_UNDEFINED, 10)
  call ended(11)

  call start()
  left = 2 * many
  do while (left > 0)
    call MPI_Waitsome(2 * many, requests, done, indices, statuses, error)
    call check(all(indices(1:done) >= 1), 12)
    left = left - done
  end do
  call ended(13)

  call start()
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(2 * many, requests, flag, statuses, error)
  end do
  call ended(14)

  call MPI_Irecv(got, 1, MPI_INTEGER, other, 50, copy, one, error)
  call MPI_Test(one, flag, status, error)
  call MPI_Ssend(rank, 1, MPI_INTEGER, merge(other, MPI_PROC_NULL, rank == 0), 50, copy, error)
  call MPI_Barrier(copy, error)
  if (rank == 0) then
    call MPI_Cancel(one, error)
    call MPI_Wait(one, status, error)
    call MPI_Test_cancelled(status, flag, error)
    call check(flag, 15)
  else
    if (.not. flag) call MPI_Wait(one, status, error)
    call check(got == other, 16)
  end if

  call MPI_Comm_free(copy, error)
  call MPI_Allreduce(wrong, got, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  if (rank == 0 .and. got == 0) print '(a)', "all messages are right"
  call MPI_Finalize(error)
  if (got /= 0) stop 1

contains

  subroutine check(is_right, number)
    logical, intent(in) :: is_right
    integer, intent(in) :: number
    if (is_right) return
    wrong = number
    print '(a, i0, a, i0)', "rank ", rank, ": wrong at ", number
  end subroutine

  subroutine start()
    integer :: each
    do each = 1, many
      come(each) = -1
      sent(each) = 100 * rank + each
      call MPI_Irecv(come(each), 1, MPI_INTEGER, other, each, copy, requests(each), error)
    end do
    do each = 1, many
      call MPI_Isend(sent(each), 1, MPI_INTEGER, other, each, copy, requests(many + each), error)
    end do
  end subroutine

  subroutine ended(number)
    integer, intent(in) :: number
    integer :: each
    do each = 1, many
      call check(come(each) == 100 * other + each, number)
      call check(requests(each) == MPI_REQUEST_NULL, number)
    end do
  end subroutine
end program
