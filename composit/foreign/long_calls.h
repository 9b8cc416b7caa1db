// Calls of LAPACK that take long, and can be interrupted all the same.
#pragma once

#include "composit/runtime/foreign.h"

namespace composit::foreign {

// Whether no operand and no result has an element: there may be any number of slices then, which
// take time and no memory.
bool has_no_elements(const runtime::ForeignCall& call);

// Runs `function`, of matrices, unless none has an element. Where it may take long, on copies of
// its own, so that an interrupt is answered while LAPACK, which nothing stops, goes on with these.
void run_answering(runtime::ForeignFunction function, const runtime::ForeignCall& call);

// `function` as one to register.
template <runtime::ForeignFunction function>
void answering(const runtime::ForeignCall& call) {
    run_answering(function, call);
}

}  // namespace composit::foreign
