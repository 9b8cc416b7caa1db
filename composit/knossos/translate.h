// A kernel's text as a procedure: statements over typed variables.
//
// Types come from the annotations of the arguments and from what is assigned. What a translation
// finds out too late, it begins again with.
#pragma once

#include "composit/ir/procedure/procedure.h"
#include "composit/knossos/outside.h"

namespace composit::knossos {

struct Translated {
    ir::procedure::Procedure procedure;
    Value result;  // a value that is returned, for its structure
};

// The procedure in one floating dtype. Refusal, with the line, for what kernels do not hold;
// numbers that are known are computed by `known`.
Translated translate(const SourceRef& source, DType dtype, const Outside& outside,
                     const KnownFunction& known = known_in_machine_numbers);

}  // namespace composit::knossos
