// What nodes made on this thread are stamped with: see LocationScope and ReportingScope.
#pragma once

#include "composit/ir/node.h"

namespace composit::ir {

struct Stamp {
    Interned location = nullptr;
    const ErrorHandling* error_handling = nullptr;
    Interned reported_as = nullptr;
};

// This thread's, all of it at once: each look at a thread's variable is a call.
const Stamp& current_stamp();

}  // namespace composit::ir
