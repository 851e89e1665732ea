! Posts into regions by their tokens, and the notices that they raise.
module test_posts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use opentca
  use ranks
  implicit none
  private
  public :: posts

  integer, parameter :: most_ranks = 4, zone = 64, rounds = 5

  type :: everywhere
    integer :: me, size
    type(tca_region) :: region
    integer(int64), pointer, contiguous :: data(:, :)  ! a column for each rank
    type(tca_token), allocatable :: tokens(:)
    type(tca_notices) :: notices
  end type

contains

  subroutine posts()
    call run_ranks(most_ranks, all_to_all)
    call run_ranks(2, refused)
    if (way == 'threads') call run_ranks(2, memory_of_the_program)
  end subroutine

  ! Tokens are bytes: they travel as the integers that they are made of.
  subroutine make_everywhere(world, all)
    type(tca_world), intent(in) :: world
    type(everywhere), intent(out) :: all
    integer(int64), parameter :: bytes = most_ranks*zone*8_int64
    type(tca_token) :: mine
    type(c_ptr) :: address
    integer(int64) :: have
    integer(int64), allocatable :: words(:, :)
    integer :: rank

    call tca_world_rank(world, all%me)
    call tca_world_size(world, all%size)
    call tca_region_create(world, bytes, all%region)
    call tca_region_bytes(all%region, have)
    call tca_region_address(all%region, address)
    call c_f_pointer(address, all%data, [zone, most_ranks])
    call tca_region_token(all%region, mine)
    allocate (words(16, 0:all%size - 1), all%tokens(0:all%size - 1))
    call tca_world_all_gather(world, transfer(mine%byte, words(:, 0)), words)
    do rank = 0, all%size - 1
      all%tokens(rank)%byte = transfer(words(:, rank), mine%byte)
    end do
    call tca_token_rank(all%tokens(1), rank)
    call require(rank == 1 .and. have == bytes, 'the rank and the size of a region')
    call tca_token_bytes(all%tokens(1), have)
    call require(have == bytes, 'the size of a token')
    call tca_notices_create(world, all%notices)
  end subroutine

  subroutine free_everywhere(all)
    type(everywhere), intent(inout) :: all

    call tca_notices_free(all%notices)
    call tca_region_free(all%region)
  end subroutine

  ! By one call in each round.
  subroutine run_somehow(post, round)
    type(tca_post), intent(in) :: post
    integer, intent(in) :: round
    logical :: finished

    if (round == 1) then
      call tca_post_run(post)
      return
    end if
    call tca_post_start(post)
    finished = .false.
    do while (.not. finished)
      finished = .true.
      if (round == 2) call tca_post_test(post, finished)
      if (round == 3) call tca_post_wait_for(post, 0.001_real64, finished)
      if (round == 4) call tca_post_flush_for(post, 0.001_real64, finished)
      if (round == 5) call tca_post_flush(post)
    end do
    call tca_post_wait(post)
  end subroutine

  subroutine take_somehow(notices, source, tag, round)
    type(tca_notices), intent(in) :: notices
    integer, intent(in) :: source, tag, round
    logical :: has_come
    integer :: found

    if (round == 1) then
      call tca_notices_wait(notices, source, 3, tag)
      return
    end if
    found = tag
    has_come = .false.
    do while (.not. has_come)
      if (round == 2) call tca_notices_test(notices, source, 3, tag, has_come)
      if (round == 3) call tca_notices_test_any(notices, source, 3, found, has_come)
      if (round > 3) call tca_notices_wait_for(notices, source, 3, tag, 0.001_real64, has_come)
    end do
    call require(found == tag, 'another tag has come')
  end subroutine

  ! Every other element of this rank's goes to a row of the target's column, from every rank to every other.
  subroutine all_to_all(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer(int64), target, asynchronous :: source(zone)
    type(everywhere) :: all
    type(tca_post) :: post
    type(tca_layout) :: here, there
    integer :: other, round, i

    call make_everywhere(world, all)
    call tca_layout_stride(zone/2 - 1, 2, here)
    call tca_layout_block(zone/2 - 1, there)
    here%first = 1
    call tca_post_create(world, post, 'everyone')
    do other = 0, all%size - 1
      if (other == all%me) cycle
      call tca_post_put(post, all%tokens(other), zone*all%me + 3_int64, there, source, zone*1_int64, 8, here)
      call tca_post_notify(post, other, 3, all%me + 7)
    end do
    do round = 1, rounds
      source = [(value_of(all%me, round, i), i=1, zone)]
      call run_somehow(post, round)
      do other = 0, all%size - 1
        if (other == all%me) cycle
        call take_somehow(all%notices, other, other + 7, round)
        do i = 1, zone/2 - 1
          call require(all%data(i + 2, other + 1) == value_of(other, round, 2*i), 'something else has come than was posted')
        end do
      end do
      call tca_world_barrier(world)
    end do
    call tca_post_clear(post)
    call tca_post_run(post)
    call tca_post_free(post)
    call free_everywhere(all)
    ierror = tca_ok
  end subroutine

  integer(int64) function value_of(rank, round, element)
    integer, intent(in) :: rank, round, element

    value_of = 100000_int64*rank + 1000*round + element
  end function

  subroutine refused(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer(int64), target, asynchronous :: value(1)
    type(everywhere) :: all
    type(tca_post) :: post
    type(tca_layout) :: one
    type(tca_token) :: nothing
    logical :: has_come
    integer :: status, rank, tag

    ierror = tca_ok
    value = 5
    call make_everywhere(world, all)
    call tca_layout_block(1, one)
    call tca_post_create(world, post)
    call tca_post_put(post, nothing, 1_int64, one, value, 1_int64, 8, ierror=status)
    call expect(status, tca_incompatible, 'token')
    call tca_token_rank(nothing, rank, status)
    call expect(status, tca_incompatible, 'token')
    call tca_post_put(post, all%tokens(1), most_ranks*zone + 1_int64, one, value, 1_int64, 8, ierror=status)
    call expect(status, tca_invalid_argument, 'region ends outside')
    call tca_post_notify(post, 9, 0, 0, status)
    call expect(status, tca_invalid_argument, '9')
    call tca_notices_test(all%notices, 1, 1000, 0, has_come, status)
    call expect(status, tca_invalid_argument, '1000')
    if (way /= 'sim') then
      call tca_notices_wait_for(all%notices, 1 - all%me, 2, 3, 0.01_real64, has_come, 100.0_real64, status)
      call expect(status, tca_timed_out, 'slot 2 with tag 3')
    end if
    do tag = 0, 8
      call tca_post_notify(post, 1 - all%me, 5, tag)
    end do
    call tca_post_start(post, status)
    call expect(status, tca_refused, 'has notices of 8 other tags')
    call tca_post_free(post)
    call tca_post_start(post, status)
    call expect(status, tca_invalid_argument, 'the post is NULL')
    call tca_world_barrier(world)
    call free_everywhere(all)
  end subroutine

  ! Memory that the program has, where ranks are threads of one process.
  subroutine memory_of_the_program(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer(int64), target, asynchronous :: value(1)
    integer(int64), target, asynchronous :: kept(1)
    type(tca_region) :: region
    type(tca_token) :: mine, other
    type(tca_post) :: post
    type(tca_notices) :: notices
    type(tca_layout) :: one
    integer(int64) :: words(16, 0:1)
    integer :: me

    call tca_world_rank(world, me)
    kept = 0
    call tca_region_of_memory(world, kept, 8_int64, region)
    call tca_region_token(region, mine)
    call tca_world_all_gather(world, transfer(mine%byte, words(:, 0)), words)
    other%byte = transfer(words(:, 1 - me), mine%byte)
    call tca_notices_create(world, notices)
    call tca_post_create(world, post)
    call tca_layout_block(1, one)
    value = 40 + me
    call tca_post_put(post, other, 1_int64, one, value, 1_int64, 8)
    call tca_post_notify(post, 1 - me, 0, 0)
    call tca_post_run(post)
    call tca_notices_wait(notices, 1 - me, 0, 0)
    call require(kept(1) == 41 - me, 'what has come')
    call tca_world_barrier(world)
    call tca_post_free(post)
    call tca_notices_free(notices)
    call tca_region_free(region)
    ierror = tca_ok
  end subroutine
end module
