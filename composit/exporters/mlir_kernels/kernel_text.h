// Kernels, and functions of them, as modules of MLIR that say what the user wrote: functions of
// `func`, branches and loops of `scf`, numbers of `arith` and `math`, arrays of `memref`
// (docs/decisions/0069-kernels-as-mlir.md).
//
//   std::cout << mlir::kernel_text({relu3, procedure::vjp(relu3)});
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <string>
#include <vector>

namespace composit::mlir {

struct KernelTextOptions {
    std::string module;                   // its name; empty: that of the first procedure
    std::vector<std::string> names = {};  // of the functions; empty: those of the procedures
    // The user's line behind each operation, loc("model.py":12:0), in place of comments.
    bool locations = false;
};

// A module with a public function for each procedure, and private ones that they call. Values have
// the interpreter's bits: functions such as exp are written as composit's formulas, nothing is
// contracted, and no operation has flags of fast mathematics.
//
// A function's arguments are the procedure's in their order: numbers (f64, f32, i64, i1 …), and
// arrays as memrefs in row-major order, of static extents where these are numbers
// (memref<?x3xf64>). Integers that are extents of input arrays are no arguments: arrays tell them,
// and equal names stand for equal extents. Behind the inputs stand the output arrays, which the
// caller has made; results are numbers. Assertions are `cf.assert`. Arrays of the function's own
// are freed before it returns.
//
// NotSupported, naming the function, for complex numbers and floats of 16 bits; ValueError for no
// procedures, and names of another number than theirs.
[[nodiscard]] std::string kernel_text(const std::vector<ir::procedure::Procedure>& procedures,
                                      const KernelTextOptions& options = {});

// The same of families, a function and its derivatives each: those of float32 have `_float` behind
// their names.
[[nodiscard]] std::string kernel_text_of(
    const std::vector<std::vector<ir::procedure::Procedure>>& families, KernelTextOptions options);

}  // namespace composit::mlir
