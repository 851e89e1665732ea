! Layouts: which elements a put moves, counted from its place.
module opentca_layouts
  use, intrinsic :: iso_c_binding
  use opentca_calls
  use opentca_errors
  implicit none
  private
  public :: tca_layout, tca_loop
  public :: tca_layout_block, tca_layout_block_stride, tca_layout_stride, tca_layout_subarray

contains

  ! `count` elements in a row.
  subroutine tca_layout_block(count, layout, ierror)
    integer, intent(in) :: count
    type(tca_layout), intent(out) :: layout
    integer, optional, intent(out) :: ierror

    call settle(c_layout_block(int(count, c_int64_t), layout), ierror)
  end subroutine

  ! `columns` columns of `block` elements, `pitch` elements from one start to the next.
  subroutine tca_layout_block_stride(columns, block, pitch, layout, ierror)
    integer, intent(in) :: columns, block, pitch
    type(tca_layout), intent(out) :: layout
    integer, optional, intent(out) :: ierror

    call settle(c_layout_block_stride(int(columns, c_int64_t), int(block, c_int64_t), int(pitch, c_int64_t), layout), ierror)
  end subroutine

  ! `count` single elements, `pitch` apart.
  subroutine tca_layout_stride(count, pitch, layout, ierror)
    integer, intent(in) :: count, pitch
    type(tca_layout), intent(out) :: layout
    integer, optional, intent(out) :: ierror

    call settle(c_layout_stride(int(count, c_int64_t), int(pitch, c_int64_t), layout), ierror)
  end subroutine

  ! The section of `shape` whose first element is `start`, of an array of `extents` with its first element at `lower`
  ! (ones): u(2:3, 5) of u(8, 9) is extents [8, 9], start [2, 5], shape [2, 1].
  subroutine tca_layout_subarray(extents, start, shape, layout, lower, ierror)
    integer, intent(in) :: extents(:), start(:), shape(:)
    type(tca_layout), intent(out) :: layout
    integer, optional, intent(in) :: lower(:)
    integer, optional, intent(out) :: ierror
    integer(c_int64_t), dimension(size(extents)) :: begin
    integer :: dims
    integer(c_int) :: status
    logical :: is_alike

    dims = size(extents)
    is_alike = size(start) == dims .and. size(shape) == dims
    if (present(lower)) is_alike = is_alike .and. size(lower) == dims
    if (.not. is_alike) then
      status = c_fail(int(tca_invalid_argument, c_int), &
                      terminated('tca_layout_subarray: extents, start, shape and lower have different numbers of dimensions'))
    else
      begin = int(start, c_int64_t) - 1
      if (present(lower)) begin = int(start, c_int64_t) - lower
      status = c_layout_subarray(int(dims, c_int), in_c(extents), begin(dims:1:-1), in_c(shape), layout)
    end if
    call settle(status, ierror)
  end subroutine

  ! Dimensions are the other way round in C.
  pure function in_c(numbers)
    integer, intent(in) :: numbers(:)
    integer(c_int64_t) :: in_c(size(numbers))

    in_c = int(numbers(size(numbers):1:-1), c_int64_t)
  end function
end module
