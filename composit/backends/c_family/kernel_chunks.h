// Reading the elements of rows and columns in the chunks that the prelude's reductions and scans
// take.
#pragma once

#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/reduce_loops.h"

#include <string>
#include <vector>

namespace composit::c_family {

// Elements that one fused input map computes at a time: they stay in L1.
inline constexpr int64_t chunk_length = 1024;

// "for (int64_t r = 0; r < 5000; r += 1024)"; a loop that takes long asks whether it is to go on.
std::string chunk_header(const std::string& index, int64_t count);

// A value over the loops of a reduction or a scan.
struct ChunkedValue : ReduceLoops {
    ir::scalar::Expr value;
    std::string type;  // in which elements are combined
    ir::DType dtype() const { return value.dtype(); }

    // The only input when the value is that input as it is in memory, else null.
    const ir::kernel::Access* plain_input() const;
    int64_t ordered_count() const { return ir::element_count(ordered); }
    int64_t column_strip() const;  // prelude/reduce_columns.h
};

// The prelude's name of the operation: "Sum", or of the order that positions are found by.
std::string operation_of(ir::kernel::Combiner combiner);

// Prints the loops that put elements, in order, into `chunk[…]`.
// `kept` are texts of the kept loops' indices, `ordered` those of the ordered ones.
void print_fill(KernelText& writer, const ChunkedValue& value, const std::string& target,
                const std::vector<std::string>& headers, const std::vector<std::string>& kept,
                const std::vector<std::string>& ordered);

// "5000 - r < 1024 ? 5000 - r : 1024", or the plain number where it is always the same.
std::string piece_text(int64_t whole, const std::string& at, int64_t piece);

}  // namespace composit::c_family
