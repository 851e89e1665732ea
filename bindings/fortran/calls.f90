! The calls of tca/tca.h and its structs, as C has them. Only the other files of this folder use them.
module opentca_calls
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer, parameter :: max_dims = 7, max_loops = 3, token_bytes = 128

  type, bind(c) :: c_world_options
    integer(c_size_t) :: size = 0
    real(c_double) :: time_limit = 0
    type(c_ptr) :: fabric = c_null_ptr, machine = c_null_ptr, fidelity = c_null_ptr
    integer(c_int) :: device = -1, engine_blocks = 0, trace = 0, progress_thread = 0, check_steps = 0
    integer(c_int) :: fibers = 0
    type(c_ptr) :: faults = c_null_ptr
    integer(c_int) :: reroute = 0, reserved = 0
  end type
  type, bind(c) :: c_chain_options
    integer(c_size_t) :: size = 0
    real(c_double) :: time_limit = 0
    type(c_ptr) :: channel = c_null_ptr
    integer(c_int) :: unguarded = 0, partners_only = 0, reroute = 0, reserved = 0
  end type
  type, bind(c) :: c_ghost_width
    integer(c_int64_t) :: low, high
  end type
  type, bind(c) :: c_halo_options
    integer(c_size_t) :: size = 0
    type(c_ptr) :: width = c_null_ptr, exchange = c_null_ptr, chain = c_null_ptr
    integer(c_int) :: corners = 0, reserved = 0
  end type
  type, bind(c) :: c_collective_request
    integer(c_size_t) :: size = 0
    type(c_ptr) :: name = c_null_ptr
    integer(c_int64_t) :: count = 0
    integer(c_size_t) :: element_bytes = 0
    integer(c_int) :: kind = 0, type = 0, root = 0, operation = 0
    type(c_funptr) :: combine = c_null_funptr
    type(c_ptr) :: context = c_null_ptr, algorithm = c_null_ptr, channel = c_null_ptr
    real(c_double) :: time_limit = 0
  end type
  type, bind(c) :: c_error
    integer(c_size_t) :: size = 0
    type(c_ptr) :: message = c_null_ptr, chain = c_null_ptr, file = c_null_ptr, missing = c_null_ptr
    integer(c_int) :: missing_count = 0, status = 0, rank = -1, line = 0, column = 0, has_step = 0
    integer(c_int64_t) :: step = 0
  end type
  type, bind(c) :: c_grid
    integer(c_int) :: dims = 0, shape(max_dims) = 0, periodic(max_dims) = 0
  end type

  ! These the program has too.
  type, bind(c) :: tca_loop
    integer(c_int64_t) :: count = 0, pitch = 0
  end type
  type, bind(c) :: tca_layout
    integer(c_int64_t) :: first = 0, run = 0, loops = 0
    type(tca_loop) :: loop(max_loops)
  end type
  type, bind(c) :: tca_remote
    type(c_ptr) :: window = c_null_ptr
    integer(c_int64_t) :: offset = 0
    integer(c_int) :: rank = 0
  end type
  type, bind(c) :: tca_local
    type(c_ptr) :: window = c_null_ptr
    integer(c_int64_t) :: offset = 0
  end type
  type, bind(c) :: tca_token
    integer(c_int8_t) :: byte(token_bytes) = 0
  end type

  ! What many calls look like. gfortran 12 hands `handle` over by reference in the second procedure of a module that calls
  ! one function of such an interface: those that two procedures call have interfaces of their own.
  abstract interface
    integer(c_int) function of_handle(handle) bind(c)
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int) function of_rank(handle, rank) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: rank
    end function
    integer(c_int) function of_seconds(handle, seconds) bind(c)
      import
      type(c_ptr), value :: handle
      real(c_double), value :: seconds
    end function
    integer(c_int) function of_stream(handle, stream) bind(c)
      import
      type(c_ptr), value :: handle, stream
    end function
    integer(c_int) function gives_int(handle, number) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int), intent(inout) :: number
    end function
    integer(c_int) function gives_long(handle, number) bind(c)
      import
      type(c_ptr), value :: handle
      integer(c_int64_t), intent(inout) :: number
    end function
    integer(c_int) function gives_address(handle, address) bind(c)
      import
      type(c_ptr), value :: handle
      type(c_ptr), intent(inout) :: address
    end function
  end interface

  procedure(of_handle), bind(c, name='tca_world_free') :: c_world_free
  procedure(of_handle), bind(c, name='tca_world_barrier') :: c_world_barrier
  procedure(of_handle), bind(c, name='tca_world_progress') :: c_world_progress
  procedure(of_handle), bind(c, name='tca_world_check') :: c_world_check
  procedure(gives_int), bind(c, name='tca_world_rank') :: c_world_rank
  procedure(gives_int), bind(c, name='tca_world_size') :: c_world_size
  procedure(gives_int), bind(c, name='tca_world_ranks_on_device') :: c_world_ranks_on_device
  procedure(gives_int), bind(c, name='tca_world_ranks_share_devices') :: c_world_ranks_share_devices
  procedure(gives_address), bind(c, name='tca_world_describe') :: c_world_describe
  procedure(gives_address), bind(c, name='tca_world_device_name') :: c_world_device_name
  procedure(of_handle), bind(c, name='tca_window_free') :: c_window_free
  procedure(of_handle), bind(c, name='tca_chain_free') :: c_chain_free
  procedure(of_handle), bind(c, name='tca_chain_commit') :: c_chain_commit
  procedure(of_handle), bind(c, name='tca_chain_start') :: c_chain_start
  procedure(of_handle), bind(c, name='tca_chain_test') :: c_chain_test
  procedure(of_handle), bind(c, name='tca_chain_wait') :: c_chain_wait
  procedure(of_handle), bind(c, name='tca_chain_run') :: c_chain_run
  procedure(of_seconds), bind(c, name='tca_chain_wait_for') :: c_chain_wait_for
  procedure(of_stream), bind(c, name='tca_chain_start_on') :: c_chain_start_on
  procedure(of_stream), bind(c, name='tca_chain_wait_on') :: c_chain_wait_on
  procedure(of_stream), bind(c, name='tca_chain_run_on') :: c_chain_run_on
  procedure(of_rank), bind(c, name='tca_chain_signal') :: c_chain_signal
  procedure(of_rank), bind(c, name='tca_chain_expect') :: c_chain_expect
  procedure(gives_address), bind(c, name='tca_chain_explain') :: c_chain_explain
  procedure(gives_address), bind(c, name='tca_chain_name') :: c_chain_name
  procedure(of_handle), bind(c, name='tca_halo_free') :: c_halo_free
  procedure(of_handle), bind(c, name='tca_halo_commit') :: c_halo_commit
  procedure(of_handle), bind(c, name='tca_halo_start') :: c_halo_start
  procedure(of_handle), bind(c, name='tca_halo_test') :: c_halo_test
  procedure(of_handle), bind(c, name='tca_halo_wait') :: c_halo_wait
  procedure(of_handle), bind(c, name='tca_halo_run') :: c_halo_run
  procedure(of_seconds), bind(c, name='tca_halo_wait_for') :: c_halo_wait_for
  procedure(of_stream), bind(c, name='tca_halo_start_on') :: c_halo_start_on
  procedure(of_stream), bind(c, name='tca_halo_wait_on') :: c_halo_wait_on
  procedure(of_stream), bind(c, name='tca_halo_run_on') :: c_halo_run_on
  procedure(gives_long), bind(c, name='tca_halo_elements') :: c_halo_elements
  procedure(gives_address), bind(c, name='tca_halo_explain') :: c_halo_explain
  procedure(of_handle), bind(c, name='tca_collective_start') :: c_collective_start
  procedure(of_handle), bind(c, name='tca_collective_test') :: c_collective_test
  procedure(of_handle), bind(c, name='tca_collective_wait') :: c_collective_wait
  procedure(of_handle), bind(c, name='tca_collective_run') :: c_collective_run
  procedure(of_seconds), bind(c, name='tca_collective_wait_for') :: c_collective_wait_for
  procedure(of_stream), bind(c, name='tca_collective_start_on') :: c_collective_start_on
  procedure(of_stream), bind(c, name='tca_collective_wait_on') :: c_collective_wait_on
  procedure(of_stream), bind(c, name='tca_collective_run_on') :: c_collective_run_on
  procedure(gives_address), bind(c, name='tca_collective_from') :: c_collective_from
  procedure(gives_address), bind(c, name='tca_collective_to') :: c_collective_to
  procedure(gives_address), bind(c, name='tca_collective_algorithm') :: c_collective_algorithm
  procedure(gives_address), bind(c, name='tca_collective_explain') :: c_collective_explain
  procedure(of_handle), bind(c, name='tca_fold_free') :: c_fold_free
  procedure(of_handle), bind(c, name='tca_fold_commit') :: c_fold_commit
  procedure(of_handle), bind(c, name='tca_fold_start') :: c_fold_start
  procedure(of_handle), bind(c, name='tca_fold_test') :: c_fold_test
  procedure(of_handle), bind(c, name='tca_fold_wait') :: c_fold_wait
  procedure(of_handle), bind(c, name='tca_fold_run') :: c_fold_run
  procedure(of_seconds), bind(c, name='tca_fold_wait_for') :: c_fold_wait_for
  procedure(of_stream), bind(c, name='tca_fold_start_on') :: c_fold_start_on
  procedure(of_stream), bind(c, name='tca_fold_wait_on') :: c_fold_wait_on
  procedure(of_stream), bind(c, name='tca_fold_run_on') :: c_fold_run_on
  procedure(gives_address), bind(c, name='tca_fold_explain') :: c_fold_explain
  procedure(of_handle), bind(c, name='tca_counted_put_free') :: c_counted_put_free
  procedure(of_handle), bind(c, name='tca_counted_arrival_free') :: c_counted_arrival_free
  procedure(of_handle), bind(c, name='tca_rounds_free') :: c_rounds_free
  procedure(of_handle), bind(c, name='tca_region_free') :: c_region_free
  procedure(of_handle), bind(c, name='tca_post_free') :: c_post_free
  procedure(of_handle), bind(c, name='tca_post_clear') :: c_post_clear
  procedure(of_handle), bind(c, name='tca_post_start') :: c_post_start
  procedure(of_handle), bind(c, name='tca_post_test') :: c_post_test
  procedure(of_handle), bind(c, name='tca_post_wait') :: c_post_wait
  procedure(of_handle), bind(c, name='tca_post_run') :: c_post_run
  procedure(of_handle), bind(c, name='tca_post_flush') :: c_post_flush
  procedure(of_handle), bind(c, name='tca_notices_free') :: c_notices_free
  procedure(of_seconds), bind(c, name='tca_post_wait_for') :: c_post_wait_for
  procedure(of_seconds), bind(c, name='tca_post_flush_for') :: c_post_flush_for
  procedure(gives_int), bind(c, name='tca_counted_put_rank') :: c_counted_put_rank
  procedure(gives_int), bind(c, name='tca_counted_arrival_rank') :: c_counted_arrival_rank
  procedure(gives_long), bind(c, name='tca_counted_put_length') :: c_counted_put_length
  procedure(gives_long), bind(c, name='tca_counted_put_capacity') :: c_counted_put_capacity
  procedure(gives_long), bind(c, name='tca_counted_arrival_count') :: c_counted_arrival_count
  procedure(gives_long), bind(c, name='tca_counted_arrival_capacity') :: c_counted_arrival_capacity
  procedure(gives_address), bind(c, name='tca_region_data') :: c_region_data

  interface
    integer(c_int) function c_window_data(window, address) bind(c, name='tca_window_data')
      import
      type(c_ptr), value :: window
      type(c_ptr), intent(inout) :: address
    end function
    integer(c_int) function c_window_elements(window, elements) bind(c, name='tca_window_elements')
      import
      type(c_ptr), value :: window
      integer(c_int64_t), intent(inout) :: elements
    end function
    integer(c_int) function c_collective_free(collective) bind(c, name='tca_collective_free')
      import
      type(c_ptr), value :: collective
    end function
    pure type(c_ptr) function c_status_name(status) bind(c, name='tca_status_name')
      import
      integer(c_int), value :: status
    end function
    pure type(c_ptr) function c_last_message() bind(c, name='tca_last_message')
      import
    end function
    integer(c_int) function c_last_error(error) bind(c, name='tca_last_error')
      import
      type(c_error), intent(inout) :: error
    end function
    integer(c_int) function c_fail(status, message) bind(c, name='tca_fail')
      import
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: message(*)
    end function
    pure type(c_ptr) function c_library_version() bind(c, name='tca_library_version')
      import
    end function
    pure integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function

    integer(c_int) function c_world_init(options, world) bind(c, name='tca_world_init')
      import
      type(c_world_options), intent(in) :: options
      type(c_ptr), intent(inout) :: world
    end function
    integer(c_int) function c_world_join(rank, size, key, options, world) bind(c, name='tca_world_join')
      import
      integer(c_int), value :: rank, size
      character(kind=c_char), intent(in) :: key(*)
      type(c_world_options), intent(in) :: options
      type(c_ptr), intent(inout) :: world
    end function
    integer(c_int) function c_world_run_threads(ranks, body, context, options) &
        bind(c, name='tca_world_run_threads')
      import
      integer(c_int), value :: ranks
      type(c_funptr), value :: body
      type(c_ptr), value :: context
      type(c_world_options), intent(in) :: options
    end function
    integer(c_int) function c_world_from_mpi_handle(comm, bytes, mpi, options, world) &
        bind(c, name='tca_world_from_mpi_handle')
      import
      type(c_ptr), value :: comm
      integer(c_size_t), value :: bytes
      character(kind=c_char), intent(in) :: mpi(*)
      type(c_world_options), intent(in) :: options
      type(c_ptr), intent(inout) :: world
    end function
    integer(c_int) function c_world_group(world, ranks, count, group) bind(c, name='tca_world_group')
      import
      type(c_ptr), value :: world
      integer(c_int), intent(in) :: ranks(*)
      integer(c_int), value :: count
      type(c_ptr), intent(inout) :: group
    end function
    integer(c_int) function c_world_split(world, color, key, group) bind(c, name='tca_world_split')
      import
      type(c_ptr), value :: world
      integer(c_int), value :: color, key
      type(c_ptr), intent(inout) :: group
    end function
    integer(c_int) function c_world_sub_clusters(world, of_ranks) bind(c, name='tca_world_sub_clusters')
      import
      type(c_ptr), value :: world
      integer(c_int), intent(inout) :: of_ranks(*)
    end function
    integer(c_int) function c_world_all_gather(world, mine, bytes, all) bind(c, name='tca_world_all_gather')
      import
      type(c_ptr), value :: world, mine, all
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function c_world_compute(world, bytes, flops) bind(c, name='tca_world_compute')
      import
      type(c_ptr), value :: world
      real(c_double), value :: bytes, flops
    end function
    integer(c_int) function c_world_now(world, seconds) bind(c, name='tca_world_now')
      import
      type(c_ptr), value :: world
      real(c_double), intent(inout) :: seconds
    end function
    integer(c_int) function c_world_write_trace(world, path) bind(c, name='tca_world_write_trace')
      import
      type(c_ptr), value :: world
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_world_trace_span(world, name, begin, end) bind(c, name='tca_world_trace_span')
      import
      type(c_ptr), value :: world
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: begin, end
    end function

    integer(c_int) function c_window_create(world, elements, element_bytes, name, window) &
        bind(c, name='tca_window_create')
      import
      type(c_ptr), value :: world
      integer(c_int64_t), value :: elements
      integer(c_size_t), value :: element_bytes
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: window
    end function
    integer(c_int) function c_window_of_memory(world, memory, elements, element_bytes, name, window) &
        bind(c, name='tca_window_of_memory')
      import
      type(c_ptr), value :: world, memory
      integer(c_int64_t), value :: elements
      integer(c_size_t), value :: element_bytes
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: window
    end function
    integer(c_int) function c_window_view(group, window, view) bind(c, name='tca_window_view')
      import
      type(c_ptr), value :: group, window
      type(c_ptr), intent(inout) :: view
    end function
    integer(c_int) function c_window_element_bytes(window, bytes) bind(c, name='tca_window_element_bytes')
      import
      type(c_ptr), value :: window
      integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function c_window_elements_on(window, rank, elements) &
        bind(c, name='tca_window_elements_on')
      import
      type(c_ptr), value :: window
      integer(c_int), value :: rank
      integer(c_int64_t), intent(inout) :: elements
    end function
    integer(c_int) function c_window_number(window, number) bind(c, name='tca_window_number')
      import
      type(c_ptr), value :: window
      integer(c_int32_t), intent(inout) :: number
    end function
    integer(c_int) function c_window_read(window, offset, elements, into) bind(c, name='tca_window_read')
      import
      type(c_ptr), value :: window, into
      integer(c_int64_t), value :: offset, elements
    end function
    integer(c_int) function c_window_write(window, offset, elements, from) bind(c, name='tca_window_write')
      import
      type(c_ptr), value :: window, from
      integer(c_int64_t), value :: offset, elements
    end function
    integer(c_int) function c_put_now(to, element) bind(c, name='tca_put_now')
      import
      type(tca_remote), value :: to
      type(c_ptr), value :: element
    end function

    integer(c_int) function c_layout_block(count, layout) bind(c, name='tca_layout_block')
      import
      integer(c_int64_t), value :: count
      type(tca_layout), intent(inout) :: layout
    end function
    integer(c_int) function c_layout_block_stride(rows, block, pitch, layout) &
        bind(c, name='tca_layout_block_stride')
      import
      integer(c_int64_t), value :: rows, block, pitch
      type(tca_layout), intent(inout) :: layout
    end function
    integer(c_int) function c_layout_stride(count, pitch, layout) bind(c, name='tca_layout_stride')
      import
      integer(c_int64_t), value :: count, pitch
      type(tca_layout), intent(inout) :: layout
    end function
    integer(c_int) function c_layout_subarray(dims, extents, start, shape, layout) &
        bind(c, name='tca_layout_subarray')
      import
      integer(c_int), value :: dims
      integer(c_int64_t), intent(in) :: extents(*), start(*), shape(*)
      type(tca_layout), intent(inout) :: layout
    end function

    integer(c_int) function c_chain_create(world, name, options, chain) bind(c, name='tca_chain_create')
      import
      type(c_ptr), value :: world
      character(kind=c_char), intent(in) :: name(*)
      type(c_chain_options), intent(in) :: options
      type(c_ptr), intent(inout) :: chain
    end function
    integer(c_int) function c_chain_put(chain, to, to_layout, from, from_layout) &
        bind(c, name='tca_chain_put')
      import
      type(c_ptr), value :: chain
      type(tca_remote), value :: to
      type(tca_layout), intent(in) :: to_layout, from_layout
      type(tca_local), value :: from
    end function

    integer(c_int) function c_grid_create(ranks, dims, shape, periodic, extents, grid) &
        bind(c, name='tca_grid_create')
      import
      integer(c_int), value :: ranks, dims
      integer(c_int), intent(in) :: shape(*), periodic(*)
      type(c_ptr), value :: extents
      type(c_grid), intent(inout) :: grid
    end function
    integer(c_int) function c_grid_choose(ranks, dims, extents, periodic, grid) &
        bind(c, name='tca_grid_choose')
      import
      integer(c_int), value :: ranks, dims
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int), intent(in) :: periodic(*)
      type(c_grid), intent(inout) :: grid
    end function
    integer(c_int) function c_grid_coordinates(grid, rank, coordinates) &
        bind(c, name='tca_grid_coordinates')
      import
      type(c_grid), intent(in) :: grid
      integer(c_int), value :: rank
      integer(c_int), intent(inout) :: coordinates(*)
    end function
    integer(c_int) function c_grid_rank_at(grid, coordinates, rank) bind(c, name='tca_grid_rank_at')
      import
      type(c_grid), intent(in) :: grid
      integer(c_int), intent(in) :: coordinates(*)
      integer(c_int), intent(inout) :: rank
    end function
    integer(c_int) function c_grid_neighbour(grid, rank, step, neighbour) bind(c, name='tca_grid_neighbour')
      import
      type(c_grid), intent(in) :: grid
      integer(c_int), value :: rank
      integer(c_int), intent(in) :: step(*)
      integer(c_int), intent(inout) :: neighbour
    end function
    integer(c_int) function c_grid_part(grid, rank, dim, whole, begin, size) bind(c, name='tca_grid_part')
      import
      type(c_grid), intent(in) :: grid
      integer(c_int), value :: rank, dim
      integer(c_int64_t), value :: whole
      integer(c_int64_t), intent(inout) :: begin, size
    end function

    integer(c_int) function c_halo_create(world, name, grid, interior, options, halo) &
        bind(c, name='tca_halo_create')
      import
      type(c_ptr), value :: world
      character(kind=c_char), intent(in) :: name(*)
      type(c_grid), intent(in) :: grid
      integer(c_int64_t), intent(in) :: interior(*)
      type(c_halo_options), intent(in) :: options
      type(c_ptr), intent(inout) :: halo
    end function
    integer(c_int) function c_halo_extents(halo, extents) bind(c, name='tca_halo_extents')
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(inout) :: extents(*)
    end function
    integer(c_int) function c_halo_index(halo, cell, offset) bind(c, name='tca_halo_index')
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(in) :: cell(*)
      integer(c_int64_t), intent(inout) :: offset
    end function
    integer(c_int) function c_halo_add(halo, window, offset) bind(c, name='tca_halo_add')
      import
      type(c_ptr), value :: halo, window
      integer(c_int64_t), value :: offset
    end function

    integer(c_int) function c_fold_create(world, name, halo, options, fold) bind(c, name='tca_fold_create')
      import
      type(c_ptr), value :: world
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: halo
      type(c_chain_options), intent(in) :: options
      type(c_ptr), intent(inout) :: fold
    end function
    integer(c_int) function c_fold_add(fold, window, offset, type, operation) bind(c, name='tca_fold_add')
      import
      type(c_ptr), value :: fold, window
      integer(c_int64_t), value :: offset
      integer(c_int), value :: type, operation
    end function

    integer(c_int) function c_collective_create(world, request, from, to, collective) &
        bind(c, name='tca_collective_create')
      import
      type(c_ptr), value :: world, from, to
      type(c_collective_request), intent(in) :: request
      type(c_ptr), intent(inout) :: collective
    end function

    integer(c_int) function c_chain_put_counted(chain, to, to_layout, from, from_layout, put) &
        bind(c, name='tca_chain_put_counted')
      import
      type(c_ptr), value :: chain
      type(tca_remote), value :: to
      type(tca_layout), intent(in) :: to_layout, from_layout
      type(tca_local), value :: from
      type(c_ptr), intent(inout) :: put
    end function
    integer(c_int) function c_chain_expect_counted(chain, rank, arrival) bind(c, name='tca_chain_expect_counted')
      import
      type(c_ptr), value :: chain
      integer(c_int), value :: rank
      type(c_ptr), intent(inout) :: arrival
    end function
    integer(c_int) function c_counted_put_set(put, elements) bind(c, name='tca_counted_put_set')
      import
      type(c_ptr), value :: put
      integer(c_int64_t), value :: elements
    end function
    integer(c_int) function c_halo_add_counted(halo, window, offset) bind(c, name='tca_halo_add_counted')
      import
      type(c_ptr), value :: halo, window
      integer(c_int64_t), value :: offset
    end function
    integer(c_int) function c_halo_to(halo, field, side, put) bind(c, name='tca_halo_to')
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: field
      integer(c_int), intent(in) :: side(*)
      type(c_ptr), intent(inout) :: put
    end function
    integer(c_int) function c_halo_from(halo, field, side, arrival) bind(c, name='tca_halo_from')
      import
      type(c_ptr), value :: halo
      integer(c_int), value :: field
      integer(c_int), intent(in) :: side(*)
      type(c_ptr), intent(inout) :: arrival
    end function
    integer(c_int) function c_rounds_of_chain(world, name, chain, rounds) bind(c, name='tca_rounds_of_chain')
      import
      type(c_ptr), value :: world, chain
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: rounds
    end function
    integer(c_int) function c_rounds_of_halo(world, name, halo, rounds) bind(c, name='tca_rounds_of_halo')
      import
      type(c_ptr), value :: world, halo
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: rounds
    end function
    integer(c_int) function c_rounds_run(rounds, load, unload, context, count) bind(c, name='tca_rounds_run')
      import
      type(c_ptr), value :: rounds, context
      type(c_funptr), value :: load, unload
      integer(c_int), intent(inout) :: count
    end function
    integer(c_int) function c_region_create(world, bytes, region) bind(c, name='tca_region_create')
      import
      type(c_ptr), value :: world
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(inout) :: region
    end function
    integer(c_int) function c_region_of_memory(world, memory, bytes, region) bind(c, name='tca_region_of_memory')
      import
      type(c_ptr), value :: world, memory
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(inout) :: region
    end function
    integer(c_int) function c_region_bytes(region, bytes) bind(c, name='tca_region_bytes')
      import
      type(c_ptr), value :: region
      integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function c_region_token(region, token) bind(c, name='tca_region_token')
      import
      type(c_ptr), value :: region
      type(tca_token), intent(inout) :: token
    end function
    integer(c_int) function c_token_rank(token, rank) bind(c, name='tca_token_rank')
      import
      type(tca_token), intent(in) :: token
      integer(c_int), intent(inout) :: rank
    end function
    integer(c_int) function c_token_bytes(token, bytes) bind(c, name='tca_token_bytes')
      import
      type(tca_token), intent(in) :: token
      integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function c_post_create(world, name, post) bind(c, name='tca_post_create')
      import
      type(c_ptr), value :: world
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: post
    end function
    integer(c_int) function c_post_put(post, to, at, to_layout, from, elements, from_layout, element_bytes) &
        bind(c, name='tca_post_put')
      import
      type(c_ptr), value :: post, from
      type(tca_token), intent(in) :: to
      integer(c_int64_t), value :: at, elements
      type(tca_layout), intent(in) :: to_layout, from_layout
      integer(c_size_t), value :: element_bytes
    end function
    integer(c_int) function c_post_notify(post, rank, slot, tag) bind(c, name='tca_post_notify')
      import
      type(c_ptr), value :: post
      integer(c_int), value :: rank, slot
      integer(c_int32_t), value :: tag
    end function
    integer(c_int) function c_notices_create(world, notices) bind(c, name='tca_notices_create')
      import
      type(c_ptr), value :: world
      type(c_ptr), intent(inout) :: notices
    end function
    integer(c_int) function c_notices_test(notices, source, slot, tag) bind(c, name='tca_notices_test')
      import
      type(c_ptr), value :: notices
      integer(c_int), value :: source, slot
      integer(c_int32_t), value :: tag
    end function
    integer(c_int) function c_notices_wait(notices, source, slot, tag) bind(c, name='tca_notices_wait')
      import
      type(c_ptr), value :: notices
      integer(c_int), value :: source, slot
      integer(c_int32_t), value :: tag
    end function
    integer(c_int) function c_notices_wait_for(notices, source, slot, tag, seconds, already) &
        bind(c, name='tca_notices_wait_for')
      import
      type(c_ptr), value :: notices
      integer(c_int), value :: source, slot
      integer(c_int32_t), value :: tag
      real(c_double), value :: seconds, already
    end function
    integer(c_int) function c_notices_test_any(notices, source, slot, tag) bind(c, name='tca_notices_test_any')
      import
      type(c_ptr), value :: notices
      integer(c_int), value :: source, slot
      integer(c_int32_t), intent(inout) :: tag
    end function
  end interface
end module
