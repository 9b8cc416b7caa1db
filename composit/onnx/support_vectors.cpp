// Support vector machines: kernels of rows and support vectors, decisions of pairs of classes,
// votes and probabilities.
#include "composit/functional/loops.h"
#include "composit/functional/scan.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/ml_models.h"
#include "composit/onnx/operators.h"

#include <algorithm>

namespace composit::onnx {
namespace support_vectors {
namespace {

using numpy::apply;

// Rows (batch, features), of floats.
Tensor rows_of(const Call& call) {
    const Tensor& x = call.tensor(0);
    call.check(x.rank() == 1 || x.rank() == 2, "an input of shape ", x.shape(),
               ". (batch, features) is required.");
    const Tensor rows = x.rank() == 1 ? numpy::expand_dims(x, 0) : x;
    return x.dtype() == DType::float64 ? rows : numpy::astype(rows, DType::float32);
}

// An attribute as a table of `rows` equal rows.
Tensor table(const Call& call, const std::string& name, int64_t rows, DType dtype) {
    const std::vector<double> numbers = call.numbers(name);
    const auto count = static_cast<int64_t>(numbers.size());
    call.check(rows > 0 && count > 0 && count % rows == 0, "attribute '", name, "' has ", count,
               " entries for ", rows, " rows. As many for each are required.");
    return numpy::astype(numpy::array<double>(numbers, {rows, count / rows}), dtype);
}

void check_features(const Call& call, const Tensor& x, const Tensor& vectors) {
    call.check(x.shape()[1] == vectors.shape()[1], "rows of ", x.shape()[1], " features for ",
               vectors.shape()[1], ". As many are required.");
}

// What the node's kernel gives for rows (batch, features) and vectors (count, features):
// (batch, count).
Tensor kernels_of(const Call& call, const Tensor& x, const Tensor& vectors) {
    check_features(call, x, vectors);
    const std::string kind = call.text("kernel_type", "LINEAR");
    std::vector<double> parameters = call.numbers("kernel_params");
    call.check(parameters.empty() || parameters.size() == 3, "attribute 'kernel_params' has ",
               parameters.size(), " entries. gamma, coef0 and the degree are required.");
    parameters.resize(3);
    const double gamma = parameters[0], added = parameters[1], degree = parameters[2];
    if (kind == "RBF") {
        // Of differences: a difference of squares would lose the digits of near rows.
        const Tensor apart = numpy::expand_dims(x, 1) - numpy::expand_dims(vectors, 0);
        return apply("exp", {numpy::sum(apart * apart, -1) * -gamma});
    }
    const Tensor products = numpy::matmul(x, numpy::transpose(vectors));
    if (kind == "LINEAR") return products;
    const Tensor scaled = products * gamma + added;
    if (kind == "POLY") return apply("power", {scaled, degree});
    call.check(kind == "SIGMOID", "kernel_type is '", kind,
               "'. LINEAR, POLY, RBF or SIGMOID is required.");
    return apply("tanh", {scaled});
}

Values regressor(Call& call) {
    const Tensor x = rows_of(call);
    const int64_t supports = call.integer("n_supports", 0);
    call.check<NotSupported>(call.integer("n_targets", 1) == 1, "n_targets is ",
                             call.integer("n_targets", 1), ". 1 is required.");
    const std::vector<double> rho = call.numbers("rho");
    call.check(rho.size() == 1, "attribute 'rho' has ", rho.size(), " entries. 1 is required.");
    const Tensor coefficients = table(call, "coefficients", 1, x.dtype());
    Tensor given = x;  // of linear models without vectors
    if (supports > 0)
        given = kernels_of(call, x, table(call, "support_vectors", supports, x.dtype()));
    check_features(call, given, coefficients);
    Tensor scores = numpy::matmul(given, numpy::transpose(coefficients)) + rho[0];
    if (call.flag("one_class")) scores = apply("where", {scores > 0.0, 1.0, -1.0});
    return {post_transformed(call, numpy::astype(scores, DType::float32))};
}

// ----- classes against each other
struct Pairs {
    int64_t classes;
    std::vector<std::pair<int64_t, int64_t>> all;  // (0, 1), (0, 2), …, (1, 2), …
};

Pairs pairs_of(int64_t classes) {
    Pairs pairs{classes, {}};
    for (int64_t i = 0; i < classes; ++i)
        for (int64_t j = i + 1; j < classes; ++j) pairs.all.emplace_back(i, j);
    return pairs;
}

// The decision of each pair (batch, pairs): above 0 for its first class. Coefficients (classes - 1,
// vectors): those of a class's vectors stand in the row of the class that they decide against.
Tensor decisions(const Call& call, const Tensor& kernels, const Pairs& pairs,
                 const std::vector<int64_t>& vectors_of_class) {
    const int64_t others = pairs.classes - 1;
    const Tensor coefficients = table(call, "coefficients", others, kernels.dtype());
    check_features(call, kernels, coefficients);
    std::vector<int64_t> ends;
    int64_t end = 0;
    for (const int64_t count : vectors_of_class) ends.push_back(end += count);
    ends.pop_back();
    const std::vector<Tensor> of_class = numpy::split(kernels, ends, 1);
    const std::vector<Tensor> weights = numpy::split(coefficients, ends, 1);
    std::vector<Tensor> sums;  // of each class, against each other
    for (size_t i = 0; i < of_class.size(); ++i)
        sums.push_back(numpy::matmul(of_class[i], numpy::transpose(weights[i])));
    const Tensor all = numpy::concatenate(sums, 1);
    std::vector<int64_t> of_first, of_second;
    for (const auto& [i, j] : pairs.all) {
        of_first.push_back(i * others + j - 1);
        of_second.push_back(j * others + i);
    }
    const std::vector<double> rho = call.numbers("rho");
    call.check(rho.size() == pairs.all.size(), "attribute 'rho' has ", rho.size(),
               " entries. One for each pair of classes is required: ", pairs.all.size(), ".");
    return numpy::take(all, numpy::array<int64_t>(of_first), 1) +
           numpy::take(all, numpy::array<int64_t>(of_second), 1) +
           numpy::astype(numpy::array<double>(rho), all.dtype());
}

// The class that most pairs decide for, the first of equals: (batch,).
Tensor most_voted(const Tensor& decided, const Pairs& pairs) {
    const auto count = static_cast<int64_t>(pairs.all.size());
    std::vector<int64_t> for_first(static_cast<size_t>(count * pairs.classes));
    std::vector<int64_t> for_second = for_first;
    for (int64_t k = 0; k < count; ++k) {
        const auto& [i, j] = pairs.all[static_cast<size_t>(k)];
        for_first[static_cast<size_t>(k * pairs.classes + i)] = 1;
        for_second[static_cast<size_t>(k * pairs.classes + j)] = 1;
    }
    const Shape shape{1, count, pairs.classes};
    const Tensor votes = apply(
        "where", {numpy::expand_dims(decided > 0.0, -1), numpy::array<int64_t>(for_first, shape),
                  numpy::array<int64_t>(for_second, shape)});
    return numpy::argmax(numpy::sum(votes, 1), -1);
}

// For each pair (i, j) the probability that it is i (batch, classes, classes), of decisions, by the
// sigmoid that was fitted for the pair.
Tensor pair_probabilities(const Call& call, const Tensor& decided, const Pairs& pairs) {
    const auto slope = call.numbers("prob_a"), offset = call.numbers("prob_b");
    call.check(slope.size() == pairs.all.size() && offset.size() == pairs.all.size(),
               "attributes 'prob_a' and 'prob_b' have ", slope.size(), " and ", offset.size(),
               " entries. One for each pair of classes is required: ", pairs.all.size(), ".");
    const Tensor argument = numpy::astype(decided, DType::float64) * numpy::array<double>(slope) +
                            numpy::array<double>(offset);
    constexpr double least = 1e-7;
    const Tensor first = apply(
        "minimum", {apply("maximum", {1.0 / (1.0 + apply("exp", {argument})), least}), 1 - least});
    // Of a table [0, probabilities of the firsts, of the seconds].
    const auto count = static_cast<int64_t>(pairs.all.size());
    std::vector<int64_t> places(static_cast<size_t>(pairs.classes * pairs.classes));
    for (int64_t k = 0; k < count; ++k) {
        const auto& [i, j] = pairs.all[static_cast<size_t>(k)];
        places[static_cast<size_t>(i * pairs.classes + j)] = 1 + k;
        places[static_cast<size_t>(j * pairs.classes + i)] = 1 + count + k;
    }
    const Tensor zero = numpy::full({first.shape()[0], 1}, 0.0, DType::float64);
    const Tensor all = numpy::concatenate({zero, first, 1 - first}, 1);
    return numpy::take(all, numpy::array<int64_t>(places, {pairs.classes, pairs.classes}), 1);
}

// Probabilities of classes (batch, classes) of those of pairs r: the minimum of the sum of (r_ji
// p_i
// - r_ij p_j)^2, by libsvm's iteration (T.-F. Wu, C.-J. Lin, R. C. Weng: Probability Estimates for
// Multi-class Classification by Pairwise Coupling, algorithm 2). It ends early, far from the
// minimum, and its last step is the result: each row keeps it from then on.
Tensor coupled(const Tensor& r, int64_t classes) {
    const auto count = static_cast<double>(classes);
    const Tensor transposed = numpy::swapaxes(r, 1, 2);
    const Tensor identity = numpy::eye(classes, std::nullopt, 0, DType::float64);
    const Tensor diagonal = numpy::sum(transposed * transposed, 2, {}, true) * identity;
    const Tensor q = diagonal - transposed * r;
    const Tensor rows = numpy::moveaxis(q, 1, 0);
    const Tensor start = numpy::full({r.shape()[0], classes}, 1 / count, DType::float64);
    const LoopBody sweep = [&](const Tensor&, const Tensors& state) {
        const Tensor& p = state[0];
        const Tensor products = numpy::sum(q * numpy::expand_dims(p, 1), 2);
        const Tensor total = numpy::sum(p * products, 1, {}, true);
        const Tensor error = numpy::max(apply("absolute", {products - total}), 1, true);
        const ScanBody step = [](const Tensors& carry, const Tensors& x) {
            const Tensor &now = carry[0], &sums = carry[1], &all = carry[2];
            const Tensor &row = x[0], &is_class = x[1];
            const Tensor own = numpy::sum(row * is_class, 1, {}, true);
            const Tensor of_class = numpy::sum(sums * is_class, 1, {}, true);
            const Tensor more = (all - of_class) / own;
            const Tensor scale = 1 + more;
            return Scanned{{(now + more * is_class) / scale, (sums + more * row) / scale,
                            (all + more * (more * own + 2 * of_class)) / scale / scale},
                           {}};
        };
        const Tensor after = scan(step, {p, products, total}, {rows, identity}).carry[0];
        return Tensors{apply("where", {error < 0.005 / count, p, after})};
    };
    return fori_loop(0, std::max<int64_t>(100, classes), sweep, Tensors{start}, "coupled")[0];
}

Values classifier(Call& call) {
    const Tensor x = rows_of(call);
    const auto classes = static_cast<int64_t>(label_count(call));
    call.check(classes >= 2, "there are ", classes,
               " labels of classes. Two or more are required.");
    const std::vector<int64_t> vectors = call.integers("vectors_per_class");
    Tensor scores, places;
    bool is_probability = false;
    if (vectors.empty()) {  // a linear model of each class
        const Tensor coefficients = table(call, "coefficients", classes, x.dtype());
        check_features(call, x, coefficients);
        const std::vector<double> rho = call.numbers("rho");
        call.check(!rho.empty(), "attribute 'rho' has no entries. One is required.");
        scores = numpy::matmul(x, numpy::transpose(coefficients)) + rho[0];
        places = numpy::argmax(scores, -1);
    } else {
        call.check(static_cast<int64_t>(vectors.size()) == classes,
                   "attribute 'vectors_per_class' has ", vectors.size(), " entries. ", classes,
                   " are required.");
        int64_t count = 0;
        for (const int64_t each : vectors) {
            call.check(each >= 0, "a class has ", each, " vectors. None or more are required.");
            count += each;
        }
        const Pairs pairs = pairs_of(classes);
        const Tensor kernels =
            kernels_of(call, x, table(call, "support_vectors", count, x.dtype()));
        scores = decisions(call, kernels, pairs, vectors);
        places = most_voted(scores, pairs);
        is_probability = !call.numbers("prob_a").empty();
        if (is_probability) scores = coupled(pair_probabilities(call, scores, pairs), classes);
    }
    scores = numpy::astype(scores, DType::float32);
    // One decision of two classes is given for both.
    if (scores.shape()[1] == 1) scores = numpy::concatenate({0 - scores, scores}, 1);
    return {labels_of(call, places), post_transformed(call, scores)};
}

}  // namespace
}  // namespace support_vectors

void add_support_vectors(Registry& registry) {
    constexpr std::string_view domain = "ai.onnx.ml";
    registry.add("SVMClassifier", support_vectors::classifier, domain);
    registry.add("SVMRegressor", support_vectors::regressor, domain);
}

}  // namespace composit::onnx
