// What tca_last_message and tca_last_error say.
#pragma once

#include <string>

#include "tca/error.hpp"
#include "tca/tca.h"

namespace tca::c {

struct LastError {
  tca_status status = TCA_OK;
  std::string message = {};
  ErrorFields fields = {};
};

// That of this thread.
LastError& last_error();

}  // namespace tca::c
