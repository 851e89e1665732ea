// The header of C in C++, twice: it must be guarded.
#include "tca/tca.h"

tca_status (*const call)(tca_chain*) = tca_chain_start;
tca_world_options world_options = TCA_WORLD_OPTIONS_INIT;
tca_chain_options chain_options = TCA_CHAIN_OPTIONS_INIT;
tca_halo_options halo_options = TCA_HALO_OPTIONS_INIT;
tca_collective_request request = TCA_COLLECTIVE_REQUEST_INIT;
tca_error error = TCA_ERROR_INIT;
