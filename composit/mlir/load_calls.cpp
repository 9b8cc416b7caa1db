// custom_call: functions that JAX's programs call by name; what devices share.
#include "composit/aten/linalg.h"
#include "composit/execute/execute.h"
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/building.h"
#include "composit/nn/differentiation.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/matrices.h"

#include <map>
#include <string>

namespace composit::mlir {
namespace {

using Kind = syntax::Attribute::Kind;

// A letter of LAPACK's, as JAX gives it: 76 is L.
char letter(const Site& site, std::string_view name) {
    const syntax::Attribute& config = site.attribute({"mhlo.backend_config"});
    const syntax::Attribute* const found = config.find(name);
    site.check(found != nullptr && found->kind == Kind::integer && found->integer > 0 &&
                   found->integer < 128,
               "its mhlo.backend_config has no ", name, ", which is required.");
    return static_cast<char>(found->integer);
}

// Zeros of the type that is written; open lengths are those of the batch.
Tensor zeros(const Site& site, size_t result) {
    ValueType type = site.result(result);
    const Shape& batch = site.x[0].shape();
    for (size_t d = 0; d < type.shape.size() && d < batch.size(); ++d)
        if (type.shape[d] == open_length) type.shape[d] = batch[d];
    return ops::full(type.shape, jax::number(type.dtype, 0));
}

void check_matrices(const Site& site, size_t count) {
    site.check_operands(count);
    for (const Tensor& x : site.x)
        site.check<TypeError>(ir::is_inexact(x.dtype()) && x.rank() > 0, "an operand is ", x.type(),
                              ". Floats or complex numbers are required.");
    site.check<TypeError>(site.x[0].rank() >= 2, "an operand is ", site.x[0].type(),
                          ". Matrices are required.");
}

void check_square(const Site& site) {
    site.check(ops::rows(site.x[0]) == ops::columns(site.x[0]), "an operand is ", site.x[0].type(),
               ". Square matrices are required.");
}

Tensor wide(const Tensor& x) {
    return ops::astype(x, ir::is_complex(x.dtype()) ? DType::complex128 : DType::float64);
}

// What LAPACK says of errors: none, as composit's are exceptions.
Tensor no_error(const Site& site, size_t result) { return zeros(site, result); }

Tensors potrf(const Site& site) {
    check_matrices(site, 1);
    check_square(site);
    const bool is_upper = letter(site, "uplo") == 'U';
    return {jax::apply("cholesky", site.x, {{"upper", is_upper}})[0], no_error(site, 1)};
}

Tensors getrf(const Site& site) {
    check_matrices(site, 1);
    const Tensors made = jax::apply("lu", site.x, {});
    const Tensor pivots = ops::map("add", {made[1], jax::integer_number(made[1].dtype(), 1)});
    return {made[0], pivots, no_error(site, 2)};
}

Tensors trsm(const Site& site) {
    check_matrices(site, 2);
    check_square(site);
    const char transpose = letter(site, "trans_x");
    return jax::apply("triangular_solve", site.x,
                      {{"left_side", letter(site, "side") == 'L'},
                       {"lower", letter(site, "uplo") == 'L'},
                       {"unit_diagonal", letter(site, "diag") == 'U'},
                       {"transpose_a", transpose != 'N'},
                       {"conjugate_a", transpose == 'C'}});
}

Tensors syevd(const Site& site) {
    check_matrices(site, 1);
    check_square(site);
    const bool is_lower = letter(site, "uplo") == 'L';
    const Tensors made = jax::apply("eigh", site.x, {{"lower", is_lower}});
    return {made[0], made[1], no_error(site, 2)};
}

// (the operand, singular values, u, v, an error)
Tensors gesdd(const Site& site) {
    check_matrices(site, 1);
    const char mode = letter(site, "mode");
    const bool has_vectors = mode != 'N';
    const Tensors made =
        jax::apply("svd", site.x, {{"compute_uv", has_vectors}, {"full_matrices", mode == 'A'}});
    return {site.x[0], made[0], has_vectors ? made[1] : zeros(site, 2),
            has_vectors ? made[2] : zeros(site, 3), no_error(site, 4)};
}

// R, and below its diagonal the vectors of reflections, through which no gradient goes: what is
// made of them, Q, is known by the matrix.
Tensors geqrf(const Site& site) {
    check_matrices(site, 1);
    const Tensor& x = site.x[0];
    const Tensors raw = ops::qr(wide(x), ops::QrMode::raw);
    const Tensor below = nn::stop_gradient(ops::minus(raw[0], ops::upper_triangle(raw[0])));
    const bool is_tall = ops::rows(x) >= ops::columns(x);
    Tensor r = ops::qr(wide(x), ops::QrMode::reduced)[1];
    if (is_tall) {
        Axes none(r.shape().size(), 0), high = none;
        high[high.size() - 2] = ops::rows(x) - ops::columns(x);
        r = ops::pad(r, jax::number(r.dtype(), 0), none, high, none);
    }
    const Tensor packed = ops::astype(ops::plus(r, below), x.dtype());
    site.building.keep_factored(packed, x);
    return {packed, ops::astype(nn::stop_gradient(raw[1]), x.dtype())};
}

Tensors orgqr(const Site& site) {
    check_matrices(site, 2);
    const Tensor &vectors = site.x[0], &tau = site.x[1];
    site.check(tau.rank() + 1 == vectors.rank() && tau.shape().back() <= ops::columns(vectors) &&
                   ops::columns(vectors) <= ops::rows(vectors),
               "operands are ", vectors.type(), " and ", tau.type(),
               ". As many rows as columns, and a number for each column, are required.");
    const Tensor matrix = site.building.factored_from(vectors);
    const Tensor q = matrix ? ops::qr(wide(matrix), ops::QrMode::reduced)[0]
                            : ops::columns_of(aten::householder_product(wide(vectors), wide(tau)),
                                              0, ops::columns(vectors));
    return {ops::astype(q, vectors.dtype())};
}

// What has no meaning on one device: the operands as they are.
Tensors as_it_is(const Site& site) { return site.x; }

// What JAX writes of lengths that are left open: a condition that a call's must meet.
Tensors asserted(const Site& site) {
    site.check(!site.x.empty() && site.x[0].dtype() == DType::boolean && site.x[0].rank() == 0,
               "it has no bool first, which is required.");
    if (site.x[0].node().is_open()) return {};
    const ir::Array known = execute::evaluate_and_keep({site.x[0]})[0];
    if (*known.data_as<bool>()) return {};
    std::string why = site.word_or({"error_message"}, "the text does not say why");
    for (size_t i = 1; i < site.x.size(); ++i) {  // numbers stand as {0}, {1}, …
        const std::string place = text("{", i - 1, "}");
        const size_t at = why.find(place);
        if (at == std::string::npos || site.x[i].node().is_open() || site.x[i].rank() != 0)
            continue;
        why.replace(at, place.size(), text(site.number_of(site.x[i], "a length")));
    }
    site.check(false, "the lengths of inputs do not fit: ", why);
    return {};
}

LoadRule primitive(std::string_view name) {
    return [name](const Site& site) {
        site.check(!site.x.empty(), "it has no operands. One or more are required.");
        return jax::apply(name, site.x, {});
    };
}

const std::map<std::string, LoadRule>& functions() {
    static const std::map<std::string, LoadRule> all = [] {
        std::map<std::string, LoadRule> made;
        for (const char* name : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                 "LayoutConstraint", "annotate_device_placement"})
            made[name] = as_it_is;
        made["shape_assertion"] = asserted;
        made["stablehlo.dynamic_reduce_window"] = reduced_dynamic_windows;
        made["stablehlo.dynamic_top_k"] = greatest_of_open;
        made["stablehlo.dynamic_rng_bit_generator"] = random_bits_of_open;
        constexpr struct {
            const char *name, *of;
        } elementwise[] = {
            {"mhlo.acos", "acos"},   {"mhlo.acosh", "acosh"}, {"mhlo.asin", "asin"},
            {"mhlo.asinh", "asinh"}, {"mhlo.atan", "atan"},   {"mhlo.atanh", "atanh"},
            {"mhlo.cosh", "cosh"},   {"mhlo.erf", "erf"},     {"mhlo.erfc", "erfc"},
            {"mhlo.sinh", "sinh"},   {"mhlo.tan", "tan"},     {"mhlo.square", "square"}};
        for (const auto& each : elementwise) made[each.name] = primitive(each.of);
        for (const std::string kind : {"s", "d", "c", "z"}) {
            const auto put = [&](const char* name, const LoadRule& rule) {
                made["lapack_" + kind + name + "_ffi"] = rule;
            };
            const bool is_real = kind == "s" || kind == "d";
            put("potrf", potrf);
            put("getrf", getrf);
            put("trsm", trsm);
            put(is_real ? "syevd" : "heevd", syevd);
            put("gesdd", gesdd);
            put("geqrf", geqrf);
            put(is_real ? "orgqr" : "ungqr", orgqr);
        }
        return made;
    }();
    return all;
}

Tensors called_by_name(const Site& site) {
    const std::string name = site.word({"call_target_name", "callee"});
    const auto found = functions().find(name);
    if (found == functions().end()) {
        std::vector<std::string> known;
        for (const auto& [each, rule] : functions())
            if (!each.starts_with("lapack_")) known.push_back(each);
        fail<NotSupported>("it calls '", name, "', a function of another library. One of ",
                           join(known), ", or JAX's of LAPACK, is required.");
    }
    // Operands that say how long results are: they are as long without.
    const Axes lengths = site.integers_or({"indices_of_shape_operands"}, {});
    if (lengths.empty()) return found->second(site);
    site.checked_axes(lengths, static_cast<int64_t>(site.x.size()), "indices_of_shape_operands");
    Tensors operands;
    for (size_t i = 0; i < site.x.size(); ++i)
        if (std::ranges::find(lengths, static_cast<int64_t>(i)) == lengths.end())
            operands.push_back(site.x[i]);
    return found->second(Site(site.building, site.operation, operands));
}

}  // namespace

void add_call_loads(LoadRules& rules) {
    rules["stablehlo.custom_call"] = called_by_name;
    rules["sdy.sharding_constraint"] = as_it_is;
}

}  // namespace composit::mlir
