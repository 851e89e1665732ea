#include "tca/version.hpp"

namespace tca {

const char* library_version() {
#define TCA_TEXT_(x) #x
#define TCA_TEXT(x) TCA_TEXT_(x)
  return TCA_TEXT(TCA_VERSION_MAJOR) "." TCA_TEXT(TCA_VERSION_MINOR) "." TCA_TEXT(TCA_VERSION_PATCH);
#undef TCA_TEXT
#undef TCA_TEXT_
}

}  // namespace tca
