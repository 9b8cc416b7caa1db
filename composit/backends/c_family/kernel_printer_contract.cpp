// Prints a Contract: floats by the prelude's blocked product; what has loops of its own is printed
// by kernel_printer_plainly.cpp.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/plain_products.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/ir/kernel/row_of_windows.h"

#include <algorithm>
#include <tuple>

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::Contract;
using ir::kernel::Extents;
using ir::kernel::is_row_of_windows;

using Strides = std::vector<int64_t>;

using Groups = ContractGroups;

// Declares the prelude's Contraction; returns its name.
std::string declare_contraction(KernelText& writer, const Contract& c, const Groups& groups) {
    const ir::DType sums = c.output.dtype;
    return declare_product(writer, {c, sums}, groups, text("Contraction<", type_name(sums), ">"));
}

// Whether the tiles copy the left operand's rows before they read them: "false" where few columns
// do not repay that; "packs_rows", which depends on the processor, for somewhat more columns where
// each row is read along memory. (Not if rows are whole pages apart, which share few of the cache's
// sets.)
std::string packs_left(const Contract& c, const Groups& groups) {
    constexpr int64_t few_columns = 64, more_columns = 320, page = 4096;
    if (c.left_is_packed) return "true";
    if (groups.column_count() <= few_columns) return "false";
    if (groups.column_count() > more_columns || groups.depth.extents.empty()) return "true";
    const bool is_along_memory =
        groups.depth.accesses[0].strides.back() == 1 && groups.depth.extents.back() >= 16;
    const int64_t row = groups.rows.extents.empty() ? 1 : groups.rows.accesses[0].strides.back();
    const bool reads_well = is_along_memory && row * ir::size_of(c.left.dtype) % page != 0;
    return reads_well ? "packs_rows" : "true";
}

enum Left { pack_left, read_left, pack_rows };  // of the left operand

std::string reading_name(Left left, bool reads_right, ir::DType dtype) {
    constexpr const char* names[] = {"PackLeft", "ReadLeft", "PackRows"};
    return text(names[left], reads_right ? "ReadRight" : "",
                dtype == ir::DType::float64 ? "Double" : "");
}

using Split = ProductSplit;

// How many rows, or columns, of a product are worked on together. Of those that are shared out in
// parts of `step`, or that are more than a block has, these numbers stand for all that occur.
std::vector<int64_t> counts_together(int64_t count, bool is_split, int64_t step,
                                     int64_t most_in_a_block) {
    if (!is_split && count <= most_in_a_block) return {count};
    const int64_t left = count % step, many = (most_in_a_block + step - 1) / step * step;
    if (left == 0) return {step, many};
    return {left, step, step + left, 2 * step + left, many + left};
}

// The name of the way of reading that suits these lengths, and the type's first arguments.
std::pair<std::string, std::string> way_of_reading(const Contract& c, const Groups& groups) {
    constexpr int64_t few_rows = 12;  // do not repay packing right
    const std::string packs = packs_left(c, groups);
    const bool reads_right = groups.row_count() <= few_rows && !c.right_is_packed;
    const Left left = packs == "true" ? pack_left : packs == "false" ? read_left : pack_rows;
    const std::string reads = packs == "true" ? "false" : packs == "false" ? "true" : "!" + packs;
    return {reading_name(left, reads_right, c.output.dtype),
            join(std::vector<std::string>{packs, reads, reads_right ? "true" : "false"})};
}

ProductReading reading(const Contract& c, const Groups& groups, Split split) {
    constexpr int64_t rows_of_block = 144, columns_of_block = 1024;  // or more: see the prelude
    ProductReading result;
    std::tie(result.name, result.ways) = way_of_reading(c, groups);
    result.rows =
        counts_together(groups.row_count(), split == Split::rows, rows_per_task, rows_of_block);
    result.columns = counts_together(groups.column_count(), split == Split::columns,
                                     columns_per_task, columns_of_block);
    result.is_whole = c.left_is_packed;
    return result;
}

// "contract<PackLeft>(product, {b, b + 1, 0, 64, 0, 10}, memory);", of integers
// "contract_plain<Sum, Product>(product, {b, b + 1, 0, 64, 0, 10});".
std::string call(KernelText& writer, const Contract& c, const Groups& groups,
                 const std::string& product, const std::vector<std::string>& bounds, Split split,
                 const std::string& memory) {
    if (memory.empty())
        return text("contract_plain<Sum, Product>(", product, ", {", join(bounds), "});");
    const ProductReading& way = writer.printed.readings.emplace_back(reading(c, groups, split));
    return text("contract<", way.name, ">(", product, ", {", join(bounds), "}, ", memory, ");");
}

// The stride of an access over a group of at most one loop.
int64_t only_stride(const LoopNest& nest, size_t access) {
    return nest.extents.empty() ? 1 : nest.accesses[access].strides[0];
}

// Whether a product is so small that tables of offsets and packed panels cost more than the work.
bool is_small(const Contract& c, const Groups& groups) {
    constexpr int64_t most_work = 65536, most_copied = 4096, few_rows = 4, little_work = 2048;
    const int64_t rows = groups.row_count(), columns = groups.column_count();
    const int64_t depth = ir::element_count(groups.depth.extents), work = rows * columns * depth;
    if (c.left_is_packed || c.right_is_packed || depth == 0 || depth > 256) return false;
    if (!c.finish.values.empty()) return false;
    for (const LoopNest* nest : {&groups.rows, &groups.columns, &groups.depth})
        if (nest->extents.size() > 1) return false;
    if (work > most_work || depth * std::max<int64_t>(rows, columns) > most_copied) return false;
    return std::min(rows, columns) >= few_rows || work <= little_work;
}

// How well vectors of results along these loops can be stored.
int64_t fits_vectors(const LoopNest& nest) {
    const int64_t count = ir::element_count(nest.extents);
    return only_stride(nest, 1) == 1 ? std::min<int64_t>(count, 8) : 0;
}

// "contract_small<17, 8, 17, float>({x + b * 8, 64, 1}, {w, 8, 1}, {y + b * 136, 8, 1});"
void print_small(KernelText& writer, const Contract& c, const Groups& groups) {
    writer.printed.prelude = {"contract_small.h"};
    const std::string element = type_name(c.output.dtype);
    const int64_t rows = groups.row_count(), columns = groups.column_count();
    // Factors commute, so either side may be the columns, of which vectors are made.
    const bool is_swapped = fits_vectors(groups.rows) > fits_vectors(groups.columns);
    const std::vector<std::string> indices =
        writer.claim_indices(groups.batch.extents.size(), "bcd");
    const auto operand = [&](const Access& access, size_t number, int64_t row, int64_t column) {
        Access start = access;
        start.strides = groups.batch.accesses[number].strides;
        return text("{", writer.place(start, indices, element, number == 2), ", ", row, ", ",
                    column, "}");
    };
    const int64_t row = only_stride(groups.rows, 0), column = only_stride(groups.columns, 0);
    const int64_t left_depth = only_stride(groups.depth, 0);
    const int64_t right_depth = only_stride(groups.depth, 1);
    const int64_t out_row = only_stride(groups.rows, 1),
                  out_column = only_stride(groups.columns, 1);
    const std::string call =
        is_swapped ? join(std::vector<std::string>{operand(c.right, 1, column, right_depth),
                                                   operand(c.left, 0, left_depth, row),
                                                   operand(c.output, 2, out_column, out_row)})
                   : join(std::vector<std::string>{operand(c.left, 0, row, left_depth),
                                                   operand(c.right, 1, right_depth, column),
                                                   operand(c.output, 2, out_row, out_column)});
    const int split = choose_split(groups.batch.extents, ir::kernel::flops({"", "", {}, c}));
    writer.printed.tasks = split < 0 ? 1 : groups.batch.extents[static_cast<size_t>(split)];
    writer.code.nest(
        loop_headers(indices, groups.batch.extents, split),
        {text("contract_small<", is_swapped ? columns : rows, ", ", is_swapped ? rows : columns,
              ", ", ir::element_count(groups.depth.extents), ", ", element, ">(", call, ");")});
}

// Whether one number is left of each batch, and its depth is one loop.
bool is_lone(const Contract& c, const Groups& groups) {
    return groups.row_count() == 1 && groups.column_count() == 1 && !c.left_is_packed &&
           !c.right_is_packed && c.finish.values.empty() && groups.depth.extents.size() == 1;
}

// "y[b] = lone_sum<true>(x + b * 64, 1, w + b * 64, 1, 64);"
void print_lone(KernelText& writer, const Contract& c, const Groups& groups) {
    writer.printed.prelude = {"contract_lone.h"};
    const std::string element = type_name(c.output.dtype);
    const std::vector<std::string> indices =
        writer.claim_indices(groups.batch.extents.size(), "bcd");
    const auto of_batch = [&](const Access& access, size_t number) {
        Access start = access;
        start.strides = groups.batch.accesses[number].strides;
        return start;
    };
    const auto place = [&](const Access& access, size_t number) {
        return writer.place(of_batch(access, number), indices, element, false);
    };
    const int64_t left = only_stride(groups.depth, 0), right = only_stride(groups.depth, 1);
    const int split = choose_split(groups.batch.extents, ir::kernel::flops({"", "", {}, c}));
    writer.printed.tasks = split < 0 ? 1 : groups.batch.extents[static_cast<size_t>(split)];
    writer.code.nest(
        loop_headers(indices, groups.batch.extents, split),
        {text(writer.element(of_batch(c.output, 2), indices), " = lone_sum<",
              left == 1 && right == 1 ? "true" : "false", ">(", place(c.left, 0), ", ", left, ", ",
              place(c.right, 1), ", ", right, ", ", groups.depth.extents[0], ");")});
}

// By the prelude's blocks.
void print_blocks(KernelText& writer, const Contract& c, const Groups& groups) {
    std::string memory;  // integers need none
    if (ir::is_floating(c.output.dtype)) {
        const std::string element = type_name(c.output.dtype);
        writer.printed.prelude = {"contract.h"};
        writer.printed.scratch_bytes =
            text("contract_scratch<", element, "> * sizeof(", element, ")");
        memory = text("static_cast<", element, "*>(scratch)");
    } else {
        writer.printed.prelude = {"contract_plain.h"};
    }
    reserve_names_of_parts(writer);
    const std::string product = declare_contraction(writer, c, groups);
    const auto part = [&](const std::vector<std::string>& bounds, Split split) {
        return call(writer, c, groups, product, bounds, split, memory);
    };
    const auto together = [&](Split split) {
        const bool is_copied = split == Split::rows
                                   ? !c.right_is_packed
                                   : !c.left_is_packed && packs_left(c, groups) != "false";
        return is_copied ? length_worth_a_copy : 256;
    };
    print_product_parts(writer, groups, ir::kernel::flops({"", "", {}, c}), part, together);
}

void print_float(KernelText& writer, const Contract& c, const Groups& groups) {
    if (is_lone(c, groups)) return print_lone(writer, c, groups);
    if (is_small(c, groups)) return print_small(writer, c, groups);
    print_blocks(writer, c, groups);
}

// Whether integers fill vectors of columns.
bool has_vectors_of_integers(const Contract& c, const Groups& groups) {
    constexpr int64_t few_columns = 16;
    return ir::is_integer(c.output.dtype) && c.finish.values.empty() &&
           groups.column_count() >= few_columns && ir::element_count(groups.depth.extents) > 0;
}

bool is_by_blocks(const Contract& c, const Groups& groups) {
    return ir::is_floating(c.output.dtype) && !is_row_of_windows(c) && !is_small(c, groups);
}

// A task is a part of one product of the batch; those of [begin, end) that share a product become
// one.
void print_tasks(KernelText& writer, const Groups& groups, bool by_rows, int64_t together,
                 const ProductCall& call) {
    const int64_t step = by_rows ? rows_per_task : columns_per_task;
    const int64_t length = by_rows ? groups.row_count() : groups.column_count();
    const int64_t parts = (length + step - 1) / step;
    writer.printed.tasks = groups.batch_count() * parts;
    writer.printed.tasks_together = std::min(parts, together / step);
    std::vector<std::string> bounds = {
        "b", "b + 1", "0", text(groups.row_count()), "0", text(groups.column_count())};
    std::string last = text("last < ", length, " ? last : ", length);
    bounds[by_rows ? 2 : 4] = "first";
    bounds[by_rows ? 3 : 5] = last;
    writer.code.open("for (int64_t task = begin; task < end;)");
    writer.code.add(text("const int64_t b = task / ", parts, ", part = task % ", parts, ";"));
    writer.code.add(text("const int64_t count = end - task < ", parts,
                         " - part ? end - task : ", parts, " - part;"));
    writer.code.add(
        text("const int64_t first = part * ", step, ", last = (part + count) * ", step, ";"));
    writer.code.add(call(bounds, by_rows ? Split::rows : Split::columns));
    writer.code.add("task += count;");
    writer.code.close();
}

}  // namespace

void reserve_names_of_parts(KernelText& writer) {
    for (const char* name : {"task", "b", "part", "count", "first", "last"})
        writer.names.taken().insert(name);
}

void print_product_parts(KernelText& writer, const ContractGroups& groups, double work,
                         const ProductCall& call,
                         const std::function<int64_t(ProductSplit)>& together) {
    const int64_t batch = groups.batch_count(), rows = groups.row_count();
    const int64_t columns = groups.column_count();
    // Each task packs what the shared side holds, so the longer side is the one to share out.
    const bool rows_suffice = rows >= 2 * rows_per_task;
    const bool columns_suffice = columns >= 2 * columns_per_task;
    const bool by_rows = rows_suffice && (rows > columns || !columns_suffice);
    const bool is_large = work >= 65536 * 4;
    if (is_large && (rows_suffice || columns_suffice)) {
        print_tasks(writer, groups, by_rows,
                    together(by_rows ? ProductSplit::rows : ProductSplit::columns), call);
        return;
    }
    writer.printed.tasks = is_large ? batch : 1;
    const bool has_range = writer.printed.tasks > 1;
    writer.code.add(call({has_range ? "begin" : "0", has_range ? "end" : text(batch), "0",
                          text(rows), "0", text(columns)},
                         ProductSplit::none));
}

std::string declare_product(KernelText& writer, const ir::kernel::Product& product,
                            const ContractGroups& groups, const std::string& type) {
    const Contract& c = product.contract;
    const std::string finish = declare_finish(writer, product);
    std::vector<std::string> loops = {writer.loops("batch", groups.batch.extents),
                                      writer.loops("rows", groups.rows.extents),
                                      writer.loops("columns", groups.columns.extents),
                                      writer.loops("depth", groups.depth.extents)};
    auto strides = [&](const std::string& name, const LoopNest& nest, size_t access) {
        return writer.constants(name, nest.accesses[access].strides);
    };
    std::vector<std::string> steps = {
        strides("left_batch", groups.batch, 0),      strides("left_rows", groups.rows, 0),
        strides("left_depth", groups.depth, 0),      strides("right_batch", groups.batch, 1),
        strides("right_depth", groups.depth, 1),     strides("right_columns", groups.columns, 0),
        strides("output_batch", groups.batch, 2),    strides("output_rows", groups.rows, 1),
        strides("output_columns", groups.columns, 1)};
    std::string name = writer.names.claim("product");
    Access left = c.left, right = c.right, output = c.output;
    left.strides.clear(), right.strides.clear(), output.strides.clear();
    const auto place = [&](const Access& access, bool is_written) {
        return writer.place(access, {}, type_name(access.dtype), is_written);
    };
    writer.code.add(text("const ", type, " ", name, " = {"));
    writer.code.add(text("    ", place(left, false), ", ", place(right, false), ", ",
                         output.dtype == product.sums ? place(output, true) : "nullptr", ","));
    writer.code.add("    " + join(loops) + ",");
    const auto truth = [](bool value) { return value ? "true" : "false"; };
    const bool has_more = c.left_is_packed || c.right_is_packed || !finish.empty();
    const std::string more = has_more
                                 ? text(truth(c.left_is_packed), ", ", truth(c.right_is_packed),
                                        finish.empty() ? "" : ", &" + finish)
                                 : "";
    for (size_t at = 0; at < steps.size(); at += 3)
        writer.code.add(text("    ", steps[at], ", ", steps[at + 1], ", ", steps[at + 2],
                             at + 3 < steps.size() || !more.empty() ? "," : "};"));
    if (!more.empty()) writer.code.add(text("    ", more, "};"));
    return name;
}

std::vector<std::string> reading_names() {
    std::vector<std::string> names;
    for (const Left left : {pack_left, read_left, pack_rows})
        for (const bool reads_right : {false, true})
            for (const ir::DType dtype : {ir::DType::float32, ir::DType::float64})
                names.push_back(reading_name(left, reads_right, dtype));
    return names;
}

std::string product_template(const Contract& c) {
    if (ir::element_count(ir::kernel::concatenate({c.batch, c.rows, c.columns})) == 0) return "";
    const Groups groups(c);
    return is_by_blocks(c, groups) ? way_of_reading(c, groups).first : "";
}

ContractGroups::ContractGroups(const Contract& c) {
    size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size(), k = c.depth.size();
    batch.accesses = {access_over(c.left, 0, b), access_over(c.right, 0, b),
                      access_over(c.output, 0, b)};
    rows.accesses = {access_over(c.left, b, m), access_over(c.output, b, m)};
    columns.accesses = {access_over(c.right, b + k, n), access_over(c.output, b + m, n)};
    for (const auto* accesses : {&c.finish.inputs, &c.finish.outputs})
        for (const Access& access : *accesses) {
            batch.accesses.push_back(access_over(access, 0, b));
            rows.accesses.push_back(access_over(access, b, m));
            columns.accesses.push_back(access_over(access, b + m, n));
        }
    batch = merge_loops({c.batch, batch.accesses});
    rows = merge_loops({c.rows, rows.accesses});
    columns = merge_loops({c.columns, columns.accesses});
    depth = merge_loops({c.depth, {access_over(c.left, b + m, k), access_over(c.right, b, k)}});
}

namespace {

void print_contract(KernelText& writer, const Contract& c) {
    if (ir::element_count(ir::kernel::concatenate({c.batch, c.rows, c.columns})) == 0) return;
    Groups groups(c);
    writer.printed.reads_panels = c.left_is_packed || c.right_is_packed;
    if (ir::is_floating(c.output.dtype) && !is_row_of_windows(c))
        print_float(writer, c, groups);
    else if (has_vectors_of_integers(c, groups))
        print_blocks(writer, c, groups);
    else
        print_plainly(writer, c, groups);
}

const bool prints_contract = printers().add<Contract, print_contract>();

}  // namespace

}  // namespace composit::c_family
