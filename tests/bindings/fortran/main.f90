! The tests of the module opentca: bindings_fortran threads|processes|sim TEST [SEED]
program main
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use ranks
  use test_puts
  use test_counted
  use test_posts
  use test_halos
  use test_collectives
  use test_worlds
  use test_refusals
  use test_deaths
  implicit none
  character(20) :: name, text
  integer :: status

  call get_command_argument(1, way)
  call get_command_argument(2, name)
  call system_clock(seed)
  if (command_argument_count() > 2) then
    call get_command_argument(3, text)
    read (text, *, iostat=status) seed
    call require(status == 0, 'the seed is a number')
  end if
  seed = iand(seed, 4294967295_int64)
  select case (name)
  case ('puts')
    call puts()
  case ('counted')
    call counted()
  case ('posts')
    call posts()
  case ('halos')
    call halos()
  case ('collectives')
    call collectives()
  case ('worlds')
    call worlds()
  case ('refusals')
    call refusals()
  case ('deaths')
    call deaths()
  case default
    write (error_unit, '(2a)') 'there is no test ', trim(name)
    stop 2
  end select
end program
