! What a world says of itself, groups, and windows as groups see them.
module test_worlds
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use opentca
  use ranks
  implicit none
  private
  public :: worlds

  character(*), parameter :: trace_file = 'bindings_fortran_trace.json'

contains

  subroutine worlds()
    call run_ranks(3, speaks)
    call run_ranks(3, windows)
    call run_ranks(4, groups)
    if (way == 'processes') return
    call run_ranks(2, own_memory)
    call traces()
    by_fibers = .true.
    call run_ranks(3, speaks)
    by_fibers = .false.
  end subroutine

  subroutine speaks(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer, allocatable :: sub_clusters(:)
    integer(int32) :: all(3), columns(2, 3)
    integer :: me, size_of_all, number, rank
    real(real64) :: before, after
    logical :: shared
    character(:), allocatable :: text

    call tca_world_rank(world, me)
    call tca_world_size(world, size_of_all)
    call require(size_of_all == 3 .and. me >= 0 .and. me < 3, 'another rank')
    call tca_world_sub_clusters(world, sub_clusters)
    call require(size(sub_clusters) == 3 .and. sub_clusters(1) == 0, 'rank 0 is in another sub-cluster')
    call tca_world_all_gather(world, int(7*me, int32), all)
    call require(all(1) == 0 .and. all(2) == 7 .and. all(3) == 14, 'a rank has given another number')
    call tca_world_all_gather(world, int([me, -me], int32), columns)
    do rank = 0, 2
      call require(columns(1, rank + 1) == rank .and. columns(2, rank + 1) == -rank, 'a rank has given other numbers')
    end do
    call tca_world_now(world, before)
    call tca_world_compute(world, 1.0e6_real64, 1.0e6_real64)
    call tca_world_barrier(world)
    call tca_world_now(world, after)
    call require(after >= before, 'the clock goes back')
    call tca_world_progress(world)
    call tca_world_check(world)
    call tca_world_describe(world, text)
    call require(len(text) > 0, 'it says nothing')
    call tca_world_device_name(world, text)
    call tca_world_ranks_on_device(world, number)
    call tca_world_ranks_share_devices(world, shared)
    ierror = tca_ok
  end subroutine

  subroutine windows(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window
    type(c_ptr) :: address
    real(real32), pointer, contiguous :: u(:, :), empty(:)
    integer(int64) :: here, there
    integer :: me, bytes, number

    call tca_world_rank(world, me)
    call tca_window_create(world, [0, -me], [3, 0], u, window, 'uneven')
    call require(all(lbound(u) == [0, -me]) .and. all(ubound(u) == [3, 0]), 'the array has other bounds')
    call require(all(abs(u) <= 0), 'the memory is not zeroed')
    call tca_window_elements(window, here)
    call tca_window_elements_on(window, 2, there)
    call tca_window_element_bytes(window, bytes)
    call tca_window_number(window, number)
    call tca_window_address(window, address)
    call require(here == 4*(me + 1) .and. there == 12 .and. bytes == 4, 'the window has another size')
    call require(c_associated(address, c_loc(u)), 'the array lies elsewhere')
    call tca_window_free(window)
    call require(.not. c_associated(window%handle), 'the handle is still there')

    call tca_window_create(world, [1], [0], empty, window, 'empty')
    call require(associated(empty) .and. size(empty) == 0, 'an array without elements has some')
    call tca_window_free(window)
    call tca_window_create(world, 5_int64, 6, window, 'of bytes')
    call tca_window_element_bytes(window, bytes)
    call require(bytes == 6, 'elements have another size')
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine

  ! Rank 0 of a group puts to its rank 1, into a window of the world around.
  subroutine put_in(group, window, value)
    type(tca_world), intent(in) :: group
    type(tca_window), intent(in) :: window
    integer(int32), intent(in) :: value
    type(tca_window) :: view
    type(tca_chain) :: chain
    type(tca_layout) :: one
    integer(int32) :: have
    integer :: me

    call tca_world_rank(group, me)
    call tca_window_view(group, window, view)
    call tca_chain_create(group, 'in the group', chain)
    call tca_layout_block(1, one)
    if (me == 0) call tca_chain_put(chain, tca_at(view, 1, 2), one, tca_here(view))
    if (me == 1) call tca_chain_expect(chain, 0)
    call tca_chain_commit(chain)
    if (me == 0) call tca_window_write(view, value)
    call tca_chain_run(chain)
    have = value
    if (me == 1) call tca_window_read(view, have, 2)
    call require(have == value, 'another value has arrived')
    call tca_chain_free(chain)
    call tca_window_free(view)
  end subroutine

  subroutine groups(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_world) :: parity, ends
    type(tca_window) :: window
    integer(int32), pointer, contiguous :: u(:)
    integer :: me, size

    call tca_world_rank(world, me)
    call tca_window_create(world, [1], [2], u, window, 'u')
    call tca_world_split(world, mod(me, 2), -me, parity)  ! the higher rank first
    call tca_world_size(parity, size)
    call require(size == 2, 'other ranks have the colour')
    call put_in(parity, window, int(40 + mod(me, 2), int32))
    call tca_world_free(parity)
    if (me == 0 .or. me == 3) then
      call tca_world_group(world, [3, 0], ends)
      call put_in(ends, window, 50_int32)
      call tca_world_free(ends)
    else
      call tca_world_group(world, [3, 0], ends, ierror)
      call expect(ierror, tca_invalid_argument, 'group')
      call require(.not. c_associated(ends%handle), 'a handle is left')
    end if
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine

  ! Where ranks are threads, any memory can be a window.
  subroutine own_memory(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window
    real(real64), allocatable, target :: memory(:, :)
    real(real64), pointer, contiguous :: u(:, :)

    allocate (memory(2, 3), source=0.0_real64)
    call tca_window_of_memory(world, memory, size(memory, kind=int64), 8, window, 'mine')
    call tca_window_pointer(window, [1, 1], [2, 3], u)
    u(2, 3) = 7
    call require(nint(memory(2, 3)) == 7, 'it lies elsewhere')
    call tca_window_free(window)
    call tca_world_barrier(world)
    call tca_window_create(world, 1_int64, 1, window, 'later')
    deallocate (memory)
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine

  subroutine trace(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    real(real64) :: begin, end

    call tca_world_now(world, begin)
    call tca_world_barrier(world)
    call tca_world_now(world, end)
    call tca_world_trace_span(world, 'meeting', begin, end)
    call tca_world_write_trace(world, trace_file)
    ierror = tca_ok
  end subroutine

  subroutine traces()
    type(tca_world_options) :: options
    character(4096) :: line
    integer :: unit, status
    logical :: is_there

    options%trace = .true.
    options%fabric = merge('sim', 'shm', way == 'sim')
    call tca_world_run_threads(2, trace, options)
    open (newunit=unit, file=trace_file, status='old', action='read')
    is_there = .false.
    status = 0
    do while (status == 0)
      read (unit, '(a)', iostat=status) line
      is_there = is_there .or. index(line, 'meeting') > 0
    end do
    close (unit, status='delete')
    call require(is_there, 'the span is not in the trace')
  end subroutine
end module
