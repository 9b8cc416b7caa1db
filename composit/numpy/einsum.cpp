// einsum: subscripts are parsed to labels, repeated labels become diagonals, pairs become
// contractions.
#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace composit::numpy {
namespace {

using ops::Combiner;
using Axes = std::vector<int64_t>;

// A label is a letter's code, or 256 + k for the k-th axis from the right that "..." stands for.
using Labels = std::vector<int>;

struct Labelled {
    Tensor tensor;
    Labels labels;
};

bool has(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int64_t place_of(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

struct Subscripts {
    std::vector<std::string> operands;
    std::string result;
    bool is_explicit = false;
};

// Spaces go, each "..." becomes one '.'.
Subscripts split_subscripts(std::string_view text) {
    std::string clean;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ') continue;
        if (text.substr(i, 3) == "...") {
            clean += '.';
            i += 2;
            continue;
        }
        if (text.substr(i, 2) == "->") {
            clean += '>';
            ++i;
            continue;
        }
        user_check(text[i] == ',' || ascii::is_letter(text[i]), "einsum: invalid subscript '",
                   text[i], "' in einstein sum subscripts string '", text,
                   "', subscripts must be letters.");
        clean += text[i];
    }
    Subscripts result;
    const size_t arrow = clean.find('>');
    if (arrow != std::string::npos) {
        result.is_explicit = true;
        result.result = clean.substr(arrow + 1);
        clean.resize(arrow);
        user_check(result.result.find_first_of(">,") == std::string::npos,
                   "einsum: einstein sum subscripts string '", text,
                   "' has a ',' or a second '->' after '->'. One result is required.");
    }
    size_t start = 0;
    for (size_t comma; (comma = clean.find(',', start)) != std::string::npos; start = comma + 1)
        result.operands.push_back(clean.substr(start, comma - start));
    result.operands.push_back(clean.substr(start));
    return result;
}

// Letters in the order written; "..." as many labels as the operand has axes left.
Labels labels_of(const std::string& subscripts, int ellipsis_rank) {
    Labels labels;
    for (char letter : subscripts) {
        if (letter == '.')
            for (int k = ellipsis_rank; k-- > 0;) labels.push_back(256 + k);
        else
            labels.push_back(static_cast<unsigned char>(letter));
    }
    return labels;
}

int ellipsis_rank(const std::string& subscripts, const Tensor& x, size_t operand) {
    const auto letters = static_cast<int>(
        std::count_if(subscripts.begin(), subscripts.end(), [](char c) { return c != '.'; }));
    const auto dots = static_cast<int>(subscripts.size()) - letters;
    user_check(dots <= 1, "einsum: operand ", operand,
               " has more than one ellipsis ('...') in its subscripts. One is allowed.");
    user_check(letters <= x.rank(),
               "einsum: einstein sum subscripts string contains too many "
               "subscripts for operand ",
               operand, ": '", subscripts, "' for shape ", x.shape(), ".");
    user_check(dots == 1 || letters == x.rank(),
               "einsum: operand has more dimensions than "
               "subscripts given in einstein sum, but no '...' ellipsis provided to broadcast the "
               "extra dimensions: operand ",
               operand, " has shape ", x.shape(), ", subscripts '", subscripts, "'.");
    return x.rank() - letters;
}

// Without "->": the labels of "...", then letters that occur once, in the alphabet's order.
Labels implicit_result(const Subscripts& subscripts, int dots) {
    std::array<int, 256> counts{};
    for (const std::string& operand : subscripts.operands)
        for (char letter : operand)
            if (letter != '.') ++counts[static_cast<unsigned char>(letter)];
    Labels result;
    for (int k = dots; k-- > 0;) result.push_back(256 + k);
    for (int label = 0; label < 256; ++label)
        if (counts[static_cast<size_t>(label)] == 1) result.push_back(label);
    return result;
}

// A label used twice by one operand walks its diagonal.
Labelled without_repeats(Labelled x) {
    for (size_t i = 0; i < x.labels.size(); ++i)
        for (size_t j = i + 1; j < x.labels.size(); ++j) {
            if (x.labels[i] != x.labels[j]) continue;
            const int64_t a = x.tensor.shape()[i], b = x.tensor.shape()[j];
            user_check(a == b, "einsum: dimensions in operand for collapsing index '",
                       static_cast<char>(x.labels[i]), "' don't match (", a, " != ", b, ").");
            x.tensor = diagonal(x.tensor, 0, static_cast<int64_t>(i), static_cast<int64_t>(j));
            const int label = x.labels[i];
            x.labels.erase(x.labels.begin() + static_cast<long>(j));
            x.labels.erase(x.labels.begin() + static_cast<long>(i));
            x.labels.push_back(label);
            return without_repeats(std::move(x));
        }
    return x;
}

// Axes of length 1 whose label is longer elsewhere broadcast: they are dropped.
void drop_broadcast_axes(std::vector<Labelled>& operands) {
    std::array<int64_t, 320> lengths;
    lengths.fill(1);
    for (size_t i = 0; i < operands.size(); ++i)
        for (size_t d = 0; d < operands[i].labels.size(); ++d) {
            const int label = operands[i].labels[d];
            int64_t& length = lengths[static_cast<size_t>(label)];
            const int64_t own = operands[i].tensor.shape()[d];
            user_check(own == 1 || length == 1 || own == length,
                       "einsum: operands could not be broadcast together: operand ", i,
                       " has length ", own, " along ",
                       label < 256 ? text("'", static_cast<char>(label), "'") : text("'...'"),
                       ", another has ", length, ".");
            if (own != 1) length = own;
        }
    for (Labelled& x : operands) {
        Shape shape;
        Labels labels;
        for (size_t d = 0; d < x.labels.size(); ++d) {
            const int64_t own = x.tensor.shape()[d];
            if (own == 1 && lengths[static_cast<size_t>(x.labels[d])] != 1) continue;
            shape.push_back(own);
            labels.push_back(x.labels[d]);
        }
        if (labels.size() != x.labels.size()) x = {ops::reshape(x.tensor, shape), labels};
    }
}

// Labels that nobody needs any more are summed away; sums of bool are "or".
Labelled summed(const Labelled& x, const Labels& needed) {
    Axes axes;
    Labels labels;
    for (size_t d = 0; d < x.labels.size(); ++d) {
        if (has(needed, x.labels[d]))
            labels.push_back(x.labels[d]);
        else
            axes.push_back(static_cast<int64_t>(d));
    }
    const bool is_bool = x.tensor.dtype() == DType::boolean;
    const Combiner sum = is_bool ? Combiner::any : Combiner::sum;
    return axes.empty() ? x : Labelled{ops::reduce(sum, x.tensor, axes), labels};
}

// The tensor with these labels, in order; missing ones have length 1.
Tensor aligned(const Labelled& x, const Labels& labels) {
    Axes order;
    Shape shape;
    for (int label : labels) {
        if (has(x.labels, label)) {
            order.push_back(place_of(x.labels, label));
            shape.push_back(x.tensor.shape()[static_cast<size_t>(order.back())]);
        } else {
            shape.push_back(1);
        }
    }
    return reshape(transpose(x.tensor, order), shape);
}

// The product of two, without the labels that are not needed.
Labelled product(const Labelled& a, const Labelled& b, const Labels& needed) {
    ops::Contraction contraction;
    Labels labels, free_b;
    for (size_t d = 0; d < a.labels.size(); ++d) {
        const int label = a.labels[d];
        if (!has(b.labels, label)) continue;
        const bool is_batch = has(needed, label);
        const int64_t other = place_of(b.labels, label);
        (is_batch ? contraction.batch_a : contraction.contracted_a)
            .push_back(static_cast<int64_t>(d));
        (is_batch ? contraction.batch_b : contraction.contracted_b).push_back(other);
        if (is_batch) labels.push_back(label);
    }
    for (int label : a.labels)
        if (!has(b.labels, label)) labels.push_back(label);
    for (int label : b.labels)
        if (!has(a.labels, label)) labels.push_back(label);
    if (!contraction.contracted_a.empty())
        return {ops::contract(a.tensor, b.tensor, contraction), labels};
    return {errors_as("einsum",
                      [&] { return apply("multiply", {aligned(a, labels), aligned(b, labels)}); }),
            labels};
}

std::vector<Labelled> labelled(const Subscripts& subscripts, const std::vector<Tensor>& operands,
                               int& dots) {
    std::vector<Labelled> result;
    const auto converted = errors_as("einsum", [&] { return promoted(operands); });
    for (size_t i = 0; i < operands.size(); ++i) {
        const int own = ellipsis_rank(subscripts.operands[i], operands[i], i);
        dots = std::max(dots, own);
        result.push_back({converted[i], labels_of(subscripts.operands[i], own)});
        result.back() = without_repeats(result.back());
    }
    return result;
}

void check_result(const Labels& result, const std::vector<Labelled>& operands,
                  std::string_view subscripts) {
    for (size_t i = 0; i < result.size(); ++i) {
        user_check(std::count(result.begin(), result.end(), result[i]) == 1,
                   "einsum: einstein sum subscripts string includes output subscript '",
                   static_cast<char>(result[i]), "' multiple times: '", subscripts, "'.");
        user_check(std::any_of(operands.begin(), operands.end(),
                               [&](const Labelled& x) { return has(x.labels, result[i]); }),
                   "einsum: einstein sum subscripts string included output subscript '",
                   static_cast<char>(result[i]), "' which never appeared in an input: '",
                   subscripts, "'.");
    }
}

}  // namespace

Tensor einsum(std::string_view subscripts, const std::vector<Tensor>& operands) {
    const ir::LocationScope quiet(ir::current_location(), nullptr);  // as NumPy's loops are
    const Subscripts parsed = split_subscripts(subscripts);
    user_check(parsed.operands.size() == operands.size(), "einsum: ",
               parsed.operands.size() > operands.size()
                   ? "fewer operands provided to einstein sum function than specified in the "
                     "subscripts string"
                   : "more operands provided to einstein sum function than specified in the "
                     "subscripts string",
               ": '", subscripts, "' names ", parsed.operands.size(), ", given are ",
               operands.size(), ".");
    int dots = 0;
    std::vector<Labelled> rest = labelled(parsed, operands, dots);
    user_check(!parsed.is_explicit || dots == 0 || parsed.result.find('.') != std::string::npos,
               "einsum: output has fewer dimensions than '...' broadcasts: '", subscripts,
               "'. Write '...' in the result, too.");
    const Labels result =
        parsed.is_explicit ? labels_of(parsed.result, dots) : implicit_result(parsed, dots);
    check_result(result, rest, subscripts);
    drop_broadcast_axes(rest);

    // Labels wanted after the first i operands: those of later ones, and of the result.
    Labelled left = rest[0];
    for (size_t i = 0; i < rest.size(); ++i) {
        Labels later = result;
        for (size_t j = i + 1; j < rest.size(); ++j)
            later.insert(later.end(), rest[j].labels.begin(), rest[j].labels.end());
        if (i > 0) {
            Labels own = later;
            own.insert(own.end(), left.labels.begin(), left.labels.end());
            left = product(left, summed(rest[i], own), later);
        }
        left = summed(left, later);
    }
    // A label of the result whose axes were all of length 1 is still there: drop_broadcast_axes
    // kept it.
    Axes order;
    for (int label : result) order.push_back(place_of(left.labels, label));
    return transpose(left.tensor, order);
}

}  // namespace composit::numpy
