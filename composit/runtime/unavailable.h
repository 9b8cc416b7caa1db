// Unavailable: a back end cannot compile on this machine, though nothing is wrong with the program.
#pragma once

#include "composit/base/error.h"

namespace composit::runtime {

// Thrown by Backend::compile when what it needs is missing or broken here: no compiler, no device,
// no disk space. `execute` then warns once with this text and runs the program on the interpreter.
class Unavailable : public Error {
  public:
    using Error::Error;
};

}  // namespace composit::runtime
