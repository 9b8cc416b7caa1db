// Calls of bodies, pools and loops.
#include "composit/base/text.h"
#include "composit/ir/operation.h"
#include "composit/mlir/graph_printer.h"
#include "composit/ops/ops.h"
#include "composit/transforms/loop.h"

namespace composit::mlir {
namespace {

using BodyRef = std::shared_ptr<const ir::Body>;

// The greatest element of each window; what lies around is the least value there is.
Values max_pool(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const ir::Attributes& a = node.attributes();
    const Axes &low = a.get<Axes>("padding"), &high = a.get<Axes>("padding_high");
    const auto whole = [](const Axes& spatial, int64_t of_others) {
        Axes all{of_others, of_others};
        all.insert(all.end(), spatial.begin(), spatial.end());
        return "array<i64: " + join(all) + ">";
    };
    std::string padding = "[0, 0], [0, 0]";
    for (size_t d = 0; d < low.size(); ++d) padding += ", " + list_text({low[d], high[d]});
    const auto axes = std::to_string(x[0].rank());
    const ValueType element{x[0].dtype, {}};
    return out.with_block(
        "reduce_window", {x[0], extreme(out, x[0].dtype, true)},
        "padding = dense<[" + padding + "]> : tensor<" + axes +
            "x2xi64>, window_dilations = " + whole(a.get<Axes>("dilation"), 1) +
            ", window_dimensions = " + whole(a.get<Axes>("window"), 1) +
            ", window_strides = " + whole(a.get<Axes>("strides"), 1),
        {element, element},
        [&](const Values& each) { return Values{out.binary("maximum", each[0], each[1])}; },
        {{x[0].dtype, node.types()[0].shape}});
}

Values call(GraphPrinter& printer, const Node& node, const Values& x) {
    return printer.called(node.attributes().get<BodyRef>("body"), x);
}

// The body reads what is the same in all iterations from the function around.
Values loop(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const transforms::LoopParts parts(node);
    const auto number = [&](int64_t value) {
        return out.constant(ir::Array::of<int64_t>(DType::int64, {}, {value}));
    };
    const Value end = number(parts.begin + parts.iterations()), one = number(1);
    Values initial{number(parts.begin)};
    initial.insert(initial.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(parts.states));
    const Values after = out.loop(
        initial, [&](const Values& state) { return Values{out.compare("LT", state[0], end)}; },
        [&](const Values& state) {
            Values arguments = state;
            arguments.insert(arguments.end(), x.begin() + static_cast<std::ptrdiff_t>(parts.states),
                             x.end());
            Values next{out.binary("add", state[0], one)};
            for (const Value& result : printer.inlined(parts.body, arguments))
                next.push_back(result);
            return next;
        });
    return {after.begin() + 1, after.end()};
}

}  // namespace

void add_body_rules(PrintRules& rules) {
    rules["max_pool"] = max_pool;
    rules["call"] = call;
    rules["loop"] = loop;
}

}  // namespace composit::mlir
