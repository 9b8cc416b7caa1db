// The order of sorts and searches: the smaller first, NaN last, of equals (0 and -0 are) the one
// that stands first.
#pragma once

#include "composit/backends/simt/kernel_text.h"

#include <functional>
#include <string>

namespace composit::simt {

using c_family::is_before;

// Rows that are sorted, as functions print them. Elements are positions, or the keys themselves.
struct SortedRows {
    int64_t rows = 1, length = 0;
    ir::DType dtype = ir::DType::int64;  // of the keys
    bool are_keys = false;               // elements
    // The key at `position` of `row`, and element `i` of `row` of the output, or of the spare
    // memory.
    std::function<std::string(FunctionText&, const std::string& row, const std::string& position)>
        key;
    std::function<std::string(FunctionText&, bool is_spare, bool is_written, const std::string& row,
                              const std::string& i)>
        element;
};

// Adds the launches that put the elements, in order, into the output: runs of a few in one thread
// each, then runs of twice the length, in which each element finds its place by halving.
void print_sort(KernelText& kernel, const SortedRows& sorted);

}  // namespace composit::simt
