// The kernel language: what is left after fusion. A Program lists kernels over numbered buffers.
//
// A kernel is a nest of loops over `extents`, loads through Access, a scalar body, and stores. The
// language is closed; back ends handle it with an exhaustive visit. The order of floating-point
// work is part of each kernel's meaning: see docs/semantics.md 3 and 4. No two kernels of a program
// that run one after the other need anything but the buffers they name, and a kernel never reads
// what it writes, except Scatter (see there), Map in place on equal accesses, and Repeat.
#pragma once

#include "composit/ir/constant_array.h"
#include "composit/ir/dtype.h"
#include "composit/ir/scalar/expr.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace composit::ir::kernel {

using Extents = std::vector<int64_t>;

// Element address for loop indices i: offset + sum of strides[d] * i[d], in elements of `dtype`.
// Stride 0 broadcasts, negative strides are allowed. The buffer `position` is not memory: its
// element *is* its address, as int64.
struct Access {
    static constexpr int position = -1;
    int buffer = position;
    DType dtype = DType::int64;
    int64_t offset = 0;
    std::vector<int64_t> strides = {};
};

// for each index: outputs[j][index] = values[j](inputs[0][index], inputs[1][index], …).
// values are expressions over argument(k) = the element of inputs[k]. Any order.
struct Map {
    static constexpr std::string_view kind = "Map";
    Extents extents;
    std::vector<Access> inputs;
    std::vector<scalar::Expr> values;
    std::vector<Access> outputs;
};

enum class Combiner : uint8_t { sum, product, maximum, minimum, any, all, argmax, argmin };
std::string_view name(Combiner combiner);
inline bool finds_position(Combiner combiner) {
    return combiner == Combiner::argmax || combiner == Combiner::argmin;
}

// for each kept index: output[kept] = combine over the reduced indices, flattened row-major, of
// value(inputs[k][kept, reduced]). Strides of inputs: kept dimensions first, then reduced ones. The
// element order of semantics.md 4: with element number e of n, block e / 4096, lane (e % 4096) %
// 32. Each lane combines its elements in order, starting from the first; absent lanes are skipped;
// lanes combine by halving (lane j with j + 16, then j + 8, …, lower lane on the left); blocks by
// pairs of neighbours (block 2i with 2i + 1, the odd one carried up), repeatedly. sum and product
// combine in the dtype of `value`, which is the output's. maximum and minimum propagate NaN as the
// rows of the same names do. any/all: bool. argmax/argmin: the position (int64) of the first
// extremum, the first NaN if there is one. Empty reductions: sum 0, product 1, any false, all true;
// others are refused before.
struct Reduce {
    static constexpr std::string_view kind = "Reduce";
    Extents kept;
    Extents reduced;
    std::vector<Access> inputs;
    scalar::Expr value;
    Combiner combiner = Combiner::sum;
    Access output;  // strides over kept
};

// Running combination along the last extent, from the left, one after the other: output[outer, j] =
// value[outer, 0] op … op value[outer, j].
struct Scan {
    static constexpr std::string_view kind = "Scan";
    Extents extents;
    std::vector<Access> inputs;
    scalar::Expr value;
    Combiner combiner = Combiner::sum;  // sum, product, maximum, minimum
    Access output;
};

// Positions in the order of the values along the last extent: output[outer, j] is where in
// input[outer, ·] the one stands that j others come before. The smaller comes first, of equals (0
// and -0 are) that of the smaller position; NaN come last. Rows of `output` and of `spare`, which
// is of no account afterwards, are consecutive. With `gives_values` the elements of those
// positions, bit for bit, in place of the positions.
struct Sort {
    static constexpr std::string_view kind = "Sort";
    Extents extents;
    Access input;
    Access output, spare;  // int64, or of the input's dtype
    bool gives_values = false;
};

// How many elements of a row in ascending order come before each value; with `is_right` those equal
// to it, too. NaN come last. Of any row, what halving finds: while low < high, with middle = (low +
// high) / 2, which rounds down, low becomes middle + 1 where row[middle] does, else high becomes
// middle; from 0 and the row's length. The result is low.
struct Search {
    static constexpr std::string_view kind = "Search";
    Extents extents;
    Extents row;            // one loop
    Access sorted;          // strides over extents + row
    Access values, output;  // output: int64
    bool is_right = false;
};

// What becomes of each finished sum of a contraction: values over argument(0) = the sum and
// argument(1 + k) = the element of inputs[k], strides over batch + rows + columns. No values: the
// sums stay as they are.
struct Finish {
    std::vector<Access> inputs;
    std::vector<scalar::Expr> values;  // the first one goes to the contraction's output
    std::vector<Access> outputs;       // those of the others
};

// out[b, m, n] = sum over k of left[b, m, k] * right[b, k, n]; b, m, n and k are each several
// loops, flattened row-major. Floats: k is cut into blocks of 256; within a block one chain of fma
// from +0 in k's order; block results are added in order (the first block's result is not added to
// anything). Integers wrap; bool is or of ands. No depth: zeros. Strides: left over batch + rows +
// depth, right over batch + depth + columns, output over batch + rows + columns.
// An operand that `is_packed` was copied by Pack, with the same loops; its strides are those
// before. With a `finish`, the meaning is that of this contraction and then a map of its values,
// the first of which is written in place: the sums may be formed in `output`, so a finish reads
// neither that nor its other outputs.
struct Contract {
    static constexpr std::string_view kind = "Contract";
    Extents batch, rows, columns, depth;
    Access left, right, output;
    bool left_is_packed = false, right_is_packed = false;
    Finish finish = {};
};

// output[b, m, n] = sum over k of left[b, m, k] * right[b, k, n], of bytes: each operand is int8 or
// uint8, the products and their sums are int32, and wrap. Strides as those of a Contract. An
// operand that `is_packed` was copied by Pack: in panels of 12 rows or 32 columns, of which four
// neighbours along the depth follow one another. With a `finish`, `output` is that of the first
// value, of any dtype, and the depth is at most most_depth_at_once.
inline constexpr int64_t most_depth_at_once = 16384;
struct ByteContract {
    static constexpr std::string_view kind = "ByteContract";
    static constexpr int64_t panel_rows = 12, panel_columns = 32, together = 4;
    Extents batch, rows, columns, depth;
    Access left, right, output;
    bool left_is_packed = false, right_is_packed = false;
    Finish finish = {};
};

// output[m, n] = sum over k of left[m, k] * value(inputs[0][k, n], inputs[1][k, n], …): a
// contraction without batch loops whose right operand is stored in another form, such as weights of
// eight or four bits with their scales, and becomes floats where it is read. The order of work is
// that of Contract, each factor is computed as a Map computes it. Strides: left over rows + depth,
// inputs over depth + columns, output over rows + columns. The first loop of `columns` goes over
// tiles, the others over the columns of one, which lie side by side in the output; of the last tile
// only the first `last_columns` are stored. With `is_packed`, inputs that move from tile to tile
// are copies that Pack made, filled up to whole tiles.
struct DecodedContract {
    static constexpr std::string_view kind = "DecodedContract";
    Extents rows, columns, depth;
    int64_t last_columns = 0;
    bool is_packed = false;
    Access left;
    std::vector<Access> inputs;
    scalar::Expr value;
    Access output;
};

// Copies an operand of contractions into the order in which their inner loops read it. A constant:
// once, when the executable is made; the copy may take the place of the original: see
// runtime/packing.h. Anything else: where the kernel stands, before the loop that reads it again
// and again. The back end decides on the order: only its contractions read `to`. `across` are the
// rows of a left operand, the columns of a right one.
struct Pack {
    static constexpr std::string_view kind = "Pack";
    Extents across, depth;
    bool is_left = false;
    Access from;  // strides over across + depth
    Access to;    // strides over `across`, filled up to whole register tiles of any CPU, and depth
    bool is_of_constant = true;
    int64_t panel_width = 0;  // of a DecodedContract's inputs; 0: as the back end decides
};

// output[outer, inner] = data[sum over j of index_j[outer] * axis_strides[j] + inner part], NumPy's
// integer indexing: for each outer index, indices[j][outer] selects along an axis of length
// axis_lengths[j]; negative indices count from the end; one outside is an IndexError at run time:
// "index 7 is out of bounds for axis 0 with size 5" (axis_numbers gives the number).
struct Gather {
    static constexpr std::string_view kind = "Gather";
    Extents outer, inner;
    Access data;                        // strides over inner; offset
    std::vector<Access> indices;        // int64, strides over outer
    std::vector<int64_t> axis_strides;  // in elements of data
    std::vector<int64_t> axis_lengths;
    std::vector<int64_t> axis_numbers;
    Access output;  // strides over outer + inner
};

// The reverse: for outer indices in order (row-major), data[index…, inner] = or += update[outer,
// inner]. Reads and writes `data`, whose buffer was filled before. Addition: one after the other,
// in that order.
struct Scatter {
    static constexpr std::string_view kind = "Scatter";
    Extents outer, inner;
    Access update;  // strides over outer + inner
    std::vector<Access> indices;
    std::vector<int64_t> axis_strides, axis_lengths, axis_numbers;
    Access data;  // strides over inner
    bool add = true;
};

// The reverse of a sliding-window view: output[base] = sum of value[windows…] over all window
// elements that fall on it, added from +0 in row-major order of (window position within window).
// For each outer o (batch-like loops), each spatial position p: output[o, p] = sum over w
// (row-major) with p = q * step + w * dilation for some 0 <= q < count, of input[o, q, w].
struct Fold {
    static constexpr std::string_view kind = "Fold";
    Extents outer;
    Extents positions;  // spatial lengths of the output
    Extents counts;     // number of windows along each
    Extents window;     // window lengths
    std::vector<int64_t> steps, dilations;
    Access input;   // strides over outer + counts + window
    Access output;  // strides over outer + positions
};

// A call of a function that is no part of composit (runtime/foreign.h), which reads its inputs and
// writes every element of its outputs. Its bits are that function's: outside what semantics.md 1
// promises, and not for export. What `options` mean is the function's business.
struct Foreign {
    static constexpr std::string_view kind = "Foreign";
    struct Operand {
        Access access;  // strides over extents
        Extents extents;
        bool is_real_part = false;  // of complex numbers, whose imaginary part is the next operand
    };
    std::string function;
    std::vector<int64_t> options;
    std::vector<Operand> inputs, outputs;  // outputs are row-major
};

// A procedure, of statements over numbers and arrays (ir/procedure/callable.h), which runs once for
// each index of `batch`. Runs are independent; of those that fail, the first in row-major order is
// the one that is reported.
struct Call {
    static constexpr std::string_view kind = "Call";
    struct Operand {
        Access access;    // strides over batch + extents
        Extents extents;  // of the array that one run takes or makes; of a number none
    };
    int64_t procedure = -1;  // its number in this process
    Extents batch;
    std::vector<Operand> inputs;   // the operands of the Callable, in its order
    std::vector<Operand> outputs;  // its results, then its output arrays, which are row-major
};

// Kernels of which each reads only its own part of what those before it made, done part by part, so
// that what passes between them stays in the cache. The order of work is all that it decides: the
// members, over everything, one after the other, compute the same bits. Parts are independent.
struct Member;
struct Fused {
    static constexpr std::string_view kind = "Fused";
    Extents pieces;           // loops over the parts
    std::vector<int> locals;  // buffers that hold one part and exist nowhere else
    std::vector<Member> members;
};

// Kernels that run one after the other, again and again: for each counter from `begin` to `end`,
// which it leaves out. What one iteration writes the next may read. `counter` is the place, one
// int64, that holds the number of the iteration; position: nobody reads it.
struct Kernel;
struct Repeat {
    static constexpr std::string_view kind = "Repeat";
    int64_t begin = 0, end = 0;
    Access counter;
    std::vector<Kernel> kernels;
};

using Body = std::variant<Map, Reduce, Scan, Contract, Gather, Scatter, Fold, Sort, Search, Pack,
                          Fused, Repeat, Foreign, DecodedContract, Call, ByteContract>;

struct Kernel {
    std::string name;     // unique within the program, from its operations: "exp_multiply_2"
    std::string comment;  // the operations in the user's words, one line
    std::vector<std::string> lines;  // user's source lines, "train.py:12", may be empty
    Body body;
    std::string device = {};  // on which the graph says that it runs; empty: anywhere
};

// A kernel of a Fused, over one part. Each of its accesses, in the order of `accesses`, moves from
// part to part by steps[a][d] elements for loop d of `pieces`. Accesses to one buffer move
// together.
struct Member {
    Kernel kernel;
    std::vector<std::vector<int64_t>> steps;
};

enum class BufferKind : uint8_t { input, constant, temporary, output, local, packed };
std::string_view name(BufferKind kind);

struct Buffer {
    std::string name;  // the user's where there is one
    BufferKind kind = BufferKind::temporary;
    DType dtype = DType::float32;
    std::vector<int64_t> shape;  // row-major, contiguous
    int64_t bytes = 0;
    // temporaries: place in the arena, given by plan_buffers (-1 before). inputs, constants,
    // outputs: own memory. locals: one part of a Fused, in its scratch memory. packed: what a Pack
    // writes, memory that belongs to the constant
    int64_t arena_offset = -1;
    ConstantArray value;  // constants: their data
    // The buffer of the donated input that this output overwrites, or -1. The output holds that
    // input's contents when the run starts: both lie in the same memory, or the contents were
    // copied. No kernel names the input.
    int starts_as = -1;

    // A constant is not when its packed copy took its place.
    bool is_in_memory() const { return !value || value.is_row_major(); }
};

// Inputs, constants and outputs are separate pieces of memory; temporaries lie in one arena of
// arena_bytes, 64-byte aligned. An output may alias nothing but the input that it starts as.
// Kernels run in order.
struct Program {
    std::string name;
    std::vector<Buffer> buffers;
    std::vector<int> inputs, outputs;  // buffer numbers in calling order
    std::vector<Kernel> kernels;
    int64_t arena_bytes = 0;
    std::string graph_text;  // the printed graph it computes, for generated headers
};

// "Map", "Reduce", …
std::string_view kind_name(const Body& body);
inline std::string_view kind_name(const Kernel& kernel) { return kind_name(kernel.body); }
// Whether it gives whole arrays to what composit does not look into: a Foreign, or a Call.
inline bool takes_whole_arrays(const Kernel& kernel) {
    return std::holds_alternative<Foreign>(kernel.body) ||
           std::holds_alternative<Call>(kernel.body);
}
Extents concatenate(const std::vector<Extents>& parts);

// An access, the loops that its strides belong to, and how often those loops run.
struct AccessInLoops {
    Access access;
    Extents extents;
    double repeats = 1;
};
// In the order of the body's members. Positions are among what is read. The data of a Scatter is
// read and written. Of a Repeat those of its kernels, one after the other; its counter is written.
std::vector<AccessInLoops> accesses_read(const Kernel& kernel);
std::vector<AccessInLoops> accesses_written(const Kernel& kernel);

// Every access of a body: those of accesses_read, then those of accesses_written, but data of a
// Scatter once; of a Fused and a Repeat those of their kernels, one after the other, behind a
// Repeat's counter.
std::vector<Access*> accesses(Body& body);

// Buffer numbers, each once, in order of first appearance. Of a Fused without its locals.
std::vector<int> buffers_read(const Kernel& kernel);
std::vector<int> buffers_written(const Kernel& kernel);
// Scalar bodies of a kernel (values of Map and of a Contract's finish, value of Reduce, Scan and
// DecodedContract), for printing what they call.
std::vector<scalar::Expr> bodies(const Kernel& kernel);
// Calls `visit` for the kernel; for a Repeat for each of its kernels instead, however deep.
void for_each_step(const Kernel& kernel, const std::function<void(const Kernel&)>& visit);
// Of each buffer, whether a kernel outside the one of that number touches it.
std::vector<bool> touched_outside(const Program& program, size_t kernel);
// Floating-point operations and bytes moved, by counting loops (a call counts one).
double flops(const Kernel& kernel);
double bytes_moved(const Kernel& kernel, const Program& program);

// The map that a contraction's finish stands for, in place over its output: what to run behind the
// contraction where sums are not finished one by one.
Map finishing_map(const Contract& contract);
// What a Contract and a ByteContract have in common, as a Contract, and the dtype of the sums.
struct Product {
    Contract contract;
    DType sums;
};
std::optional<Product> product_in(const Body& body);
// Puts the product into a body of the kind that it was taken from.
void put_product(Body& body, Contract contract);

// The same contraction with each batch loop that one operand alone depends on among that operand's
// rows or columns: fewer, larger products. Every element keeps its order of work.
Contract widened(const Contract& contract);

// Equal for kernels that compute the same from their buffers: names and buffer numbers do not
// count, dtypes do.
uint64_t structural_hash(const Kernel& kernel);

// Readable text of the program: buffers, then kernels with loops, loads, bodies and stores.
std::string print(const Program& program);
std::string print(const Kernel& kernel, const Program& program);

}  // namespace composit::ir::kernel
