// Sort and Search.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/kernel_text.h"

namespace composit::plain {

using ir::kernel::Access;
using ir::kernel::Extents;

// Merging, from the left to the right, of runs that become twice as long each time.
MaybeText print_body(const Printing& printing, const ir::kernel::Sort& sort) {
    if (ir::element_count(sort.extents) == 0) return {};
    const size_t outer = sort.extents.size() - 1;
    const int64_t length = sort.extents.back();
    KernelText text = printing.begin(
        {{sort.input, sort.extents}, {sort.output, sort.extents}, {sort.spare, sort.extents}});
    const auto claim = [&](const char* wish) { return text.names.claim(wish); };
    std::vector<std::string> indices = text.claim_indices(outer, "jklmno");
    const Extents rows(sort.extents.begin(), sort.extents.end() - 1);
    const std::string type = c_family::type_name(sort.output.dtype);
    const std::string key_type = c_family::type_name(sort.input.dtype);
    const std::string from = claim("from"), to = claim("to"), i = claim("i");
    const auto at = [&](const Access& access, const std::string& place) {
        std::vector<std::string> all = indices;
        all.push_back(place);
        return text.element(access, sort.extents, all);
    };
    int passes = 0;
    for (int64_t width = 1; width < length; width *= 2) ++passes;
    const bool begins_in_spare = passes % 2 == 1;
    c_family::Lines& code = text.code;
    text.open(text.headers(indices, rows));
    code.add(composit::text(type, " *", from, " = &",
                            at(begins_in_spare ? sort.spare : sort.output, "0"), ";"));
    if (passes > 0)
        code.add(composit::text(type, " *", to, " = &",
                                at(begins_in_spare ? sort.output : sort.spare, "0"), ";"));
    code.nest(
        {text.header(i, length)},
        {composit::text(from, "[", i, "] = ", sort.gives_values ? at(sort.input, i) : i, ";")});
    if (passes > 0) {
        const std::string width = claim("width"), begin = claim("first"), middle = claim("middle"),
                          end = claim("last"), left = claim("left"), right = claim("right"),
                          takes_right = claim("takes_right"), a = claim("a"), b = claim("b"),
                          other = claim("other");
        const std::string& index = text.index();
        const auto least = [&](const std::string& place) {
            return composit::text(place, " < ", length, " ? ", place, " : ", length);
        };
        const auto key = [&](const std::string& place) {
            const std::string element = from + "[" + place + "]";
            return sort.gives_values ? element : at(sort.input, element);
        };
        code.open(composit::text("for (", index, " ", width, " = 1; ", width, " < ", length, "; ",
                                 width, " *= 2)"));
        code.open(composit::text("for (", index, " ", begin, " = 0; ", begin, " < ", length, "; ",
                                 begin, " += 2 * ", width, ")"));
        code.add(
            composit::text("const ", index, " ", middle, " = ", least(begin + " + " + width), ";"));
        code.add(composit::text("const ", index, " ", end, " = ", least(begin + " + 2 * " + width),
                                ";"));
        code.add(composit::text(index, " ", left, " = ", begin, ", ", right, " = ", middle, ";"));
        code.open(text.header(i, begin, end));
        code.add(composit::text("bool ", takes_right, " = ", left, " == ", middle, ";"));
        code.open(composit::text("if (", left, " < ", middle, " && ", right, " < ", end, ")"));
        code.add(composit::text("const ", key_type, " ", a, " = ", key(left), ", ", b, " = ",
                                key(right), ";"));
        code.add(
            composit::text(takes_right, " = ", c_family::is_before(b, a, sort.input.dtype), ";"));
        code.close();
        code.add(composit::text(to, "[", i, "] = ", from, "[", takes_right, " ? ", right,
                                "++ : ", left, "++];"));
        code.close();
        code.close();
        code.add(composit::text(type, " *const ", other, " = ", from, ";"));
        code.add(composit::text(from, " = ", to, ";"));
        code.add(composit::text(to, " = ", other, ";"));
        code.close();
    }
    text.close(outer);
    return text;
}

MaybeText print_body(const Printing& printing, const ir::kernel::Search& search) {
    if (ir::element_count(search.extents) == 0) return {};
    const Extents within = ir::kernel::concatenate({search.extents, search.row});
    KernelText text = printing.begin({{search.sorted, within},
                                      {search.values, search.extents},
                                      {search.output, search.extents}});
    const auto claim = [&](const char* wish) { return text.names.claim(wish); };
    std::vector<std::string> indices = text.claim_indices(search.extents.size(), "ijklmn");
    const std::string value = claim("value"), low = claim("low"), high = claim("high"),
                      middle = claim("middle"), element = claim("element");
    const ir::DType dtype = search.values.dtype;
    const std::string type = c_family::type_name(dtype);
    c_family::Lines& code = text.code;
    text.open(text.headers(indices, search.extents));
    code.add(composit::text("const ", type, " ", value, " = ",
                            text.element(search.values, search.extents, indices), ";"));
    code.add(composit::text(text.index(), " ", low, " = 0, ", high, " = ", search.row[0], ";"));
    code.open(composit::text("while (", low, " < ", high, ")"));
    code.add(
        composit::text("const ", text.index(), " ", middle, " = (", low, " + ", high, ") / 2;"));
    std::vector<std::string> place = indices;
    place.push_back(middle);
    code.add(composit::text("const ", type, " ", element, " = ",
                            text.element(search.sorted, within, place), ";"));
    code.add(composit::text(
        "if (",
        search.is_right ? composit::text("!(", c_family::is_before(value, element, dtype), ")")
                        : c_family::is_before(element, value, dtype),
        ")"));
    code.add(composit::text("    ", low, " = ", middle, " + 1;"));
    code.add("else");
    code.add(composit::text("    ", high, " = ", middle, ";"));
    code.close();
    code.add(text.element(search.output, search.extents, indices) + " = " + low + ";");
    text.close(search.extents.size());
    return text;
}

}  // namespace composit::plain
