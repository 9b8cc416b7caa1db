// The compiled kernels of one instruction set, as a table of plain functions: what the
// interpreter's loops call.
//
// The same sources are compiled once per instruction set (isa_kernels.cpp); all sets return the
// same bits.
#pragma once

#include "composit/ir/dtype.h"
#include "composit/ir/kernel/kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::interpreter {

// out[i] = operation(a[i], b[i], c[i]) for i < n. `out` may be the same memory as an operand,
// element for element.
using VectorKernel = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);

struct NamedKernel {
    const char* symbol;  // of a row's specialisation, or `operation_symbol`
    VectorKernel run;
};

// Element (r, c) at r * row + c * column, in elements.
struct Strides2 {
    int64_t row = 0, column = 0;
};
using CopyKernel = void (*)(const void* from, Strides2 read, void* to, Strides2 write, int64_t rows,
                            int64_t columns);

// Reductions with one combiner over one dtype. States are raw memory, aligned to 64 bytes.
struct ReduceKernels {
    int64_t row_state_bytes, column_state_bytes;
    int64_t strip;  // most columns in a column state
    // Whole rows: row r of n elements from x + r * stride, result to out[r].
    void (*rows)(const void* x, int64_t rows, int64_t stride, int64_t n, void* out);
    void (*row_start)(void* state);
    void (*row_add)(void* state, const void* x, int64_t n);
    void (*row_finish)(void* state, void* out);
    // The result of a row from those of its blocks of 4096, which it overwrites; null for
    // positions.
    void (*combine_blocks)(void* blocks, int64_t count, void* out);
    void (*columns_start)(void* state, int64_t width);
    void (*columns_add)(void* state, const void* x, int64_t rows, int64_t stride);
    void (*columns_finish)(void* state, void* out);
};

// A running combination: see prelude/scan.h.
struct ScanKernels {
    void (*row)(const void* x, int64_t n, void* carry, bool is_first, void* out, int64_t stride);
    void (*columns)(const void* x, int64_t width, void* carry, bool is_first, void* out);
};

struct LoopNest {
    int rank;
    const int64_t* extents;
};

struct ContractArguments {  // see prelude/contract.h and prelude/contract_bytes.h
    const void* left;
    const void* right;
    void* output;
    LoopNest batch, rows, columns, depth;
    const int64_t *left_batch, *left_rows, *left_depth;
    const int64_t *right_batch, *right_depth, *right_columns;
    const int64_t *output_batch, *output_rows, *output_columns;
    bool left_is_packed = false, right_is_packed = false;
};
struct ContractRange {
    int64_t batch_begin, batch_end, row_begin, row_end, column_begin, column_end;
};
struct PackArguments {  // see prelude/contract_pack.h
    const void* from;
    void* to;
    LoopNest across, depth;
    const int64_t *across_strides, *depth_strides;
    bool is_left;
};
struct ContractKernel {
    int64_t scratch_bytes;
    int64_t tile_rows, tile_columns;
    void (*run)(const ContractArguments& arguments, const ContractRange& range, void* scratch);
    // See prelude/contract_pack.h; null: no operand is ever packed.
    int64_t (*panel_width)(bool is_left, int64_t remaining);
    // Rows or columns [begin, end), multiples of packed_together or all; null as well.
    void (*pack)(const PackArguments& arguments, int64_t begin, int64_t end);
    int64_t packed_together;
};

struct IndexArguments {  // see prelude/indices.h
    int count;
    const int64_t* const* indices;
    const int64_t* const* strides;
    const int64_t* axis_strides;
    const int64_t* lengths;
};
struct BadIndex {
    int64_t outer;  // -1: none
    int axis;
    int64_t index;
};
struct MoveArguments {  // of a gather or scatter; strides of `data` over inner, of `other` over
                        // both
    const void* from;
    void* to;
    LoopNest outer, inner;
    IndexArguments axes;
    const int64_t* data_inner;
    const int64_t* other_outer;
    const int64_t* other_inner;
};
using MoveKernel = BadIndex (*)(const MoveArguments& arguments, int64_t begin, int64_t end);

struct FoldArguments {  // see prelude/fold.h
    const void* input;
    void* output;
    LoopNest outer, positions, counts, window;
    const int64_t *steps, *dilations;
    const int64_t *input_outer, *input_counts, *input_window;
    const int64_t *output_outer, *output_positions;
    int64_t run;
};
using FoldKernel = void (*)(const FoldArguments& arguments, int64_t begin, int64_t end);

struct SortArguments {  // see prelude/sort.h
    const void* input;
    void* output;
    void* spare;
    LoopNest outer;
    const int64_t *input_outer, *output_outer, *spare_outer;
    int64_t length, stride;
    bool (*goes_on)();  // asked between pieces; it may throw
};
using SortKernel = void (*)(const SortArguments& arguments, int64_t begin, int64_t end);

struct SearchArguments {  // see prelude/search.h
    const void* sorted;
    const void* values;
    int64_t* output;
    LoopNest outer;
    const int64_t *sorted_outer, *values_outer, *output_outer;
    int64_t length, stride;
    bool is_right;
};
using SearchKernel = void (*)(const SearchArguments& arguments, int64_t begin, int64_t end);

// Entries are null where a dtype or combiner has no kernel.
struct KernelSet {
    const char* name;  // "baseline", "avx2", "avx512"
    const NamedKernel* named;
    int64_t named_count;
    CopyKernel copy[5];  // by the logarithm of the element size: 1, 2, 4, 8, 16 bytes
    const ReduceKernels* (*reduce)(ir::kernel::Combiner combiner, ir::DType dtype);
    const ReduceKernels* count;  // sums of bool as int64
    const ScanKernels* (*scan)(ir::kernel::Combiner combiner, ir::DType dtype);
    const ContractKernel* (*contract)(ir::DType dtype);
    const ContractKernel* (*contract_bytes)(ir::DType left, ir::DType right);
    MoveKernel gather[5];
    MoveKernel (*scatter)(bool add, ir::DType dtype);
    FoldKernel (*fold)(ir::DType dtype);
    SortKernel (*sort)(ir::DType dtype, bool gives_values);
    SearchKernel (*search)(ir::DType dtype);
    int64_t vector_bytes;
    const void* products;  // a ReadyProducts of prelude/contract_products.h, for compiled code

    VectorKernel find(const std::string& symbol) const;  // null when there is none
};

// The kernel name of a primitive operation: "op_add_float32_float32", with the result's dtype
// appended for cast and bitcast. `lookup` takes the table as its second operand.
std::string operation_symbol(ir::scalar::Op op, const std::vector<ir::DType>& operands,
                             ir::DType result);

// The set that the environment variable COMPOSIT_ISA names, else the best that this CPU can run.
// Chosen once.
const KernelSet& kernel_set();
// The sets that this CPU can run, best first.
std::vector<const KernelSet*> usable_kernel_sets();

// Index into KernelSet's arrays by element size.
int size_class(ir::DType dtype);

}  // namespace composit::interpreter
