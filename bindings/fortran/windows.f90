! Windows, and places in them. What depends on the type of their elements is in elements.inc.
module opentca_windows
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use opentca_calls
  use opentca_errors
  use opentca_worlds
  implicit none
  private
  public :: tca_window_create, tca_window_of_memory, tca_window_view, tca_window_free, tca_window_address
  public :: tca_window_element_bytes, tca_window_elements, tca_window_elements_on, tca_window_number
  public :: tca_at, tca_here, tca_remote, tca_local
  public :: create_window, check_elements, find_part, cells_between

  ! A handle is what C has, a tca_window*.
  type, public :: tca_window
    type(c_ptr) :: handle = c_null_ptr
  end type

  interface tca_window_create
    module procedure create_of_bytes
  end interface

  ! An element of a rank's part, which a put writes to: at `position` in the order of Fortran, counted from 1.
  interface tca_at
    module procedure at, at_int32, at_int64
  end interface
  ! An element of this rank's own part, which a put reads from.
  interface tca_here
    module procedure here, here_int32, here_int64
  end interface

  character(kind=c_char), target, save :: nowhere  ! what arrays without elements lie at

contains

  ! Collective. Makes a window of elements that have no type of Fortran's own; tca_window_address finds them.
  subroutine create_of_bytes(world, elements, element_bytes, window, name, ierror)
    type(tca_world), intent(in) :: world
    integer(int64), intent(in) :: elements
    integer, intent(in) :: element_bytes
    type(tca_window), intent(out) :: window
    character(*), optional, intent(in) :: name
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    call create_window(world, elements, int(element_bytes, c_size_t), window, name, status)
    call settle(status, ierror)
  end subroutine

  subroutine create_window(world, elements, element_bytes, window, name, status)
    type(tca_world), intent(in) :: world
    integer(int64), intent(in) :: elements
    integer(c_size_t), intent(in) :: element_bytes
    type(tca_window), intent(out) :: window
    character(*), optional, intent(in) :: name
    integer(c_int), intent(out) :: status
    character(:), allocatable :: title

    title = ''
    if (present(name)) title = name
    status = c_window_create(world%handle, elements, element_bytes, terminated(title), window%handle)
  end subroutine

  ! Collective. Makes a window of a contiguous array that the program keeps, of any type and rank; between processes that
  ! must be memory of OpenTCA's own, or over MPI.
  subroutine tca_window_of_memory(world, memory, elements, element_bytes, window, name, ierror)
    type(tca_world), intent(in) :: world
    type(*), target, intent(in) :: memory(*)
    integer(int64), intent(in) :: elements
    integer, intent(in) :: element_bytes
    type(tca_window), intent(out) :: window
    character(*), optional, intent(in) :: name
    integer, optional, intent(out) :: ierror
    character(:), allocatable :: title

    title = ''
    if (present(name)) title = name
    call settle(c_window_of_memory(world%handle, c_loc(memory), elements, int(element_bytes, c_size_t), &
                                   terminated(title), window%handle), ierror)
  end subroutine

  ! Makes another handle for a window, as a group of the ranks that it was made among sees it.
  subroutine tca_window_view(group, window, view, ierror)
    type(tca_world), intent(in) :: group
    type(tca_window), intent(in) :: window
    type(tca_window), intent(out) :: view
    integer, optional, intent(out) :: ierror

    call settle(c_window_view(group%handle, window%handle, view%handle), ierror)
  end subroutine

  ! The memory goes once every chain, halo and collective that uses it is freed too; pointers to it must then not be used.
  subroutine tca_window_free(window, ierror)
    type(tca_window), intent(inout) :: window
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_window_free(window%handle)
    if (status == tca_ok) window%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  ! The address of this rank's part, which may be a GPU's.
  subroutine tca_window_address(window, address, ierror)
    type(tca_window), intent(in) :: window
    type(c_ptr), intent(out) :: address
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    address = c_null_ptr
    status = c_window_data(window%handle, address)
    call settle(status, ierror)
  end subroutine

  subroutine tca_window_element_bytes(window, bytes, ierror)
    type(tca_window), intent(in) :: window
    integer, intent(out) :: bytes
    integer, optional, intent(out) :: ierror
    integer(c_size_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_window_element_bytes(window%handle, given)
    bytes = int(given)
    call settle(status, ierror)
  end subroutine

  ! The number of elements of this rank's part.
  subroutine tca_window_elements(window, elements, ierror)
    type(tca_window), intent(in) :: window
    integer(int64), intent(out) :: elements
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    elements = 0
    status = c_window_elements(window%handle, elements)
    call settle(status, ierror)
  end subroutine

  subroutine tca_window_elements_on(window, rank, elements, ierror)
    type(tca_window), intent(in) :: window
    integer, intent(in) :: rank
    integer(int64), intent(out) :: elements
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    elements = 0
    status = c_window_elements_on(window%handle, int(rank, c_int), elements)
    call settle(status, ierror)
  end subroutine

  ! The number by which messages call a window without a name.
  subroutine tca_window_number(window, number, ierror)
    type(tca_window), intent(in) :: window
    integer, intent(out) :: number
    integer, optional, intent(out) :: ierror
    integer(c_int32_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_window_number(window%handle, given)
    number = given
    call settle(status, ierror)
  end subroutine

  type(tca_remote) function at(window, rank)
    type(tca_window), intent(in) :: window
    integer, intent(in) :: rank

    at = tca_remote(window%handle, 0, int(rank, c_int))
  end function

  type(tca_remote) function at_int32(window, rank, position)
    type(tca_window), intent(in) :: window
    integer, intent(in) :: rank
    integer(int32), intent(in) :: position

    at_int32 = tca_remote(window%handle, int(position, c_int64_t) - 1, int(rank, c_int))
  end function

  type(tca_remote) function at_int64(window, rank, position)
    type(tca_window), intent(in) :: window
    integer, intent(in) :: rank
    integer(int64), intent(in) :: position

    at_int64 = tca_remote(window%handle, position - 1, int(rank, c_int))
  end function

  type(tca_local) function here(window)
    type(tca_window), intent(in) :: window

    here = tca_local(window%handle, 0)
  end function

  type(tca_local) function here_int32(window, position)
    type(tca_window), intent(in) :: window
    integer(int32), intent(in) :: position

    here_int32 = tca_local(window%handle, int(position, c_int64_t) - 1)
  end function

  type(tca_local) function here_int64(window, position)
    type(tca_window), intent(in) :: window
    integer(int64), intent(in) :: position

    here_int64 = tca_local(window%handle, position - 1)
  end function

  ! Whether the elements of a window have as many bytes as those of the program's array.
  subroutine check_elements(window, element_bytes, status)
    type(c_ptr), intent(in) :: window
    integer(c_size_t), intent(in) :: element_bytes
    integer(c_int), intent(out) :: status
    integer(c_size_t) :: bytes
    character(120) :: sentence

    bytes = 0
    status = c_window_element_bytes(window, bytes)
    if (status /= tca_ok .or. bytes == element_bytes) return
    write (sentence, '(2(a, i0), a)') 'the window''s elements have ', bytes, ' bytes, the program''s ', element_bytes, &
      '; both must be of one type'
    status = c_fail(int(tca_invalid_argument, c_int), terminated(sentence))
  end subroutine

  ! The address of this rank's part, for an array of `cells` elements of `element_bytes` bytes.
  subroutine find_part(window, cells, element_bytes, address, status)
    type(tca_window), intent(in) :: window
    integer(int64), intent(in) :: cells
    integer(c_size_t), intent(in) :: element_bytes
    type(c_ptr), intent(out) :: address
    integer(c_int), intent(out) :: status
    integer(c_int64_t) :: have
    character(160) :: sentence

    address = c_null_ptr
    have = 0
    call check_elements(window%handle, element_bytes, status)
    if (status == tca_ok) status = c_window_elements(window%handle, have)
    if (status == tca_ok) status = c_window_data(window%handle, address)
    if (status == tca_ok .and. cells > have) then
      write (sentence, '(2(a, i0))') 'an array of ', cells, &
        ' elements cannot be this rank''s part of the window, which has ', have
      status = c_fail(int(tca_invalid_argument, c_int), terminated(sentence))
    end if
    if (.not. c_associated(address)) address = c_loc(nowhere)
  end subroutine

  ! The elements of an array of these bounds; more than any memory has where that is no number.
  pure integer(int64) function cells_between(lower, upper) result(cells)
    integer, intent(in) :: lower(:), upper(:)
    integer(int64) :: extents(size(lower))
    integer :: d

    extents = max(int(upper, int64) - lower + 1, 0_int64)
    cells = merge(0_int64, 1_int64, any(extents == 0))
    do d = 1, size(lower)
      if (cells > huge(cells)/max(extents(d), 1_int64)) then
        cells = huge(cells)
        return
      end if
      cells = cells*extents(d)
    end do
  end function
end module
