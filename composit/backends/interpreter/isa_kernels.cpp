// The prelude's kernels for one instruction set: compiled once per set, with COMPOSIT_ISA naming
// it.
#include "composit/backends/interpreter/kernel_set.h"

#include <cstddef>
#include <cstdint>
#include <new>

#define COMPOSIT_TEXT_OF(name) #name
#define COMPOSIT_TEXT(name) COMPOSIT_TEXT_OF(name)

namespace composit::interpreter::COMPOSIT_ISA {

// The prelude opens no namespace of its own: each instruction set gets its own copy of every
// template.
#include "composit/backends/c_family/prelude/contract.h"
#include "composit/backends/c_family/prelude/contract_bytes.h"
#include "composit/backends/c_family/prelude/contract_plain.h"
#include "composit/backends/c_family/prelude/contract_products.h"
#include "composit/backends/c_family/prelude/contract_tiny.h"
#include "composit/backends/c_family/prelude/contract_vector.h"
#include "composit/backends/c_family/prelude/copy_tile.h"
#include "composit/backends/c_family/prelude/fold.h"
#include "composit/backends/c_family/prelude/gather.h"
#include "composit/backends/c_family/prelude/reduce_count.h"
#include "composit/backends/c_family/prelude/reduce_position.h"
#include "composit/backends/c_family/prelude/scan.h"
#include "composit/backends/c_family/prelude/scatter.h"
#include "composit/backends/c_family/prelude/search.h"
#include "composit/backends/c_family/prelude/sort.h"

extern const NamedKernel named_kernels[];  // generated
extern const int64_t named_kernel_count;

namespace {

using ir::DType;
using ir::kernel::Combiner;

struct Bytes16 {
    uint64_t words[2];
};

template <class T>
void copy(const void* from, Strides2 read, void* to, Strides2 write, int64_t rows,
          int64_t columns) {
    copy_tile(static_cast<const T*>(from), {read.row, read.column}, static_cast<T*>(to),
              {write.row, write.column}, rows, columns);
}

// ----- reductions

// Row and Columns are the two shapes of one reduction over T, giving R.
template <class Row, class Columns, class T, class R>
struct Reducing {
    static const T* at(const void* x) { return static_cast<const T*>(x); }

    static void row_start(void* state) { new (state) Row; }
    static void row_add(void* state, const void* x, int64_t n) {
        static_cast<Row*>(state)->add(at(x), n);
    }
    static void row_finish(void* state, void* out) {
        *static_cast<R*>(out) = static_cast<R>(static_cast<Row*>(state)->result());
    }
    static void columns_start(void* state, int64_t width) { new (state) Columns(width); }
    static void columns_add(void* state, const void* x, int64_t rows, int64_t stride) {
        static_cast<Columns*>(state)->add(at(x), rows, stride);
    }
    static void columns_finish(void* state, void* out) {
        static_cast<Columns*>(state)->result(static_cast<R*>(out));
    }
};

template <class Op, class T>
void combine_rows(const void* x, int64_t rows, int64_t stride, int64_t n, void* out) {
    for (int64_t r = 0; r < rows; ++r)
        static_cast<T*>(out)[r] = reduce_row<Op>(static_cast<const T*>(x) + r * stride, n);
}

template <class Op, class T>
void combine_row_blocks(void* blocks, int64_t count, void* out) {
    *static_cast<T*>(out) = combine_blocks<Op>(static_cast<T*>(blocks), count);
}

template <class Order, class T>
void position_rows(const void* x, int64_t rows, int64_t stride, int64_t n, void* out) {
    for (int64_t r = 0; r < rows; ++r) {
        RowPosition<Order, T> row;
        row.add(static_cast<const T*>(x) + r * stride, n);
        static_cast<int64_t*>(out)[r] = row.result();
    }
}

template <class Row, class Columns, class T, class R>
constexpr ReduceKernels reduce_kernels(decltype(ReduceKernels::rows) rows,
                                       decltype(ReduceKernels::combine_blocks) combine_blocks) {
    using Shapes = Reducing<Row, Columns, T, R>;
    return {.row_state_bytes = sizeof(Row),
            .column_state_bytes = sizeof(Columns),
            .strip = column_strip<T>,
            .rows = rows,
            .row_start = Shapes::row_start,
            .row_add = Shapes::row_add,
            .row_finish = Shapes::row_finish,
            .combine_blocks = combine_blocks,
            .columns_start = Shapes::columns_start,
            .columns_add = Shapes::columns_add,
            .columns_finish = Shapes::columns_finish};
}

template <class Op, class T>
const ReduceKernels* combining() {
    static constexpr ReduceKernels kernels =
        reduce_kernels<RowReduction<Op, T>, ColumnReduction<Op, T>, T, T>(
            combine_rows<Op, T>, combine_row_blocks<Op, T>);
    return &kernels;
}

template <class Order, class T>
const ReduceKernels* finding() {
    static constexpr ReduceKernels kernels =
        reduce_kernels<RowPosition<Order, T>, ColumnPosition<Order, T>, T, int64_t>(
            position_rows<Order, T>, nullptr);
    return &kernels;
}

// Of bool as 64-bit integers.
void count_rows(const void* x, int64_t rows, int64_t stride, int64_t n, void* out) {
    for (int64_t r = 0; r < rows; ++r)
        static_cast<uint64_t*>(out)[r] =
            count_truths(static_cast<const uint8_t*>(x) + r * stride, n);
}
constexpr ReduceKernels counting = reduce_kernels<RowCount, ColumnCount, uint8_t, uint64_t>(
    count_rows, combine_row_blocks<Sum, uint64_t>);

template <class Op, class T>
const ScanKernels* scanning() {
    struct Shapes {
        static void row(const void* x, int64_t n, void* carry, bool is_first, void* out,
                        int64_t stride) {
            scan_row<Op>(static_cast<const T*>(x), n, *static_cast<T*>(carry), is_first,
                         static_cast<T*>(out), stride);
        }
        static void columns(const void* x, int64_t width, void* carry, bool is_first, void* out) {
            scan_columns<Op>(static_cast<const T*>(x), width, static_cast<T*>(carry), is_first,
                             static_cast<T*>(out));
        }
    };
    static constexpr ScanKernels kernels = {Shapes::row, Shapes::columns};
    return &kernels;
}

// f.template of<T>() for the C++ type of a dtype; nothing for those without kernels. bool is
// uint8_t.
template <class Result, class F>
Result for_type(DType dtype, F f) {
    switch (dtype) {
        case DType::boolean: return f.template of<uint8_t>();
        case DType::int8: return f.template of<int8_t>();
        case DType::int16: return f.template of<int16_t>();
        case DType::int32: return f.template of<int32_t>();
        case DType::int64: return f.template of<int64_t>();
        case DType::uint8: return f.template of<uint8_t>();
        case DType::uint16: return f.template of<uint16_t>();
        case DType::uint32: return f.template of<uint32_t>();
        case DType::uint64: return f.template of<uint64_t>();
        case DType::float32: return f.template of<float>();
        case DType::float64: return f.template of<double>();
        default: return nullptr;  // no kernel has it
    }
}

struct FindReduce {
    Combiner combiner;
    template <class T>
    const ReduceKernels* of() const {
        switch (combiner) {
            case Combiner::sum: return combining<Sum, Wrapping<T>>();
            case Combiner::product: return combining<Product, Wrapping<T>>();
            case Combiner::maximum: return combining<Maximum, T>();
            case Combiner::minimum: return combining<Minimum, T>();
            case Combiner::argmax: return finding<First::Larger, T>();
            case Combiner::argmin: return finding<First::Smaller, T>();
            case Combiner::any:
            case Combiner::all: break;
        }
        return nullptr;
    }
};

const ReduceKernels* find_reduce(Combiner combiner, DType dtype) {
    if (dtype == DType::boolean) {
        if (combiner == Combiner::any) return combining<Any, uint8_t>();
        if (combiner == Combiner::all) return combining<All, uint8_t>();
        if (combiner == Combiner::sum || combiner == Combiner::product) return nullptr;
    }
    return for_type<const ReduceKernels*>(dtype, FindReduce{combiner});
}

struct FindScan {
    Combiner combiner;
    template <class T>
    const ScanKernels* of() const {
        switch (combiner) {
            case Combiner::sum: return scanning<Sum, Wrapping<T>>();
            case Combiner::product: return scanning<Product, Wrapping<T>>();
            case Combiner::maximum: return scanning<Maximum, T>();
            case Combiner::minimum: return scanning<Minimum, T>();
            default: return nullptr;
        }
    }
};

const ScanKernels* find_scan(Combiner combiner, DType dtype) {
    const bool adds = combiner == Combiner::sum || combiner == Combiner::product;
    if (dtype == DType::boolean && adds) return nullptr;
    return for_type<const ScanKernels*>(dtype, FindScan{combiner});
}

// ----- contractions

Loops loops(const LoopNest& nest) { return {nest.rank, nest.extents}; }

// A Contraction or a ByteProduct, whose operands are not packed.
template <class Product, class Left, class Right, class Output>
Product described(const ContractArguments& a) {
    return {static_cast<const Left*>(a.left),
            static_cast<const Right*>(a.right),
            static_cast<Output*>(a.output),
            loops(a.batch),
            loops(a.rows),
            loops(a.columns),
            loops(a.depth),
            a.left_batch,
            a.left_rows,
            a.left_depth,
            a.right_batch,
            a.right_depth,
            a.right_columns,
            a.output_batch,
            a.output_rows,
            a.output_columns};
}

template <class T>
Contraction<T> contraction(const ContractArguments& a) {
    auto c = described<Contraction<T>, T, T, T>(a);
    c.left_is_packed = a.left_is_packed, c.right_is_packed = a.right_is_packed;
    return c;
}

ContractPart part(const ContractRange& r) {
    return {r.batch_begin, r.batch_end, r.row_begin, r.row_end, r.column_begin, r.column_end};
}
ContractPart transposed(const ContractPart& p) {
    return {p.batch_begin, p.batch_end, p.column_begin, p.column_end, p.row_begin, p.row_end};
}

template <class T>
void contract_floats(const ContractArguments& a, const ContractRange& range, void* scratch) {
    const Contraction<T> c = contraction<T>(a), turned = transposed(c);
    const ContractPart whole = part(range), turned_whole = transposed(whole);
    if (is_of_vector(c)) return contract_vector(c, whole);
    if (is_tiny(c, whole)) return contract_tiny(c, whole);
    if (is_tiny(turned, turned_whole)) return contract_tiny(turned, turned_whole);
    contract(c, whole, static_cast<T*>(scratch));
}

template <class T>
void ready_product(const Contraction<T>& c, const ContractPart& part, LeftReading left,
                   T* scratch) {
    contract(c, part, scratch, left);
}
template <class Add, class Multiply, class T>
void contract_others(const ContractArguments& a, const ContractRange& range, void*) {
    contract_plain<Add, Multiply>(contraction<T>(a), part(range));
}

template <class T>
void ready_packing(const Packing<T>& packing, bool is_left, int64_t begin, int64_t end) {
    if (is_left)
        pack_whole<true>(packing, begin, end);
    else
        pack_whole<false>(packing, begin, end);
}

template <class T>
void pack_floats(const PackArguments& a, int64_t begin, int64_t end) {
    const Packing<T> packing = {static_cast<const T*>(a.from),
                                static_cast<T*>(a.to),
                                loops(a.across),
                                loops(a.depth),
                                a.across_strides,
                                a.depth_strides};
    ready_packing(packing, a.is_left, begin, end);
}

constexpr ReadyProducts ready_products = {
    ready_product<float>, ready_product<double>, ready_packing<float>, ready_packing<double>,
    contract_bytes,       contract_bytes,        contract_bytes,       contract_bytes};

struct FindContract {
    template <class T>
    const ContractKernel* of() const {
        if constexpr (is_floating<T>) {
            static constexpr ContractKernel kernel = {
                contract_scratch<T> * static_cast<int64_t>(sizeof(T)),
                tile_rows,
                tile_columns<T>,
                contract_floats<T>,
                panel_width<T>,
                pack_floats<T>,
                packed_together};
            return &kernel;
        } else {
            static constexpr ContractKernel kernel = {
                0, 1, 256, contract_others<Sum, Product, Wrapping<T>>, nullptr, nullptr, 1};
            return &kernel;
        }
    }
};

const ContractKernel* find_contract(DType dtype) {
    static constexpr ContractKernel truths = {
        0, 1, 256, contract_others<Any, All, uint8_t>, nullptr, nullptr, 1};
    return dtype == DType::boolean ? &truths
                                   : for_type<const ContractKernel*>(dtype, FindContract{});
}

template <class Left, class Right>
void contract_bytes_of(const ContractArguments& a, const ContractRange& range, void* scratch) {
    auto c = described<ByteProduct<Left, Right>, Left, Right, int32_t>(a);
    c.left_is_packed = a.left_is_packed, c.right_is_packed = a.right_is_packed;
    contract_bytes(c, part(range), scratch);
}

template <class Left, class Right>
constexpr ContractKernel byte_kernel = {
    byte_scratch, tile_rows, byte_columns, contract_bytes_of<Left, Right>, nullptr, nullptr, 1};

const ContractKernel* find_contract_bytes(DType left, DType right) {
    if (left == DType::int8)
        return right == DType::int8 ? &byte_kernel<int8_t, int8_t> : &byte_kernel<int8_t, uint8_t>;
    return right == DType::int8 ? &byte_kernel<uint8_t, int8_t> : &byte_kernel<uint8_t, uint8_t>;
}

// ----- gathers, scatters and folds

IndexAxes index_axes(const IndexArguments& a) {
    return {a.count, a.indices, a.strides, a.axis_strides, a.lengths};
}

template <class T>
BadIndex run_gather(const MoveArguments& a, int64_t begin, int64_t end) {
    const GatherTask<T> task{static_cast<const T*>(a.from),
                             static_cast<T*>(a.to),
                             loops(a.outer),
                             loops(a.inner),
                             index_axes(a.axes),
                             a.data_inner,
                             a.other_outer,
                             a.other_inner};
    const IndexFault fault =
        iterations(task.inner) == 1 ? gather_elements(task, begin, end) : gather(task, begin, end);
    return {fault.outer, fault.axis, fault.index};
}

template <class Op, class T>
BadIndex run_scatter(const MoveArguments& a, int64_t begin, int64_t end) {
    const ScatterTask<T> task{static_cast<const T*>(a.from),
                              static_cast<T*>(a.to),
                              loops(a.outer),
                              loops(a.inner),
                              index_axes(a.axes),
                              a.data_inner,
                              a.other_outer,
                              a.other_inner};
    const IndexFault fault = iterations(task.inner) == 1
                                 ? scatter_elements<Op>(task, iterations(task.outer))
                                 : scatter<Op>(task, begin, end);
    return {fault.outer, fault.axis, fault.index};
}

template <class Op>
struct FindScatter {
    template <class T>
    MoveKernel of() const {
        return run_scatter<Op, Wrapping<T>>;
    }
};

MoveKernel find_scatter(bool add, DType dtype) {
    if (!add) {
        switch (ir::size_of(dtype)) {
            case 1: return run_scatter<Replace, uint8_t>;
            case 2: return run_scatter<Replace, uint16_t>;
            case 4: return run_scatter<Replace, uint32_t>;
            case 8: return run_scatter<Replace, uint64_t>;
            default: return nullptr;
        }
    }
    if (dtype == DType::boolean) return run_scatter<Any, uint8_t>;
    return for_type<MoveKernel>(dtype, FindScatter<Sum>{});
}

template <class T>
void run_fold(const FoldArguments& a, int64_t begin, int64_t end) {
    fold(FoldTask<T>{static_cast<const T*>(a.input), static_cast<T*>(a.output), loops(a.outer),
                     loops(a.positions), loops(a.counts), loops(a.window), a.steps, a.dilations,
                     a.input_outer, a.input_counts, a.input_window, a.output_outer,
                     a.output_positions, a.run},
         begin, end);
}

struct FindFold {
    template <class T>
    FoldKernel of() const {
        return run_fold<Wrapping<T>>;
    }
};

FoldKernel find_fold(DType dtype) {
    return dtype == DType::boolean ? nullptr : for_type<FoldKernel>(dtype, FindFold{});
}

template <class T, bool gives_values>
void run_sort(const SortArguments& a, int64_t begin, int64_t end) {
    const SortTask<T> task = {static_cast<const T*>(a.input),
                              a.output,
                              a.spare,
                              loops(a.outer),
                              a.input_outer,
                              a.output_outer,
                              a.spare_outer,
                              a.length,
                              a.stride,
                              a.goes_on};
    sort_rows<T, gives_values>(task, begin, end);
}

struct FindSort {
    bool gives_values;
    template <class T>
    SortKernel of() const {
        return gives_values ? run_sort<T, true> : run_sort<T, false>;
    }
};

SortKernel find_sort(DType dtype, bool gives_values) {
    const FindSort find{gives_values};
    return dtype == DType::boolean ? find.of<uint8_t>() : for_type<SortKernel>(dtype, find);
}

template <class T>
void run_search(const SearchArguments& a, int64_t begin, int64_t end) {
    search_rows(SearchTask<T>{static_cast<const T*>(a.sorted), static_cast<const T*>(a.values),
                              a.output, loops(a.outer), a.sorted_outer, a.values_outer,
                              a.output_outer, a.length, a.stride, a.is_right},
                begin, end);
}

struct FindSearch {
    template <class T>
    SearchKernel of() const {
        return run_search<T>;
    }
};

SearchKernel find_search(DType dtype) {
    return dtype == DType::boolean ? run_search<uint8_t>
                                   : for_type<SearchKernel>(dtype, FindSearch{});
}

}  // namespace

extern const KernelSet set;
const KernelSet set = {
    COMPOSIT_TEXT(COMPOSIT_ISA),
    named_kernels,
    named_kernel_count,
    {copy<uint8_t>, copy<uint16_t>, copy<uint32_t>, copy<uint64_t>, copy<Bytes16>},
    find_reduce,
    &counting,
    find_scan,
    find_contract,
    find_contract_bytes,
    {run_gather<uint8_t>, run_gather<uint16_t>, run_gather<uint32_t>, run_gather<uint64_t>,
     run_gather<Bytes16>},
    find_scatter,
    find_fold,
    find_sort,
    find_search,
    vector_bytes,
    &ready_products};

}  // namespace composit::interpreter::COMPOSIT_ISA
