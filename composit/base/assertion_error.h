// What Python's `assert` raises.
#pragma once

#include "composit/base/error.h"

namespace composit {

class AssertionError : public Error {
    using Error::Error;
};

}  // namespace composit
