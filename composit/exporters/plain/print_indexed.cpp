// Gather, Scatter and Fold.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/kernel_text.h"

#include <optional>

namespace composit::plain {
namespace {

using c_family::LoopNest;
using ir::kernel::Access;
using ir::kernel::AccessInLoops;
using ir::kernel::Extents;
using ir::kernel::Fold;
using ir::kernel::Gather;
using ir::kernel::Scatter;

// What Gather and Scatter share: `data` at places that indices say, and the elements `moved`.
struct Indexed {
    Extents outer, inner, moving, placed;  // loops; those of moved; those of data
    std::vector<Access> indices;           // over outer
    Access data, moved;                    // over placed: the axes that are indexed, then inner
    std::vector<int64_t> lengths;

    template <class Kind>
    Indexed(const Kind& kind, const Access& moved_elements) : lengths(kind.axis_lengths) {
        const size_t o = kind.outer.size();
        LoopNest around{kind.outer, {part_of(moved_elements, 0, o)}};
        around.accesses.insert(around.accesses.end(), kind.indices.begin(), kind.indices.end());
        around = without_single(around);
        const LoopNest inside = without_single(
            {kind.inner, {kind.data, part_of(moved_elements, o, kind.inner.size())}});
        outer = around.extents;
        inner = inside.extents;
        moving = ir::kernel::concatenate({outer, inner});
        placed = ir::kernel::concatenate({lengths, inner});
        moved = around.accesses[0];
        const auto& along = inside.accesses[1].strides;
        moved.strides.insert(moved.strides.end(), along.begin(), along.end());
        indices.assign(around.accesses.begin() + 1, around.accesses.end());
        data = inside.accesses[0];
        data.strides.insert(data.strides.begin(), kind.axis_strides.begin(),
                            kind.axis_strides.end());
    }

    std::vector<AccessInLoops> accesses() const {
        std::vector<AccessInLoops> result = {{data, placed}, {moved, moving}};
        for (const Access& index : indices) result.push_back({index, outer});
        return result;
    }
};

// The place itself, where it is one of the loops' positions that lies within the length.
std::optional<std::string> known_place(const Access& index, const Extents& loops,
                                       const std::vector<std::string>& names, int64_t length) {
    if (index.buffer != Access::position || index.offset != 0) return {};
    std::optional<std::string> place;
    for (size_t d = 0; d < loops.size(); ++d) {
        if (index.strides[d] == 0) continue;
        if (place || index.strides[d] != 1 || loops[d] > length) return {};
        place = names[d];
    }
    if (!place && length > 0) place = "0";
    return place;
}

// Opens the loops over outer and reads the indices, then prints one statement of a data element and
// a moved one.
template <class Statement>
void print_indexed(KernelText& text, const Indexed& indexed, const Statement& statement) {
    const auto outer = text.claim_indices(indexed.outer.size(), "ijklmn");
    const auto inner = text.claim_indices(indexed.inner.size(), "rstuvw");
    text.open(text.headers(outer, indexed.outer));
    std::vector<std::string> places;
    for (size_t a = 0; a < indexed.indices.size(); ++a) {
        if (const auto known =
                known_place(indexed.indices[a], indexed.outer, outer, indexed.lengths[a])) {
            places.push_back(*known);
            continue;
        }
        const std::string at = text.names.claim("at"), length = composit::text(indexed.lengths[a]);
        text.code.add(composit::text("int64_t ", at, " = ",
                                     text.element(indexed.indices[a], indexed.outer, outer), ";"));
        text.code.add(composit::text("if (", at, " < 0) ", at, " += ", length, ";"));
        text.code.add(composit::text("if (", at, " < 0 || ", at, " >= ", length, ") return 1;"));
        text.can_fault = true;
        places.push_back(at);
    }
    std::vector<std::string> at_moved = outer;
    at_moved.insert(at_moved.end(), inner.begin(), inner.end());
    places.insert(places.end(), inner.begin(), inner.end());
    text.code.nest(text.headers(inner, indexed.inner),
                   {statement(text.element(indexed.data, indexed.placed, places),
                              text.element(indexed.moved, indexed.moving, at_moved))});
    text.close(indexed.outer.size());
}

}  // namespace

MaybeText print_body(const Printing& printing, const Gather& gather) {
    if (ir::element_count(gather.outer) * ir::element_count(gather.inner) == 0) return {};
    const Indexed indexed(gather, gather.output);
    KernelText text = printing.begin(indexed.accesses());
    print_indexed(text, indexed, [](const std::string& data, const std::string& output) {
        return output + " = " + data + ";";
    });
    return text;
}

MaybeText print_body(const Printing& printing, const Scatter& scatter) {
    if (ir::element_count(scatter.outer) * ir::element_count(scatter.inner) == 0) return {};
    const Indexed indexed(scatter, scatter.update);
    KernelText text = printing.begin(indexed.accesses());
    const ir::DType dtype = scatter.data.dtype;
    const std::string type = c_family::type_name(dtype);
    const Language language = printing.language;
    print_indexed(text, indexed, [&](const std::string& data, const std::string& update) {
        if (!scatter.add) return data + " = " + update + ";";
        if (dtype == ir::DType::boolean)  // adding is or, as NumPy has it
            return composit::text(data, " = ", data, " || ", update, ";");
        if (ir::is_floating(dtype)) return data + " += " + update + ";";
        const std::string wide = ir::size_of(dtype) == 8 ? "uint64_t" : "uint32_t";
        return composit::text(data, " = ",
                              converted(language, type,
                                        composit::text("(", converted(language, wide, data), " + ",
                                                       converted(language, wide, update), ")")),
                              ";");
    });
    return text;
}

MaybeText print_body(const Printing& printing, const Fold& fold) {
    const size_t o = fold.outer.size(), axes = fold.positions.size();
    const Extents positions = ir::kernel::concatenate({fold.outer, fold.positions});
    if (ir::element_count(positions) == 0) return {};
    const Extents windows = ir::kernel::concatenate({fold.outer, fold.counts, fold.window});
    KernelText text = printing.begin({{fold.input, windows}, {fold.output, positions}});
    const auto outer = text.claim_indices(o, "ijklmn");
    std::vector<std::string> at, within, starts, counts;
    for (size_t d = 0; d < axes; ++d) {
        const std::string suffix = axes == 1 ? "" : composit::text("_", d);
        at.push_back(text.names.claim("p" + suffix));
        within.push_back(text.names.claim("w" + suffix));
        starts.push_back(text.names.claim("start" + suffix));
        counts.push_back(text.names.claim("q" + suffix));
    }
    const std::string sum = text.names.claim("sum");
    const ir::DType dtype = fold.output.dtype;
    const std::string type = c_family::type_name(dtype);
    const bool is_integer = ir::is_integer(dtype);
    const std::string sum_type = !is_integer               ? type
                                 : ir::size_of(dtype) == 8 ? "uint64_t"
                                                           : "uint32_t";
    std::vector<std::string> indices = outer;
    indices.insert(indices.end(), at.begin(), at.end());
    text.open(text.headers(indices, positions));
    text.code.add(composit::text(sum_type, " ", sum, " = 0;"));
    for (size_t d = 0; d < axes; ++d) {
        text.code.open(text.header(within[d], fold.window[d]));
        const int64_t dilation = fold.dilations[d], step = fold.steps[d];
        const std::string moved =
            dilation == 1 ? within[d] : composit::text(within[d], " * ", dilation);
        if (step == 1) {
            text.code.add(composit::text("const ", text.index(), " ", counts[d], " = ", at[d],
                                         " - ", moved, ";"));
            text.code.add(composit::text("if (", counts[d], " < 0 || ", counts[d],
                                         " >= ", fold.counts[d], ") continue;"));
            continue;
        }
        text.code.add(composit::text("const ", text.index(), " ", starts[d], " = ", at[d], " - ",
                                     moved, ", ", counts[d], " = ", starts[d], " / ", step, ";"));
        text.code.add(composit::text("if (", starts[d], " < 0 || ", starts[d], " % ", step,
                                     " != 0 || ", counts[d], " >= ", fold.counts[d],
                                     ") continue;"));
    }
    std::vector<std::string> read = outer;
    read.insert(read.end(), counts.begin(), counts.end());
    read.insert(read.end(), within.begin(), within.end());
    const std::string element = text.element(fold.input, windows, read);
    if (dtype == ir::DType::boolean)
        text.code.add(composit::text(sum, " = ", sum, " || ", element, ";"));
    else
        text.code.add(composit::text(
            sum, " += ", sum_type == type ? element : converted(text.language(), sum_type, element),
            ";"));
    for (size_t d = 0; d < axes; ++d) text.code.close();
    text.code.add(text.element(fold.output, positions, indices) + " = " +
                  (sum_type == type ? sum : converted(text.language(), type, sum)) + ";");
    text.close(positions.size());
    return text;
}

}  // namespace composit::plain
