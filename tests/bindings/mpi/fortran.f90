! Collectives by mpi_f08, in place and not, among more calls that C has hooks for.
program fortran
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  implicit none
  integer :: rank, ranks, round, neighbour, got, around(2)
  double precision :: mine, all, gathered(64)
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: ring, circle
  type(MPI_Datatype) :: types(2)
  integer(MPI_ADDRESS_KIND), parameter :: places(2) = [0_MPI_ADDRESS_KIND, int(storage_size(rank) / 8, MPI_ADDRESS_KIND)]

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
  types = MPI_INTEGER
  ! A graph, since the mpi_f08 of MPICH 4.0 knows the neighbours of no other topology in MPI_Neighbor_alltoallw.
  associate (around => [mod(rank + ranks - 1, ranks), mod(rank + 1, ranks)])
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, [1, 1], 2, around, [1, 1], MPI_INFO_NULL, .false., circle)
  end associate
  do round = 1, 6
    mine = rank + round
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call expect(mine == all .and. nint(all) == ranks * round + ranks * (ranks - 1) / 2)
    gathered = -1
    mine = rank
    call MPI_Allgather(mine, 1, MPI_DOUBLE_PRECISION, gathered, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    call expect(nint(gathered(ranks)) == ranks - 1 .and. nint(gathered(1)) == 0)
    call MPI_Bcast(gathered, 40, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    call MPI_Barrier(MPI_COMM_WORLD)
    neighbour = mod(rank + 1, ranks)
    around = -1
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, around, 1, MPI_INTEGER, ring)
    call expect(around(1) == mod(rank + ranks - 1, ranks) .and. around(2) == neighbour)
    call MPI_Neighbor_alltoallv([rank, rank], [1, 1], [0, 1], MPI_INTEGER, around, [1, 1], [1, 0], MPI_INTEGER, ring)
    call expect(around(2) == mod(rank + ranks - 1, ranks) .and. around(1) == neighbour)
    around = -1
    call MPI_Neighbor_alltoallw([rank, rank], [1, 1], places, types, around, [1, 1], [places(2), places(1)], types, circle)
    call expect(around(2) == mod(rank + ranks - 1, ranks) .and. around(1) == neighbour)
    call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(rank, 1, MPI_INTEGER, neighbour, 5, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(got == mod(rank + ranks - 1, ranks))
  end do
  if (rank == 0) print '(a)', 'all is right'
  call MPI_Finalize()

contains

  subroutine expect(holds)
    logical, intent(in) :: holds
    if (holds) return
    write (error_unit, '(a, i0, a, i0)') 'rank ', rank, ': something is wrong in round ', round
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine expect
end program fortran
