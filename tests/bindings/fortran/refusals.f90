! Each status with its message and its fields, handles that are none, and arguments that cannot be.
module test_refusals
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use opentca
  use ranks
  implicit none
  private
  public :: refusals

contains

  subroutine refusals()
    call names()
    if (way == 'threads') then
      call worlds()
      call layouts_and_grids()
    end if
    call run_ranks(2, handles)
    call run_ranks(2, arrays)
    call run_ranks(2, chains)
    call run_ranks(2, patterns)
    call run_ranks(2, refused)
  end subroutine

  subroutine names()
    call require(tca_last_message() == '', 'there is an error before any call')
    call require(tca_status_name(tca_ok) == 'ok', 'tca_ok')
    call require(tca_status_name(tca_timed_out) == 'timed_out', 'tca_timed_out')
    call require(tca_status_name(tca_internal) == 'internal', 'tca_internal')
    call require(scan(tca_library_version(), '0123456789') == 1, 'the version is no number')
  end subroutine

  subroutine fails_with_words(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer :: me

    call tca_world_rank(world, me)
    if (me == 1) call tca_fail(tca_out_of_memory, 'the mesh is too large', ierror)
    if (me == 0) call tca_world_barrier(world, ierror)
  end subroutine

  ! Worlds that do not come up, and ranks that fail.
  subroutine worlds()
    type(tca_world) :: world
    type(tca_error) :: error
    integer :: ierror

    call tca_world_init(world, tca_world_options(fabric='sneakernet'), ierror)
    call expect(ierror, tca_invalid_argument, 'sneakernet')
    call require(.not. c_associated(world%handle), 'a handle is left')
    call tca_world_run_threads(2, fails_with_words, tca_world_options(fabric='sim', machine='nowhere'), ierror)
    call expect(ierror, tca_invalid_argument, 'nowhere')
    call tca_world_run_threads(0, fails_with_words, ierror=ierror)
    call expect(ierror, tca_invalid_argument, '0')
    call tca_world_join(2, 2, 'fortran-test', world, ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'rank 2 of 2 cannot be')
    call tca_world_run_threads(2, fails_with_words, ierror=ierror)
    call expect(ierror, tca_out_of_memory, 'the mesh is too large')
    call tca_last_error(error)
    call require(error%status == tca_out_of_memory, 'the error is another')
    call require(error%message == tca_last_message(), error%message)
  end subroutine

  subroutine layouts_and_grids()
    type(tca_layout) :: layout
    type(tca_grid) :: grid
    integer, allocatable :: at(:)
    integer :: ierror, number, first

    call tca_layout_block(-1, layout, ierror)
    call expect(ierror, tca_invalid_argument, '-1')
    call tca_layout_block_stride(2, 4, 3, layout, ierror)
    call expect(ierror, tca_invalid_argument, 'pitch')
    call tca_layout_stride(2, 0, layout, ierror)
    call expect(ierror, tca_invalid_argument, 'pitch')
    call tca_layout_subarray([8, 8], [5, 5], [1, 5], layout, ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'subarray')
    call tca_layout_subarray([8, 8], [0, 1], [1, 1], layout, ierror=ierror)  ! indices count from 1
    call expect(ierror, tca_invalid_argument, 'subarray')
    call tca_layout_subarray([8, 8], [1], [1, 1], layout, ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'different numbers of dimensions')
    call tca_layout_subarray([8, 8], [1, 1], [1, 1], layout, [0], ierror)
    call expect(ierror, tca_invalid_argument, 'different numbers of dimensions')
    call tca_grid_create(5, [2, 2], grid, ierror=ierror)
    call expect(ierror, tca_invalid_argument, '5')
    call tca_grid_create(4, [2, 2], grid, [.true.], ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'tca_grid_create: an argument has not the 2 dimensions of the grid')
    call tca_grid_choose(4, [8, 8, 8, 8, 8, 8, 8, 8], grid, ierror=ierror)
    call expect(ierror, tca_invalid_argument, '8 dimensions; there are 1 to 7')
    call tca_grid_rank_at(grid, [1, 1], number, ierror)
    call expect(ierror, tca_invalid_argument, '0 dimensions')
    call tca_grid_coordinates(grid, 0, at, ierror)
    call expect(ierror, tca_invalid_argument, '0 dimensions')
    call require(size(at) == 0, 'there are coordinates')
    call tca_grid_create(4, [2, 2], grid)
    call tca_grid_rank_at(grid, [2, 2], number, ierror)
    call expect(ierror, tca_invalid_argument, '2')
    call tca_grid_neighbour(grid, 0, [1], number, ierror)
    call expect(ierror, tca_invalid_argument, 'the 2 dimensions of the grid')
    call tca_grid_part(grid, 0, 0, 8, first, number, ierror)
    call expect(ierror, tca_invalid_argument, 'they count from 1')
  end subroutine

  subroutine of_another_world(world)
    type(tca_world), intent(in) :: world
    type(tca_world) :: group
    type(tca_window) :: window
    type(tca_chain) :: chain
    type(tca_layout) :: one
    real(real64), pointer, contiguous :: u(:)
    integer :: me, ierror

    call tca_world_rank(world, me)
    call tca_world_split(world, me, 0, group)
    call tca_window_create(world, [1], [2], u, window, 'outside')
    call tca_chain_create(group, 'inside', chain)
    call tca_layout_block(1, one)
    call tca_chain_put(chain, tca_at(window, 0), one, tca_here(window, 2), ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'a window of another world')
    call tca_chain_free(chain)
    call tca_window_free(window)
    call tca_world_free(group)
  end subroutine

  ! Those that are not set, that were freed, and that are of another kind.
  subroutine handles(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_world) :: no_world, copy_of_world
    type(tca_window) :: window, of_another_kind
    type(tca_chain) :: chain, copy
    type(tca_halo) :: halo
    type(tca_collective) :: collective
    integer(int64) :: position
    integer :: number

    call tca_world_rank(no_world, number, ierror)
    call expect(ierror, tca_invalid_argument, 'tca_world_rank: the world is NULL')
    call tca_chain_run(chain, ierror)
    call expect(ierror, tca_invalid_argument, 'tca_chain_run: the chain is NULL')
    call tca_halo_wait(halo, ierror)
    call expect(ierror, tca_invalid_argument, 'tca_halo_wait: the halo is NULL')
    call tca_halo_index(halo, [1, 1], position, ierror)
    call expect(ierror, tca_invalid_argument, 'the halo is NULL')
    call tca_collective_start(collective, ierror)
    call expect(ierror, tca_invalid_argument, 'the collective is NULL')
    call tca_chain_free(chain)
    call tca_window_free(window)
    call tca_halo_free(halo)
    call tca_collective_free(collective)
    call tca_world_free(no_world)

    call tca_chain_create(world, 'c', chain)
    copy = chain
    of_another_kind%handle = chain%handle
    call tca_window_free(of_another_kind, ierror)
    call expect(ierror, tca_invalid_argument, 'this is a chain, and no window')
    call tca_chain_free(chain)
    call require(.not. c_associated(chain%handle), 'the handle is still there')
    call tca_chain_start(copy, ierror)
    call expect(ierror, tca_invalid_argument, 'tca_chain_start: this chain has been freed')
    call tca_chain_free(copy, ierror)
    call expect(ierror, tca_invalid_argument, 'this chain has been freed')
    call of_another_world(world)
    if (way /= 'processes') then
      copy_of_world = world
      call tca_world_free(copy_of_world, ierror)
      call expect(ierror, tca_invalid_argument, 'belongs to tca_world_run_threads')
    end if
    ierror = tca_ok
  end subroutine

  ! Arrays of other types and sizes than the windows.
  subroutine arrays(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window, huge_one
    real(real64), pointer, contiguous :: u(:), box(:, :, :)
    real(real32), pointer, contiguous :: narrow(:)
    real(real64), pointer, contiguous :: wide(:, :)
    real(real64) :: two(2)
    integer(int32) :: few(1)
    integer :: me

    call tca_world_rank(world, me)
    call tca_window_create(world, [1], [4], u, window, 'u')
    call tca_window_pointer(window, [1], [4], narrow, ierror)
    call expect(ierror, tca_invalid_argument, 'have 8 bytes, the program''s 4; both must be of one type')
    call require(.not. associated(narrow), 'it points somewhere')
    call tca_window_pointer(window, [1, 1], [2, 3], wide, ierror)
    call expect(ierror, tca_invalid_argument, 'an array of 6 elements cannot be')
    call tca_window_write(window, 1.0_real32, ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'both must be of one type')
    call tca_window_read(window, few, ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'both must be of one type')
    call tca_window_read(window, two, 4, ierror)
    call expect(ierror, tca_invalid_argument, 'u')
    call tca_window_read(window, two, 0, ierror)
    call expect(ierror, tca_invalid_argument, 'u')
    call tca_put_now(tca_at(window, me, 1), 1_int32, ierror)
    call expect(ierror, tca_invalid_argument, 'both must be of one type')
    call tca_put_now(tca_at(window, me, 5), 1.0_real64, ierror)
    call expect(ierror, tca_invalid_argument, 'u')
    call tca_world_all_gather(world, 1_int32, few, ierror)
    call expect(ierror, tca_invalid_argument, 'an array of 1 elements for what is 2')
    call tca_window_create(world, [1, 1], [huge(1), huge(1)], wide, huge_one, 'huge', ierror)
    call require(ierror /= tca_ok .and. .not. associated(wide), 'there is room for all')
    call require(.not. c_associated(huge_one%handle), 'a handle is left')
    call tca_window_create(world, [1, 1, 1], [huge(1), huge(1), huge(1)], box, huge_one, 'huge', ierror)
    call require(ierror /= tca_ok .and. .not. associated(box), 'there is room for all')
    call tca_window_create(world, shiftr(huge(1_int64), 4), 8, huge_one, 'huge', ierror)
    call expect(ierror, tca_out_of_memory, 'huge')
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine

  subroutine chains(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window
    type(tca_chain) :: chain
    type(tca_layout) :: one
    real(real64), pointer, contiguous :: u(:)
    logical :: finished

    call tca_window_create(world, [1], [4], u, window, 'u')
    call tca_layout_block(1, one)
    call tca_chain_create(world, 'faces', chain, tca_chain_options(time_limit=-2), ierror)
    call expect(ierror, tca_invalid_argument, '-2 seconds cannot be')
    call tca_chain_create(world, 'faces', chain)
    call tca_chain_put(chain, tca_at(window, 0), one, tca_here(window, 5), ierror=ierror)
    call expect(ierror, tca_invalid_argument, "put of chain 'faces' to rank 0: the source")
    call tca_chain_put(chain, tca_at(window, 9), one, tca_here(window), ierror=ierror)
    call expect(ierror, tca_invalid_argument, '9')
    call tca_chain_wait_for(chain, -1.0_real64, finished, ierror)
    call expect(ierror, tca_invalid_argument, '-1 seconds cannot be')
    call require(.not. finished, 'a call that failed has finished')
    call tca_chain_start(chain, ierror)
    call expect(ierror, tca_invalid_argument, 'faces')
    ! Where no GPU carries the chain, there are no streams.
    call tca_chain_start_on(chain, c_null_ptr, ierror)
    call expect(ierror, tca_invalid_argument, 'faces')
    call tca_chain_wait_on(chain, c_null_ptr, ierror)
    call expect(ierror, tca_invalid_argument, 'faces')
    call tca_chain_run_on(chain, c_null_ptr, ierror)
    call expect(ierror, tca_invalid_argument, 'faces')
    call tca_chain_free(chain)
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine

  subroutine patterns(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_grid) :: grid
    type(tca_halo) :: halo
    type(tca_window) :: narrow
    type(tca_collective) :: all
    real(real64), pointer, contiguous :: u(:), from(:), to(:)
    integer(int64) :: position

    call tca_grid_create(2, [2], grid)
    call tca_window_create(world, [1], [2], u, narrow, 'narrow')
    call tca_halo_create(world, 'u', grid, [4, 4], halo, ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'the grid has 1 dimensions, the interior 2')
    call tca_halo_create(world, 'u', grid, [4], halo, width=reshape([1], [1, 1]), ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'widths are arrays (2, dimensions)')
    call tca_halo_create(world, 'u', grid, [4], halo)
    call tca_halo_add(halo, narrow, ierror=ierror)
    call expect(ierror, tca_invalid_argument, 'narrow')
    call tca_halo_index(halo, [1, 1], position, ierror)
    call expect(ierror, tca_invalid_argument, 'an index for each dimension')
    call tca_halo_commit(halo, ierror)
    call expect(ierror, tca_refused, 'u')
    call tca_halo_run_on(halo, c_null_ptr, ierror)
    call expect(ierror, tca_invalid_argument, 'u')
    call tca_halo_free(halo)

    call tca_collective_create(world, 6, 'sum', 1, from, to, all, ierror=ierror)
    call expect(ierror, tca_invalid_argument, '6 is no tca_collective_kind')
    call tca_collective_create(world, tca_all_reduce, 'sum', 1, from, to, all, tca_collective_options(operation=4), ierror)
    call expect(ierror, tca_invalid_argument, '4 is no tca_reduce_op')
    call require(.not. associated(from), 'it points somewhere')
    call tca_collective_create(world, tca_all_reduce, 'sum', tca_int32, 2, narrow, all, ierror=ierror)
    call expect(ierror, tca_refused, 'sum')  ! of other elements
    call tca_collective_create(world, tca_all_reduce, 'sum', 1, from, to, all)
    call tca_collective_run_on(all, c_null_ptr, ierror)
    call expect(ierror, tca_invalid_argument, 'sum')
    call tca_collective_free(all)
    call tca_window_free(narrow)
    ierror = tca_ok
  end subroutine

  ! What every rank sees alike, with the fields of the error; the chain goes on afterwards.
  subroutine refused(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window
    type(tca_chain) :: chain
    type(tca_layout) :: two
    type(tca_error) :: error
    real(real64), pointer, contiguous :: u(:)
    integer :: me

    call tca_world_rank(world, me)
    call tca_window_create(world, [1], [4], u, window, 'u')
    call tca_chain_create(world, 'faces', chain)
    call tca_layout_block(2, two)
    if (me == 0) call tca_chain_put(chain, tca_at(window, 1), two, tca_here(window, 3))
    call tca_chain_commit(chain, ierror)
    call expect(ierror, tca_refused, 'faces')
    call tca_last_error(error)
    call require(error%status == tca_refused .and. error%rank == me .and. error%chain == 'faces', error%message)
    call require(.not. error%has_step .and. error%line == 0 .and. error%file == '', error%message)
    call require(error%message == tca_last_message(), error%message)
    if (me == 1) call tca_chain_expect(chain, 0)
    call tca_chain_commit(chain)
    call tca_chain_run(chain)
    call tca_chain_free(chain)
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine
end module
