// Prints a Map: plain loops around one statement per let.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <algorithm>

namespace composit::c_family {

namespace {

// Loops that hold a few times the elements that are under way when vectors go through a long chain
// by turns.
constexpr int64_t least_in_turns = 64;

// Goes through the last loop in strips, around loop `outer`: the elements of a transposed operand
// that a step along `outer` brings into the cache are used while they are there. The end of a strip
// is a choice although it may be known: of a known length g++ makes vectors along `outer` instead,
// whose elements it stores one by one, far apart.
void print_in_strips(std::vector<std::string>& headers, size_t outer, const std::string& index,
                     const std::string& first, const std::string& begin, const std::string& end,
                     int64_t width) {
    headers.back() =
        text("for (int64_t ", index, " = ", first, "; ", index, " < (", first, " + ", width, " < ",
             end, " ? ", first, " + ", width, " : ", end, "); ++", index, ")");
    headers.insert(headers.begin() + static_cast<std::ptrdiff_t>(outer),
                   text("for (int64_t ", first, " = ", begin, "; ", first, " < ", end, "; ", first,
                        " += ", width, ")"));
}

void print_body(KernelText& writer, const ir::kernel::Map& map) {
    if (ir::element_count(map.extents) == 0) return;
    LoopNest nest{map.extents, map.inputs};
    nest.accesses.insert(nest.accesses.end(), map.outputs.begin(), map.outputs.end());
    const size_t inputs = map.inputs.size();
    nest = sort_and_merge_loops(std::move(nest), inputs);
    const auto middle = nest.accesses.begin() + static_cast<std::ptrdiff_t>(inputs);

    ir::kernel::Kernel as_kernel;
    as_kernel.body = map;
    double work =
        ir::kernel::flops(as_kernel) + static_cast<double>(ir::element_count(map.extents));
    int split = choose_split(nest.extents, work);
    writer.printed.tasks = split < 0 ? 1 : nest.extents[static_cast<size_t>(split)];

    std::vector<std::string> indices = writer.claim_indices(nest.extents.size(), "ijklmn");
    ComputedValues computed = writer.compute(map.values, {nest.accesses.begin(), middle}, indices);
    std::vector<std::string> body = computed.lines;
    for (size_t j = 0; j < map.outputs.size(); ++j)
        body.push_back(writer.element(middle[static_cast<std::ptrdiff_t>(j)], indices) + " = " +
                       computed.results[j] + ";");
    std::vector<std::string> headers = loop_headers(indices, nest.extents, split);
    const bool is_long = longest_chain(map.values) >= long_chain;
    const int outer = transposed_loop(nest, inputs);
    const int64_t width = is_long ? least_in_turns : columns_of_strip(map.outputs[0].dtype);
    const bool is_shared = split == static_cast<int>(nest.extents.size()) - 1;
    if (outer >= 0)
        print_in_strips(headers, static_cast<size_t>(outer), indices.back(),
                        writer.names.claim("first"), is_shared ? "begin" : "0",
                        is_shared ? "end" : text(nest.extents.back()), width);
    if (!headers.empty() && (is_long || has_choice(map.values)))
        writer.printed.is_in_vectors = writer.printed.needs_vectors = true;
    if (!headers.empty() && is_long && nest.extents.back() >= least_in_turns)
        headers.back() = "COMPOSIT_IN_TURNS " + headers.back();
    if (writer.printed.is_any_order && !headers.empty())
        headers.back() = "COMPOSIT_ANY_ORDER " + headers.back();
    writer.code.nest(headers, body);
}

const bool prints_map = printers().add<ir::kernel::Map, print_body>();

}  // namespace

}  // namespace composit::c_family
