// xmp.h as the runtime sees it, which defines its functions and is no translated program.
#pragma once

#ifndef _XCALABLEMP
#define _XCALABLEMP 201701
#endif
#include "tca/xacc/xmp.h"
