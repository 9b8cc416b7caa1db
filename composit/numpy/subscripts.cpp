// Subscripts read and written.
#include "composit/numpy/subscripts.h"

#include "composit/base/error.h"
#include "composit/numpy/variants.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cctype>

namespace composit::numpy {
namespace {

std::string without_spaces(std::string_view text) {
    std::string result;
    for (const char letter : text)
        if (letter != ' ') result += letter;
    return result;
}

std::string sorted_letters(std::string text) {
    std::ranges::sort(text);
    return text;
}

std::string term_of(const NumberedAxes& axes) {
    std::string term;
    for (const std::optional<int64_t>& axis : axes) {
        user_check(!axis || (*axis >= 0 && *axis < 26), "einsum: subscripts are ", axis.value_or(0),
                   ". 0 to 25 required.");
        term += axis ? std::string(1, static_cast<char>('a' + *axis)) : "...";
    }
    return term;
}

}  // namespace

bool only_selects(std::string_view subscripts) {
    const std::string text = without_spaces(subscripts);
    const size_t arrow = text.find("->");
    if (arrow == std::string::npos) return false;
    std::string given = sorted_letters(text.substr(0, arrow));
    const std::string result = text.substr(arrow + 2);
    const auto is_letter = [](unsigned char letter) { return std::isalpha(letter) != 0; };
    if (given.empty() || !std::ranges::all_of(given + result, is_letter)) return false;
    given.erase(std::ranges::unique(given).begin(), given.end());
    return given == sorted_letters(result);
}

std::optional<std::vector<int64_t>> order_of_axes(std::string_view subscripts, int rank) {
    const std::string text = without_spaces(subscripts);
    const size_t arrow = text.find("->");
    const std::string given = text.substr(0, arrow), result = text.substr(arrow + 2);
    if (given.size() != result.size() || given.size() != static_cast<size_t>(rank)) return {};
    std::vector<int64_t> order;
    for (const char letter : result) order.push_back(static_cast<int64_t>(given.find(letter)));
    return order;
}

std::string lettered(const std::vector<NumberedAxes>& operands,
                     const std::optional<NumberedAxes>& result) {
    std::string text;
    for (const NumberedAxes& axes : operands) {
        if (&axes != operands.data()) text += ",";
        text += term_of(axes);
    }
    return result ? text + "->" + term_of(*result) : text;
}

std::vector<Tensor> promoted_with_output(std::string_view function,
                                         const std::vector<Tensor>& operands, DType output) {
    DType common = output;
    for (const Tensor& x : operands) common = promote_types(common, x.dtype());
    user_check<TypeError>(can_cast(common, output), function, ": the result is dtype('", common,
                          "'), out dtype('", output, "'). A cast that is safe is required.");
    std::vector<Tensor> cast;
    for (const Tensor& x : operands) cast.push_back(ops::astype(x, common));
    return cast;
}

}  // namespace composit::numpy
