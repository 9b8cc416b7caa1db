// Products against slow loops, einsum against its definition, errors with both shapes.
#include "composit/numpy/linear.h"

#include "composit/numpy/manipulation.h"
#include "values.h"

#include <functional>
#include <map>

namespace composit::numpy {
namespace {

// Small integers, so that every order of summation gives the same.
Tensor sample(const Shape& shape, int64_t start = 1) {
    std::vector<double> elements;
    for (int64_t i = 0; i < ir::element_count(shape); ++i)
        elements.push_back(static_cast<double>((start + i * 7) % 11 - 5));
    return array(elements, shape);
}

struct Case {
    Shape a, b, result;
};

// NumPy's matmul by its definition, over broadcast leading axes.
std::vector<double> slow_matmul(const Case& c) {
    const bool is_row = c.a.size() == 1, is_column = c.b.size() == 1;
    Tensor a = sample(c.a), b = sample(c.b, 3);
    if (is_row) a = reshape(a, {1, c.a[0]});
    if (is_column) b = reshape(b, {c.b[0], 1});
    const int64_t m = a.shape()[a.shape().size() - 2], k = a.shape().back(), n = b.shape().back();
    Shape batch = broadcast_shapes({Shape(a.shape().begin(), a.shape().end() - 2),
                                    Shape(b.shape().begin(), b.shape().end() - 2)});
    Shape wide_a = batch, wide_b = batch;
    wide_a.insert(wide_a.end(), {m, k});
    wide_b.insert(wide_b.end(), {k, n});
    const auto left = values<double>(broadcast_to(a, wide_a));
    const auto right = values<double>(broadcast_to(b, wide_b));
    std::vector<double> result;
    for (int64_t s = 0; s < ir::element_count(batch); ++s)
        for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
                double total = 0;
                for (int64_t l = 0; l < k; ++l)
                    total += left[static_cast<size_t>((s * m + i) * k + l)] *
                             right[static_cast<size_t>((s * k + l) * n + j)];
                result.push_back(total);
            }
    return result;
}

TEST(linear, matmul_follows_numpys_rules) {
    const std::vector<Case> cases{
        {{3, 4}, {4, 2}, {3, 2}},
        {{4}, {4}, {}},
        {{4}, {4, 2}, {2}},
        {{3, 4}, {4}, {3}},
        {{5, 3, 4}, {4, 2}, {5, 3, 2}},
        {{5, 3, 4}, {4}, {5, 3}},
        {{3, 4}, {5, 4, 2}, {5, 3, 2}},
        {{4}, {5, 4, 2}, {5, 2}},
        {{5, 3, 4}, {5, 4, 2}, {5, 3, 2}},
        {{2, 1, 3, 4}, {5, 4, 2}, {2, 5, 3, 2}},
        {{3, 4}, {1, 4, 2}, {1, 3, 2}},
        {{5, 3, 4}, {1, 1, 4, 2}, {1, 5, 3, 2}},
        {{3, 0}, {0, 2}, {3, 2}},
        {{0, 4}, {4, 2}, {0, 2}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(text(c.a, " @ ", c.b));
        expect_values<double>(matmul(sample(c.a), sample(c.b, 3)), c.result, slow_matmul(c));
    }
}

TEST(linear, operands_are_promoted) {
    EXPECT_EQ(matmul(ones({2, 2}, DType::float32), ones({2, 2}, DType::int32)).dtype(),
              DType::float64);
    EXPECT_EQ(dot(ones({2}, DType::int8), ones({2}, DType::uint8)).dtype(), DType::int16);
    expect_values<bool>(matmul(array<bool>({true, true}), array<bool>({true, true})), {}, {true});
}

TEST(linear, mistakes_name_both_shapes) {
    EXPECT_EQ(message_of<ValueError>([] { (void)matmul(zeros({3, 4}), zeros({5, 6})); }),
              "matmul: inner dimensions differ: a has shape (3, 4), b has shape (5, 6). a.shape[1] "
              "must equal b.shape[0].");
    expect_error<ValueError>([] { (void)matmul(zeros({2, 3, 4}), zeros({2, 3, 5})); },
                             "a.shape[2] must equal b.shape[1]");
    expect_error<ValueError>([] { (void)matmul(zeros({2, 3, 4}), zeros({3, 4, 5})); },
                             "could not be broadcast together with shapes (2,) (3,)");
    expect_error<ValueError>([] { (void)matmul(zeros({3}), zeros({})); },
                             "Input operand 1 does not have enough dimensions");
    expect_error<ValueError>([] { (void)tensordot(zeros({2, 3}), zeros({2, 3}), 1); },
                             "shape-mismatch for sum");
}

double sum_of_squares(const Tensor& x) {
    double total = 0;
    for (double element : values<double>(x)) total += element * element;
    return total;
}

TEST(linear, dot_inner_outer_vdot) {
    const Tensor a = sample({2, 3}), b = sample({4, 3, 2});
    EXPECT_EQ(dot(a, b).shape(), (Shape{2, 4, 2}));
    expect_values<double>(dot(a, b), {2, 4, 2}, values<double>(einsum("ij,kjl->ikl", {a, b})));
    expect_values<double>(dot(a, sample({})), {2, 3},
                          values<double>(einsum("ij,->ij", {a, sample({})})));
    expect_values<double>(inner(a, a), {2, 2}, values<double>(matmul(a, transpose(a))));
    expect_values<double>(outer(array<double>({1, 2}), array<double>({3, 4, 5})), {2, 3},
                          {3, 4, 5, 6, 8, 10});
    expect_values<double>(vdot(a, a), {}, {sum_of_squares(a)});
}

TEST(linear, tensordot) {
    const Tensor a = sample({2, 3, 4}), b = sample({4, 3, 5});
    expect_values<double>(tensordot(a, b, {1, 2}, {1, 0}), {2, 5},
                          values<double>(einsum("ijk,kjl->il", {a, b})));
    expect_values<double>(tensordot(sample({2, 3}), sample({3, 2}), 1), {2, 2},
                          values<double>(matmul(sample({2, 3}), sample({3, 2}))));
    EXPECT_EQ(tensordot(sample({2}), sample({3}), 0).shape(), (Shape{2, 3}));
}

// Sums over all labels, by the definition; single letters only.
std::vector<double> slow_einsum(const std::vector<std::string>& inputs, const std::string& result,
                                const std::vector<Tensor>& operands) {
    std::map<char, int64_t> lengths;
    for (size_t i = 0; i < inputs.size(); ++i)
        for (size_t d = 0; d < inputs[i].size(); ++d) {
            int64_t& length = lengths.try_emplace(inputs[i][d], 1).first->second;
            length = std::max(length, operands[i].shape()[d]);
        }
    std::vector<std::vector<double>> data;
    for (const Tensor& x : operands) data.push_back(values<double>(x));
    std::map<char, int64_t> at;
    const auto offset = [&](const std::string& labels, const Shape& shape) {
        int64_t place = 0;
        for (size_t d = 0; d < labels.size(); ++d)
            place = place * shape[d] + (shape[d] == 1 ? 0 : at[labels[d]]);
        return static_cast<size_t>(place);
    };
    Shape shape;
    for (char label : result) shape.push_back(lengths[label]);
    std::vector<double> totals(static_cast<size_t>(ir::element_count(shape)), 0);
    std::vector<char> order;
    for (const auto& [label, length] : lengths) order.push_back(label);
    const std::function<void(size_t)> visit = [&](size_t depth) {
        if (depth < order.size()) {
            for (int64_t i = 0; i < lengths[order[depth]]; ++i) {
                at[order[depth]] = i;
                visit(depth + 1);
            }
            return;
        }
        double product = 1;
        for (size_t i = 0; i < inputs.size(); ++i)
            product *= data[i][offset(inputs[i], operands[i].shape())];
        totals[offset(result, shape)] += product;
    };
    visit(0);
    return totals;
}

TEST(einsum, explicit_subscripts) {
    struct Sum {
        std::vector<std::string> inputs;
        std::string result;
        std::vector<Shape> shapes;
    };
    const std::vector<Sum> sums{
        {{"ij", "jk"}, "ik", {{2, 3}, {3, 4}}},
        {{"ij", "jk"}, "ki", {{2, 3}, {3, 4}}},
        {{"bij", "bjk"}, "bik", {{2, 3, 4}, {2, 4, 2}}},
        {{"ij"}, "ji", {{2, 3}}},
        {{"ij"}, "", {{2, 3}}},
        {{"ii"}, "i", {{3, 3}}},
        {{"ii"}, "", {{3, 3}}},
        {{"iji"}, "j", {{3, 2, 3}}},
        {{"iii"}, "i", {{3, 3, 3}}},
        {{"i", "j"}, "ij", {{2}, {3}}},
        {{"i", "i"}, "i", {{3}, {3}}},
        {{"i", "i"}, "", {{3}, {3}}},
        {{"ij", "jk", "kl"}, "il", {{2, 3}, {3, 2}, {2, 4}}},
        {{"ij", "ik", "il"}, "jkl", {{2, 3}, {2, 2}, {2, 4}}},
        {{"ijk", "ilm", "njm", "nlk"}, "", {{2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}}},
        {{"ij", "ij"}, "ij", {{1, 3}, {2, 1}}},
        {{"ij", "j"}, "i", {{2, 1}, {3}}},
        {{"ab", "cd"}, "ad", {{2, 2}, {3, 2}}},
    };
    for (const Sum& s : sums) {
        const std::string subscripts = join(s.inputs, ",") + "->" + s.result;
        SCOPED_TRACE(subscripts);
        std::vector<Tensor> operands;
        for (const Shape& shape : s.shapes)
            operands.push_back(sample(shape, static_cast<int64_t>(operands.size())));
        const Tensor found = einsum(subscripts, operands);
        EXPECT_EQ(values<double>(found), slow_einsum(s.inputs, s.result, operands));
    }
}

TEST(einsum, implicit_subscripts_and_ellipsis) {
    const Tensor a = sample({2, 3}), b = sample({3, 2});
    expect_values<double>(einsum("ij,jk", {a, b}), {2, 2}, values<double>(matmul(a, b)));
    expect_values<double>(einsum("ba", {a}), {3, 2}, values<double>(transpose(a)));
    expect_values<double>(einsum("ii", {matmul(a, b)}), {}, values<double>(trace(matmul(a, b))));
    const Tensor x = sample({4, 2, 3}), y = sample({3, 2});
    expect_values<double>(einsum("...ij,...jk->...ik", {x, y}), {4, 2, 2},
                          values<double>(matmul(x, y)));
    expect_values<double>(einsum("i...->...", {x}), {2, 3}, values<double>(einsum("ijk->jk", {x})));
    expect_values<double>(einsum("...,...", {x, a}), {4, 2, 3},
                          values<double>(einsum("ijk,jk->ijk", {x, a})));
}

TEST(einsum, mistakes) {
    const Tensor a = sample({2, 3});
    expect_error<ValueError>([&] { (void)einsum("ijk", {a}); }, "too many subscripts");
    expect_error<ValueError>([&] { (void)einsum("i", {a}); }, "no '...' ellipsis provided");
    expect_error<ValueError>([&] { (void)einsum("ij->k", {a}); }, "never appeared in an input");
    expect_error<ValueError>([&] { (void)einsum("ij->ii", {a}); }, "multiple times");
    expect_error<ValueError>([&] { (void)einsum("ij,jk", {a}); }, "fewer operands");
    expect_error<ValueError>([&] { (void)einsum("i1", {a}); }, "invalid subscript '1'");
    expect_error<ValueError>([&] { (void)einsum("ij,ij->ij", {a, sample({2, 4})}); },
                             "could not be broadcast together");
}

TEST(linear, diagonals) {
    const Tensor x = counting({3, 4});
    expect_values<double>(diagonal(x), {3}, {0, 5, 10});
    expect_values<double>(diagonal(x, 1), {3}, {1, 6, 11});
    expect_values<double>(diagonal(x, -1), {2}, {4, 9});
    expect_values<double>(diagonal(x, 9), {0}, {});
    expect_values<double>(diagonal(counting({2, 2, 2}), 0, 0, 2), {2, 2}, {0, 5, 2, 7});
    expect_values<double>(trace(x), {}, {15});
    expect_values<double>(diag(array<double>({1, 2}), 1), {3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0});
    expect_values<double>(diag(array<double>({1, 2}), -1), {3, 3}, {0, 0, 0, 1, 0, 0, 0, 2, 0});
    expect_values<double>(diag(array<double>({1, 2})), {2, 2}, {1, 0, 0, 2});
}

}  // namespace
}  // namespace composit::numpy
