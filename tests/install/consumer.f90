! A small program in Fortran: a world of one rank that writes to itself, and is refused.
program consumer
  use, intrinsic :: iso_fortran_env, only: real64
  use opentca
  implicit none
  type(tca_world) :: world
  type(tca_window) :: window
  type(tca_chain) :: chain
  type(tca_layout) :: one
  real(real64), pointer, contiguous :: u(:)
  integer :: ierror

  call tca_world_init(world)
  call tca_window_create(world, [1], [2], u, window, 'u')
  call tca_layout_block(1, one)
  call tca_chain_create(world, 'self', chain)
  call tca_chain_put(chain, tca_at(window, 0, 2), one, tca_here(window))
  call tca_chain_expect(chain, 0)
  call tca_chain_commit(chain)
  u(1) = 42
  call tca_chain_run(chain)
  if (nint(u(2)) /= 42) error stop 'another value has arrived'
  call tca_chain_expect(chain, 7, ierror)
  if (ierror /= tca_invalid_argument .or. index(tca_last_message(), 'self') == 0) error stop 'rank 7 is not refused'
  call tca_chain_free(chain)
  call tca_window_free(window)
  call tca_world_free(world)
end program
