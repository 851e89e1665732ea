! Worlds: the ranks, as processes, threads, or some of another world's.
module opentca_worlds
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use opentca_calls
  use opentca_errors
  implicit none
  private
  public :: tca_world_init, tca_world_join, tca_world_run_threads, tca_world_group, tca_world_split, tca_world_free
  public :: tca_world_rank, tca_world_size, tca_world_sub_clusters, tca_world_barrier, tca_world_progress
  public :: tca_world_check, tca_world_compute, tca_world_now, tca_world_describe, tca_world_device_name
  public :: tca_world_ranks_on_device, tca_world_ranks_share_devices, tca_world_write_trace, tca_world_trace_span
  public :: keep_options, world_from_fortran

  integer, parameter :: longest = 1024

  ! A handle is what C has, a tca_world*. It is freed by the program: a copy of it is another name for the same world.
  type, public :: tca_world
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, public :: tca_world_options
    real(real64) :: time_limit = 0           ! seconds that a blocking call may take; 0: 30
    character(longest) :: fabric = ''        ! 'shm', 'cuda', 'mpi', 'shm+mpi', 'cuda+mpi', 'sim'; '': OPENTCA_FABRIC, or shm
    character(longest) :: machine = ''       ! the modelled machine, on sim
    character(longest) :: fidelity = ''      ! 'tlp', 'train' or 'flow', on sim
    integer :: device = -1                   ! the GPU of this rank, on cuda; -1: its position among the ranks of the host
    integer :: engine_blocks = 0             ! multiprocessors for the resident engine, on cuda
    logical :: trace = .false.               ! whether to record events for tca_world_write_trace
    logical :: progress_thread = .false.     ! whether a thread moves messages on, on mpi and shm+mpi
    logical :: check_steps = .false.         ! whether a wait without a start is an error
    logical :: fibers = .false.              ! whether ranks of tca_world_run_threads take turns on one thread, on sim
    character(longest) :: faults = ''        ! what is to fail and when, such as 'path:0-1:shm@20ms'
    logical :: reroute = .false.             ! whether every chain goes round what has failed
  end type

  ! Options as C takes them, with the texts that they point to.
  type, public :: kept_options
    type(c_world_options) :: c
    character(longest + 1) :: fabric, machine, fidelity, faults
  end type

  ! What a rank that is a thread runs: `ierror` other than tca_ok makes it one that has failed, with the thread's last
  ! message if that is of the same status.
  abstract interface
    subroutine tca_rank_body(world, ierror)
      import :: tca_world
      type(tca_world), intent(in) :: world
      integer, intent(out) :: ierror
    end subroutine
  end interface
  public :: tca_rank_body

  type :: held_body
    procedure(tca_rank_body), pointer, nopass :: run => null()
  end type

contains

  subroutine keep_options(options, kept)
    type(tca_world_options), optional, intent(in) :: options
    type(kept_options), target, intent(out) :: kept
    type(tca_world_options) :: given

    if (present(options)) given = options
    kept%fabric = terminated(given%fabric)
    kept%machine = terminated(given%machine)
    kept%fidelity = terminated(given%fidelity)
    kept%faults = terminated(given%faults)
    kept%c%size = c_sizeof(kept%c)
    kept%c%time_limit = given%time_limit
    kept%c%fabric = c_loc(kept%fabric(1:1))
    kept%c%machine = c_loc(kept%machine(1:1))
    kept%c%fidelity = c_loc(kept%fidelity(1:1))
    kept%c%device = given%device
    kept%c%engine_blocks = given%engine_blocks
    kept%c%trace = merge(1, 0, given%trace)
    kept%c%progress_thread = merge(1, 0, given%progress_thread)
    kept%c%check_steps = merge(1, 0, given%check_steps)
    kept%c%fibers = merge(1, 0, given%fibers)
    kept%c%faults = c_loc(kept%faults(1:1))
    kept%c%reroute = merge(1, 0, given%reroute)
  end subroutine

  ! Collective. Comes up as one rank of `tca run`, mpirun, srun, flux or torchrun, or alone.
  subroutine tca_world_init(world, options, ierror)
    type(tca_world), intent(out) :: world
    type(tca_world_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_options), target :: kept

    call keep_options(options, kept)
    call settle(c_world_init(kept%c, world%handle), ierror)
  end subroutine

  ! Collective over `size` processes of one host, which find each other by `key`.
  subroutine tca_world_join(rank, size, key, world, options, ierror)
    integer, intent(in) :: rank, size
    character(*), intent(in) :: key
    type(tca_world), intent(out) :: world
    type(tca_world_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_options), target :: kept

    call keep_options(options, kept)
    call settle(c_world_join(int(rank, c_int), int(size, c_int), terminated(key), kept%c, world%handle), ierror)
  end subroutine

  ! Runs `body` in `ranks` threads of this process, each with a world, which belongs to this call. Procedures that run
  ! in several threads have their large arrays on the stack if they are `recursive`.
  subroutine tca_world_run_threads(ranks, body, options, ierror)
    integer, intent(in) :: ranks
    procedure(tca_rank_body) :: body
    type(tca_world_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_options), target :: kept
    type(held_body), target :: held

    call keep_options(options, kept)
    held%run => body
    call settle(c_world_run_threads(int(ranks, c_int), c_funloc(run_body), c_loc(held), kept%c), ierror)
  end subroutine

  recursive function run_body(world, context) result(status) bind(c, name='')
    type(c_ptr), value :: world, context
    integer(c_int) :: status
    type(held_body), pointer :: held
    integer :: ierror

    call c_f_pointer(context, held)
    call held%run(tca_world(world), ierror)
    status = int(ierror, c_int)
  end function

  ! What tca_world_from_mpi of the module opentca_mpi calls, with a communicator's number and the MPI that it is of.
  subroutine world_from_fortran(comm, mpi, world, options, ierror)
    integer, intent(in) :: comm
    character(*), intent(in) :: mpi
    type(tca_world), intent(out) :: world
    type(tca_world_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_options), target :: kept
    integer(c_int), target :: number

    call keep_options(options, kept)
    number = int(comm, c_int)
    call settle(c_world_from_mpi_handle(c_loc(number), c_sizeof(number), terminated(mpi//' in Fortran'), kept%c, &
                                        world%handle), ierror)
  end subroutine

  ! Collective over the ranks that are named, in the same order by each.
  subroutine tca_world_group(world, ranks, group, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: ranks(:)
    type(tca_world), intent(out) :: group
    integer, optional, intent(out) :: ierror

    call settle(c_world_group(world%handle, int(ranks, c_int), size(ranks, kind=c_int), group%handle), ierror)
  end subroutine

  ! Collective. Makes a group of the ranks that give the same colour, in the order of their keys.
  subroutine tca_world_split(world, color, key, group, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: color, key
    type(tca_world), intent(out) :: group
    integer, optional, intent(out) :: ierror

    call settle(c_world_split(world%handle, int(color, c_int), int(key, c_int), group%handle), ierror)
  end subroutine

  subroutine tca_world_free(world, ierror)
    type(tca_world), intent(inout) :: world
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_world_free(world%handle)
    if (status == tca_ok) world%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  ! Ranks count from 0, as in MPI.
  subroutine tca_world_rank(world, rank, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: rank
    integer, optional, intent(out) :: ierror

    call settle_number(c_world_rank, world, rank, ierror)
  end subroutine

  subroutine tca_world_size(world, size, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: size
    integer, optional, intent(out) :: ierror

    call settle_number(c_world_size, world, size, ierror)
  end subroutine

  ! `of_ranks` has an element for each rank: the number of its sub-cluster.
  subroutine tca_world_sub_clusters(world, of_ranks, ierror)
    type(tca_world), intent(in) :: world
    integer, allocatable, intent(out) :: of_ranks(:)
    integer, optional, intent(out) :: ierror
    integer(c_int), allocatable :: all(:)
    integer(c_int) :: size, status

    size = 0
    status = c_world_size(world%handle, size)
    allocate (all(size), source=0_c_int)
    if (status == tca_ok) status = c_world_sub_clusters(world%handle, all)
    of_ranks = int(all)
    call settle(status, ierror)
  end subroutine

  ! Collective, and blocks: for set-up, as is tca_world_all_gather.
  subroutine tca_world_barrier(world, ierror)
    type(tca_world), intent(in) :: world
    integer, optional, intent(out) :: ierror

    call settle(c_world_barrier(world%handle), ierror)
  end subroutine

  ! Moves this rank's steps on, without blocking.
  subroutine tca_world_progress(world, ierror)
    type(tca_world), intent(in) :: world
    integer, optional, intent(out) :: ierror

    call settle(c_world_progress(world%handle), ierror)
  end subroutine

  ! Fails as a step that was ordered on a stream did, if one did.
  subroutine tca_world_check(world, ierror)
    type(tca_world), intent(in) :: world
    integer, optional, intent(out) :: ierror

    call settle(c_world_check(world%handle), ierror)
  end subroutine

  ! Tells sim that a kernel moves `bytes` bytes and does `flops` operations; nothing elsewhere.
  subroutine tca_world_compute(world, bytes, flops, ierror)
    type(tca_world), intent(in) :: world
    real(real64), intent(in) :: bytes, flops
    integer, optional, intent(out) :: ierror

    call settle(c_world_compute(world%handle, bytes, flops), ierror)
  end subroutine

  ! Seconds since some fixed moment, by this rank's clock; a virtual one on sim.
  subroutine tca_world_now(world, seconds, ierror)
    type(tca_world), intent(in) :: world
    real(real64), intent(out) :: seconds
    integer, optional, intent(out) :: ierror
    real(c_double) :: now
    integer(c_int) :: status

    now = 0
    status = c_world_now(world%handle, now)
    seconds = now
    call settle(status, ierror)
  end subroutine

  subroutine tca_world_describe(world, text, ierror)
    type(tca_world), intent(in) :: world
    character(:), allocatable, intent(out) :: text
    integer, optional, intent(out) :: ierror

    call settle_text(c_world_describe, world%handle, text, ierror)
  end subroutine

  subroutine tca_world_device_name(world, name, ierror)
    type(tca_world), intent(in) :: world
    character(:), allocatable, intent(out) :: name
    integer, optional, intent(out) :: ierror

    call settle_text(c_world_device_name, world%handle, name, ierror)
  end subroutine

  subroutine tca_world_ranks_on_device(world, ranks, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ranks
    integer, optional, intent(out) :: ierror

    call settle_number(c_world_ranks_on_device, world, ranks, ierror)
  end subroutine

  ! Collective.
  subroutine tca_world_ranks_share_devices(world, shared, ierror)
    type(tca_world), intent(in) :: world
    logical, intent(out) :: shared
    integer, optional, intent(out) :: ierror
    integer :: number

    call settle_number(c_world_ranks_share_devices, world, number, ierror)
    shared = number /= 0
  end subroutine

  ! Collective. Rank 0 writes the events of all ranks to a file.
  subroutine tca_world_write_trace(world, path, ierror)
    type(tca_world), intent(in) :: world
    character(*), intent(in) :: path
    integer, optional, intent(out) :: ierror

    call settle(c_world_write_trace(world%handle, terminated(path)), ierror)
  end subroutine

  ! Adds a span to the trace, between two values of tca_world_now.
  subroutine tca_world_trace_span(world, name, begin, end, ierror)
    type(tca_world), intent(in) :: world
    character(*), intent(in) :: name
    real(real64), intent(in) :: begin, end
    integer, optional, intent(out) :: ierror

    call settle(c_world_trace_span(world%handle, terminated(name), begin, end), ierror)
  end subroutine

  subroutine settle_number(call_of_c, world, number, ierror)
    procedure(gives_int) :: call_of_c
    type(tca_world), intent(in) :: world
    integer, intent(out) :: number
    integer, optional, intent(out) :: ierror
    integer(c_int) :: given, status

    given = 0
    status = call_of_c(world%handle, given)
    number = given
    call settle(status, ierror)
  end subroutine
end module
