// Products of matrices, convolutions, factors of matrices.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/mlir/graph_printer.h"
#include "composit/ops/ops.h"

#include <numeric>

namespace composit::mlir {
namespace {

std::string pair_text(std::string_view name, const Axes& a, const Axes& b) {
    return ", " + std::string(name) + " = " + list_text(a) + " x " + list_text(b);
}

Values contract(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const ops::Contraction c = ops::contraction_of(node.attributes());
    Values operands = x;
    for (Value& each : operands)
        if (each.dtype == DType::boolean) each = out.convert(each, DType::int32);
    std::string attributes;
    if (!c.batch_a.empty()) attributes = pair_text("batching_dims", c.batch_a, c.batch_b);
    attributes += pair_text("contracting_dims", c.contracted_a, c.contracted_b);
    // Processors of matrices would else round float32 to fewer bits.
    attributes += ", precision = [HIGHEST, HIGHEST]";
    return {
        out.apply("dot_general", operands, attributes, {operands[0].dtype, node.types()[0].shape})};
}

Values convolve(GraphPrinter& printer, const Node& node, const Values& x) {
    const ir::Attributes& a = node.attributes();
    const Axes &low = a.get<Axes>("padding_low"), &high = a.get<Axes>("padding_high");
    std::vector<std::string> spatial, padding, kept;
    for (size_t d = 0; d < low.size(); ++d) {
        spatial.push_back(std::to_string(d));
        padding.push_back("[" + std::to_string(low[d]) + ", " + std::to_string(high[d]) + "]");
        kept.emplace_back("false");
    }
    const std::string axes = join(spatial);
    const std::string behind = axes.empty() ? "" : ", " + axes;
    const std::string text =
        "convolution(" + names_text(x) + ") dim_numbers = [b, f" + behind + "]x[o, i" + behind +
        "]->[b, f" + behind + "], window = {stride = " + list_text(a.get<Axes>("strides")) +
        ", pad = [" + join(padding) +
        "], lhs_dilate = " + list_text(a.get<Axes>("input_dilation")) +
        ", rhs_dilate = " + list_text(a.get<Axes>("filter_dilation")) + ", reverse = [" +
        join(kept) + "]} {batch_group_count = 1 : i64, feature_group_count = " +
        std::to_string(a.get<int64_t>("groups")) +
        " : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision "
        "HIGHEST>]}";
    return {printer.out.convolution(text, x, {x[0].dtype, node.types()[0].shape})};
}

// StableHLO says nothing of the other triangle.
Values cholesky(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const bool is_upper = node.attributes().get<bool>("upper");
    const Value factor = out.add(
        "cholesky " + x[0].name + ", lower = " + (is_upper ? "false" : "true"), x[0].type());
    const int64_t rank = x[0].rank();
    const Value row = out.iota(DType::int64, x[0].shape, rank - 2);
    const Value column = out.iota(DType::int64, x[0].shape, rank - 1);
    return {out.select(out.compare(is_upper ? "LE" : "GE", row, column), factor,
                       out.number(x[0].type(), 0))};
}

}  // namespace

void add_product_rules(PrintRules& rules) {
    rules["contract"] = contract;
    rules["convolve"] = convolve;
    rules["cholesky"] = cholesky;
}

}  // namespace composit::mlir
