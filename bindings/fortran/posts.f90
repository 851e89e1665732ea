! Posts, which one rank makes and starts by itself, into regions by their tokens, and the notices that they raise.
module opentca_posts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use opentca_calls
  use opentca_errors
  use opentca_worlds
  implicit none
  private
  public :: tca_token, tca_token_rank, tca_token_bytes
  public :: tca_region_create, tca_region_of_memory, tca_region_address, tca_region_bytes, tca_region_token, tca_region_free
  public :: tca_post_create, tca_post_put, tca_post_notify, tca_post_clear, tca_post_free
  public :: tca_post_start, tca_post_test, tca_post_wait, tca_post_wait_for, tca_post_run, tca_post_flush, tca_post_flush_for
  public :: tca_notices_create, tca_notices_test, tca_notices_test_any, tca_notices_wait, tca_notices_wait_for
  public :: tca_notices_free

  ! Handles. A tca_token, in contrast, is plain bytes, which travel to other ranks by any means.
  type, public :: tca_region
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: tca_post
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: tca_notices
    type(c_ptr) :: handle = c_null_ptr
  end type

contains

  ! Makes a region of zeroed memory of this rank, which others may post into.
  subroutine tca_region_create(world, bytes, region, ierror)
    type(tca_world), intent(in) :: world
    integer(int64), intent(in) :: bytes
    type(tca_region), intent(out) :: region
    integer, optional, intent(out) :: ierror

    call settle(c_region_create(world%handle, bytes, region%handle), ierror)
  end subroutine

  ! Makes a region of a contiguous array that the program keeps, of any type and rank.
  subroutine tca_region_of_memory(world, memory, bytes, region, ierror)
    type(tca_world), intent(in) :: world
    type(*), target, intent(in) :: memory(*)
    integer(int64), intent(in) :: bytes
    type(tca_region), intent(out) :: region
    integer, optional, intent(out) :: ierror

    call settle(c_region_of_memory(world%handle, c_loc(memory), bytes, region%handle), ierror)
  end subroutine

  ! Where the region is; c_f_pointer makes an array of it.
  subroutine tca_region_address(region, address, ierror)
    type(tca_region), intent(in) :: region
    type(c_ptr), intent(out) :: address
    integer, optional, intent(out) :: ierror
    type(c_ptr) :: given
    integer(c_int) :: status

    given = c_null_ptr
    status = c_region_data(region%handle, given)
    address = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_region_bytes(region, bytes, ierror)
    type(tca_region), intent(in) :: region
    integer(int64), intent(out) :: bytes
    integer, optional, intent(out) :: ierror
    integer(c_size_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_region_bytes(region%handle, given)
    bytes = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_region_token(region, token, ierror)
    type(tca_region), intent(in) :: region
    type(tca_token), intent(out) :: token
    integer, optional, intent(out) :: ierror

    call settle(c_region_token(region%handle, token), ierror)
  end subroutine

  ! From here on posts into the region are refused.
  subroutine tca_region_free(region, ierror)
    type(tca_region), intent(inout) :: region
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_region_free(region%handle)
    if (status == tca_ok) region%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  ! Whose memory it is, and how much.
  subroutine tca_token_rank(token, rank, ierror)
    type(tca_token), intent(in) :: token
    integer, intent(out) :: rank
    integer, optional, intent(out) :: ierror
    integer(c_int) :: given, status

    given = -1
    status = c_token_rank(token, given)
    rank = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_token_bytes(token, bytes, ierror)
    type(tca_token), intent(in) :: token
    integer(int64), intent(out) :: bytes
    integer, optional, intent(out) :: ierror
    integer(c_size_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_token_bytes(token, given)
    bytes = given
    call settle(status, ierror)
  end subroutine

  ! Makes an empty post, which messages call by its name.
  subroutine tca_post_create(world, post, name, ierror)
    type(tca_world), intent(in) :: world
    type(tca_post), intent(out) :: post
    character(*), optional, intent(in) :: name
    integer, optional, intent(out) :: ierror
    character(:), allocatable :: title

    title = ''
    if (present(name)) title = name
    call settle(c_post_create(world%handle, terminated(title), post%handle), ierror)
  end subroutine

  ! Adds a put of the contiguous array `from`, of `elements` elements of `element_bytes` bytes, to a region from its element
  ! `position` on (1). The array is read at every start: it stays, and has the attribute `target` or `asynchronous`. Both
  ! sides have the same layout where `from_layout` is absent.
  subroutine tca_post_put(post, to, position, to_layout, from, elements, element_bytes, from_layout, ierror)
    type(tca_post), intent(in) :: post
    type(tca_token), intent(in) :: to
    integer(int64), intent(in) :: position, elements
    type(tca_layout), intent(in) :: to_layout
    type(*), target, intent(in) :: from(*)
    integer, intent(in) :: element_bytes
    type(tca_layout), optional, intent(in) :: from_layout
    integer, optional, intent(out) :: ierror
    type(tca_layout) :: here

    here = to_layout
    if (present(from_layout)) here = from_layout
    call settle(c_post_put(post%handle, to, position - 1, to_layout, c_loc(from), elements, here, &
                           int(element_bytes, c_size_t)), ierror)
  end subroutine

  ! Adds a notice: `rank` learns that what was added for it before is in place.
  subroutine tca_post_notify(post, rank, slot, tag, ierror)
    type(tca_post), intent(in) :: post
    integer, intent(in) :: rank, slot, tag
    integer, optional, intent(out) :: ierror

    call settle(c_post_notify(post%handle, int(rank, c_int), int(slot, c_int), int(tag, c_int32_t)), ierror)
  end subroutine

  subroutine tca_post_clear(post, ierror)
    type(tca_post), intent(in) :: post
    integer, optional, intent(out) :: ierror

    call settle(c_post_clear(post%handle), ierror)
  end subroutine

  ! Sends the bytes as they are now. Never blocks.
  subroutine tca_post_start(post, ierror)
    type(tca_post), intent(in) :: post
    integer, optional, intent(out) :: ierror

    call settle(c_post_start(post%handle), ierror)
  end subroutine

  ! These finish when all sources may be overwritten, and are otherwise as the calls of a chain.
  subroutine tca_post_test(post, finished, ierror)
    type(tca_post), intent(in) :: post
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_post_test(post%handle), finished, ierror)
  end subroutine

  subroutine tca_post_wait(post, ierror)
    type(tca_post), intent(in) :: post
    integer, optional, intent(out) :: ierror

    call settle(c_post_wait(post%handle), ierror)
  end subroutine

  subroutine tca_post_wait_for(post, seconds, finished, ierror)
    type(tca_post), intent(in) :: post
    real(real64), intent(in) :: seconds
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_post_wait_for(post%handle, seconds), finished, ierror)
  end subroutine

  subroutine tca_post_run(post, ierror)
    type(tca_post), intent(in) :: post
    integer, optional, intent(out) :: ierror

    call settle(c_post_run(post%handle), ierror)
  end subroutine

  ! These finish when everything that the post has ever sent is in place.
  subroutine tca_post_flush(post, ierror)
    type(tca_post), intent(in) :: post
    integer, optional, intent(out) :: ierror

    call settle(c_post_flush(post%handle), ierror)
  end subroutine

  subroutine tca_post_flush_for(post, seconds, finished, ierror)
    type(tca_post), intent(in) :: post
    real(real64), intent(in) :: seconds
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_post_flush_for(post%handle, seconds), finished, ierror)
  end subroutine

  subroutine tca_post_free(post, ierror)
    type(tca_post), intent(inout) :: post
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_post_free(post%handle)
    if (status == tca_ok) post%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  ! The notices that other ranks raise here. Each call that finds one consumes it.
  subroutine tca_notices_create(world, notices, ierror)
    type(tca_world), intent(in) :: world
    type(tca_notices), intent(out) :: notices
    integer, optional, intent(out) :: ierror

    call settle(c_notices_create(world%handle, notices%handle), ierror)
  end subroutine

  subroutine tca_notices_test(notices, source, slot, tag, has_come, ierror)
    type(tca_notices), intent(in) :: notices
    integer, intent(in) :: source, slot, tag
    logical, intent(out) :: has_come
    integer, optional, intent(out) :: ierror

    call settle_test(c_notices_test(notices%handle, int(source, c_int), int(slot, c_int), int(tag, c_int32_t)), has_come, &
                     ierror)
  end subroutine

  ! The same for a notice of any tag, which is given.
  subroutine tca_notices_test_any(notices, source, slot, tag, has_come, ierror)
    type(tca_notices), intent(in) :: notices
    integer, intent(in) :: source, slot
    integer, intent(out) :: tag
    logical, intent(out) :: has_come
    integer, optional, intent(out) :: ierror
    integer(c_int32_t) :: found
    integer(c_int) :: status

    found = 0
    status = c_notices_test_any(notices%handle, int(source, c_int), int(slot, c_int), found)
    tag = found
    call settle_test(status, has_come, ierror)
  end subroutine

  subroutine tca_notices_wait(notices, source, slot, tag, ierror)
    type(tca_notices), intent(in) :: notices
    integer, intent(in) :: source, slot, tag
    integer, optional, intent(out) :: ierror

    call settle(c_notices_wait(notices%handle, int(source, c_int), int(slot, c_int), int(tag, c_int32_t)), ierror)
  end subroutine

  ! Waits for at most `seconds`. `already` is how long the program has waited for it in earlier calls, which the time limit
  ! covers as well.
  subroutine tca_notices_wait_for(notices, source, slot, tag, seconds, has_come, already, ierror)
    type(tca_notices), intent(in) :: notices
    integer, intent(in) :: source, slot, tag
    real(real64), intent(in) :: seconds
    logical, intent(out) :: has_come
    real(real64), optional, intent(in) :: already
    integer, optional, intent(out) :: ierror
    real(c_double) :: before

    before = 0
    if (present(already)) before = already
    call settle_test(c_notices_wait_for(notices%handle, int(source, c_int), int(slot, c_int), int(tag, c_int32_t), seconds, &
                                        before), has_come, ierror)
  end subroutine

  subroutine tca_notices_free(notices, ierror)
    type(tca_notices), intent(inout) :: notices
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_notices_free(notices%handle)
    if (status == tca_ok) notices%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine
end module
