! Counted puts: every rank passes numbers on to its right neighbour, and says before each step how many. Runs with any number
! of ranks; alone, a rank is its own neighbour.
!
!   tca run -n 3 -- ./counted_in_fortran
program counted
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use opentca
  implicit none
  integer, parameter :: room = 100
  type(tca_world) :: world
  type(tca_window) :: out_window, in_window
  type(tca_chain) :: chain
  type(tca_layout) :: row
  type(tca_counted_put) :: sent
  type(tca_counted_arrival) :: come
  integer(int32), pointer, contiguous :: out(:), in(:)
  integer(int64) :: count
  integer :: me, ranks, left, right, step, number

  call tca_world_init(world)
  call tca_world_rank(world, me)
  call tca_world_size(world, ranks)
  right = modulo(me + 1, ranks)
  left = modulo(me - 1, ranks)
  call tca_window_create(world, [1], [room], out, out_window, 'out')
  call tca_window_create(world, [1], [room], in, in_window, 'in')

  call tca_layout_block(room, row)
  call tca_chain_create(world, 'pass on', chain)
  call tca_chain_put_counted(chain, tca_at(in_window, right), row, tca_here(out_window), sent)
  call tca_chain_expect_counted(chain, left, come)  ! one for each counted put of that rank
  call tca_chain_commit(chain)

  do step = 0, 4
    number = 7*step + me  ! 0 is a length like any other
    out(:number) = 100*step + me
    call tca_counted_put_set(sent, number)  ! 0 to 100 elements; it stays until it is set again
    call tca_chain_run(chain)
    call tca_counted_arrival_count(come, count)
    if (count /= 7*step + left) error stop 'wrong: the count of one step'
    if (any(in(:count) /= 100*step + left)) error stop 'wrong: a number of one step'
  end do
  if (me == 0) print '(a)', 'all numbers have come'

  call tca_chain_free(chain)
  call tca_counted_put_free(sent)
  call tca_counted_arrival_free(come)
  call tca_window_free(out_window)
  call tca_window_free(in_window)
  call tca_world_free(world)
end program
