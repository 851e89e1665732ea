! Adding what ghosts have gathered to the elements that they stand for.
module opentca_folds
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use opentca_calls
  use opentca_errors
  use opentca_worlds
  use opentca_windows
  use opentca_chains
  use opentca_halos
  use opentca_collectives
  implicit none
  private
  public :: tca_fold_create, tca_fold_free, tca_fold_add, tca_fold_commit
  public :: tca_fold_start, tca_fold_test, tca_fold_wait, tca_fold_wait_for, tca_fold_run
  public :: tca_fold_start_on, tca_fold_wait_on, tca_fold_run_on, tca_fold_explain

  ! A handle is what C has, a tca_fold*.
  type, public :: tca_fold
    type(c_ptr) :: handle = c_null_ptr
  end type

contains

  ! The way of a halo backwards, which need not be committed.
  subroutine tca_fold_create(world, name, halo, fold, options, ierror)
    type(tca_world), intent(in) :: world
    character(*), intent(in) :: name
    type(tca_halo), intent(in) :: halo
    type(tca_fold), intent(out) :: fold
    type(tca_chain_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_chain_options), target :: kept

    call keep_chain_options(options, kept)
    call settle(c_fold_create(world%handle, terminated(name), halo%handle, kept%c, fold%handle), ierror)
  end subroutine

  subroutine tca_fold_free(fold, ierror)
    type(tca_fold), intent(inout) :: fold
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_fold_free(fold%handle)
    if (status == tca_ok) fold = tca_fold()
    call settle(status, ierror)
  end subroutine

  ! Adds a field of numbers of `type`, such as tca_float64, which begins at element `position` (1) of this rank's part of a
  ! window and is combined by `operation` (tca_sum). An element may be several such numbers: a complex one is two.
  subroutine tca_fold_add(fold, window, type, position, operation, ierror)
    type(tca_fold), intent(in) :: fold
    type(tca_window), intent(in) :: window
    integer, intent(in) :: type
    integer(int64), optional, intent(in) :: position
    integer, optional, intent(in) :: operation
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: offset
    integer(c_int) :: combined

    offset = 0
    if (present(position)) offset = position - 1
    combined = int(tca_sum, c_int)
    if (present(operation)) combined = int(operation, c_int)
    call settle(c_fold_add(fold%handle, window%handle, offset, int(type, c_int), combined), ierror)
  end subroutine

  ! Collective.
  subroutine tca_fold_commit(fold, ierror)
    type(tca_fold), intent(in) :: fold
    integer, optional, intent(out) :: ierror

    call settle(c_fold_commit(fold%handle), ierror)
  end subroutine

  ! These are as the calls of a chain.
  subroutine tca_fold_start(fold, ierror)
    type(tca_fold), intent(in) :: fold
    integer, optional, intent(out) :: ierror

    call settle(c_fold_start(fold%handle), ierror)
  end subroutine

  subroutine tca_fold_test(fold, finished, ierror)
    type(tca_fold), intent(in) :: fold
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_fold_test(fold%handle), finished, ierror)
  end subroutine

  subroutine tca_fold_wait(fold, ierror)
    type(tca_fold), intent(in) :: fold
    integer, optional, intent(out) :: ierror

    call settle(c_fold_wait(fold%handle), ierror)
  end subroutine

  subroutine tca_fold_wait_for(fold, seconds, finished, ierror)
    type(tca_fold), intent(in) :: fold
    real(real64), intent(in) :: seconds
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_fold_wait_for(fold%handle, seconds), finished, ierror)
  end subroutine

  subroutine tca_fold_run(fold, ierror)
    type(tca_fold), intent(in) :: fold
    integer, optional, intent(out) :: ierror

    call settle(c_fold_run(fold%handle), ierror)
  end subroutine

  subroutine tca_fold_start_on(fold, stream, ierror)
    type(tca_fold), intent(in) :: fold
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_fold_start_on(fold%handle, stream), ierror)
  end subroutine

  subroutine tca_fold_wait_on(fold, stream, ierror)
    type(tca_fold), intent(in) :: fold
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_fold_wait_on(fold%handle, stream), ierror)
  end subroutine

  subroutine tca_fold_run_on(fold, stream, ierror)
    type(tca_fold), intent(in) :: fold
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_fold_run_on(fold%handle, stream), ierror)
  end subroutine

  subroutine tca_fold_explain(fold, text, ierror)
    type(tca_fold), intent(in) :: fold
    character(:), allocatable, intent(out) :: text
    integer, optional, intent(out) :: ierror

    call settle_text(c_fold_explain, fold%handle, text, ierror)
  end subroutine
end module
