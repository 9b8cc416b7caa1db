#include "composit/backends/simt/contract_loops.h"

#include "composit/base/text.h"

#include <utility>

namespace composit::simt {

using c_family::LoopNest;
using ir::DType;
using ir::kernel::Access;
using ir::kernel::Contract;
using ir::kernel::Extents;

namespace {

// `from` with the strides of these groups of loops, one behind the other.
Access joined(const Access& from, const std::vector<const Access*>& groups) {
    Access all = from;
    all.strides.clear();
    for (const Access* group : groups)
        all.strides.insert(all.strides.end(), group->strides.begin(), group->strides.end());
    return all;
}

bool runs_along(const LoopNest& nest) {
    return !nest.extents.empty() && nest.accesses[1].strides.back() == 1;
}

}  // namespace

ContractLoops::ContractLoops(const Contract& contract) {
    c_family::ContractGroups groups(contract);
    const bool is_swapped =
        !runs_along(groups.columns) && (runs_along(groups.rows) || groups.columns.extents.empty());
    if (is_swapped) {
        std::swap(groups.rows, groups.columns);
        std::swap(groups.batch.accesses[0], groups.batch.accesses[1]);
        std::swap(groups.depth.accesses[0], groups.depth.accesses[1]);
    }
    batch = groups.batch.extents;
    rows = groups.rows.extents;
    columns = groups.columns.extents;
    depth = groups.depth.extents;
    const auto operand = [&](size_t number, const LoopNest& nest, const Extents& extents) {
        ContractOperand made{groups.batch.accesses[number], nest.accesses[0],
                             groups.depth.accesses[number], &extents};
        made.across.offset = made.depth.offset = 0;
        return made;
    };
    left = operand(0, groups.rows, rows);
    right = operand(1, groups.columns, columns);
    // Of rows and columns the output is the second access; of batch the third.
    const auto over_all = [&](size_t k) {
        return joined(groups.batch.accesses[k + 2],
                      {&groups.batch.accesses[k + 2], &groups.rows.accesses[k + 1],
                       &groups.columns.accesses[k + 1]});
    };
    output = over_all(0);
    const size_t inputs = contract.finish.inputs.size();
    for (size_t k = 0; k < inputs; ++k) finish_inputs.push_back(over_all(1 + k));
    for (size_t k = 0; k < contract.finish.outputs.size(); ++k)
        finish_outputs.push_back(over_all(1 + inputs + k));
    batch_count = ir::element_count(batch);
    row_count = ir::element_count(rows);
    column_count = ir::element_count(columns);
    depth_count = ir::element_count(depth);
}

void ContractLoops::set_index_type(FunctionText& f, int64_t most) const {
    const auto is_short = [&](const Extents& extents, const std::vector<Access>& accesses) {
        f.index_type(extents, accesses);
        return f.index() == "int";
    };
    const auto over = [&](const ContractOperand& operand) {
        return joined(operand.batch, {&operand.batch, &operand.across, &operand.depth});
    };
    std::vector<Access> outputs{output};
    outputs.insert(outputs.end(), finish_inputs.begin(), finish_inputs.end());
    outputs.insert(outputs.end(), finish_outputs.begin(), finish_outputs.end());
    const bool all_are_short =
        is_short(ir::kernel::concatenate({batch, rows, depth}), {over(left)}) &&
        is_short(ir::kernel::concatenate({batch, columns, depth}), {over(right)}) &&
        is_short(output_extents(), outputs);
    if (all_are_short) f.index_type({most}, {});
}

ContractArithmetic::ContractArithmetic(DType type) : dtype(type) {
    has_blocks = ir::is_floating(type);
    memory = memory_type(type);
    if (has_blocks) {
        const char* suffix = type == DType::float32 ? "f" : "";
        sum = memory;
        zero = right_end = text("0.0", suffix);
        left_end = nothing = text("-0.0", suffix);
        return;
    }
    sum = type == DType::boolean ? "uint8_t" : ir::size_of(type) == 8 ? "uint64_t" : "uint32_t";
    zero = left_end = right_end = nothing = "0";
}

std::string ContractArithmetic::add_product(const std::string& to, const std::string& left,
                                            const std::string& right) const {
    if (has_blocks) return text(to, " = fma(", left, ", ", right, ", ", to, ");");
    if (dtype == DType::boolean) return text(to, " |= ", left, " & ", right, ";");
    return text(to, " += (", sum, ")", left, " * (", sum, ")", right, ";");
}

void store_sum(FunctionText& f, const Contract& contract, const ContractLoops& loops,
               const std::vector<std::string>& indices, const std::string& sum, bool is_finished) {
    if (contract.finish.values.empty() || !is_finished) {
        f.code.add(text(f.element(loops.output, indices), " = ", sum, ";"));
        return;
    }
    const FunctionText::Computed computed = f.compute(contract.finish.values, loops.finish_inputs,
                                                      indices, {{"sum", sum, loops.output.dtype}});
    for (const std::string& line : computed.lines) f.code.add(line);
    for (size_t j = 0; j < computed.results.size(); ++j) {
        const Access& to = j == 0 ? loops.output : loops.finish_outputs[j - 1];
        f.code.add(text(f.element(to, indices), " = ", computed.results[j], ";"));
    }
}

}  // namespace composit::simt
