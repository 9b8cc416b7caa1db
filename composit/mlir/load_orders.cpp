// Orders: comparators of sorts that compare one number after another, and any others.
#include "composit/functional/functional.h"
#include "composit/ir/body.h"
#include "composit/ir/tracing.h"
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/region_bodies.h"
#include "composit/ops/components.h"

#include <algorithm>
#include <optional>

namespace composit::mlir {
namespace {

// What a comparator looks at first: operand `place`, as it is or by a formula.
struct SortKey {
    size_t place = 0;
    Tensor formula;  // of the parameter 2 * place; empty: the number itself
    bool is_descending = false;
};

// NaN behind all numbers, as composit's own orders are.
Tensor is_before(const Tensor& a, const Tensor& b) {
    const Tensor before = row("less", {a, b});
    if (!ir::is_floating(a.dtype())) return before;
    return row("bitwise_or",
               {before, row("bitwise_and", {row("equal", {a, a}), row("not_equal", {b, b})})});
}

// JAX's key of a float: one zero, one NaN, in the order of bits. It is composit's order.
Tensor in_jaxs_order(const Tensor& x) {
    const Tensor zero = jax::number(x.dtype(), 0),
                 nan = jax::number(x.dtype(), std::numeric_limits<double>::quiet_NaN());
    const Tensor one_zero = row("where", {row("equal", {x, zero}), zero, x});
    return row("where", {row("not_equal", {x, x}), nan, one_zero});
}

class Comparator {
  public:
    explicit Comparator(ScalarBody body) : body_(std::move(body)) {}

    // The keys, the first one first; nothing where the comparator is of another kind.
    std::optional<std::vector<SortKey>> keys() const {
        if (body_.results.size() != 1 || body_.results[0].dtype() != DType::boolean) return {};
        const ir::TraceScope scope;
        std::vector<SortKey> all;
        Tensor rest = body_.results[0];
        while (all.size() < body_.parameters.size()) {
            if (const auto key = last_key(rest)) {
                all.push_back(*key);
                return all;
            }
            // or(less(a, b), and(equal(a, b), rest))
            if (!is_row(rest, "bitwise_or")) return {};
            const Tensor first = rest.node().operand(0), behind = rest.node().operand(1);
            const auto key = compared(first);
            if (!key || !is_row(behind, "bitwise_and")) return {};
            const Tensor equal = behind.node().operand(0);
            const Tensors sides = first.node().operands();
            if (!is_same(equal, body_.parameters,
                         [&](const Tensors&) { return row("equal", sides); }))
                return {};
            all.push_back(*key);
            rest = behind.node().operand(1);
        }
        return {};
    }

    const Tensors& parameters() const { return body_.parameters; }

  private:
    static bool is_row(const Tensor& x, std::string_view name) {
        return ops::is_map(x.node()) && ops::specialisation_of(x.node()).row->name == name &&
               x.node().operands().size() == 2;
    }

    std::optional<SortKey> last_key(const Tensor& x) const {
        for (size_t k = 0; 2 * k + 1 < body_.parameters.size(); ++k)
            if (is_same(x, body_.parameters,
                        [&](const Tensors& p) { return is_before(p[2 * k], p[2 * k + 1]); }))
                return SortKey{k, {}, false};
        return compared(x);
    }

    // less(f(a), f(b)), or greater.
    std::optional<SortKey> compared(const Tensor& x) const {
        const bool is_less = is_row(x, "less"), is_greater = is_row(x, "greater");
        if (!is_less && !is_greater) return {};
        const Tensor &left = x.node().operand(0), &right = x.node().operand(1);
        for (size_t k = 0; 2 * k + 1 < body_.parameters.size(); ++k) {
            const Tensor &a = body_.parameters[2 * k], &b = body_.parameters[2 * k + 1];
            for (const bool is_turned : {false, true}) {
                const Tensor &of_a = is_turned ? right : left, &of_b = is_turned ? left : right;
                if (!depends_on(of_a, a)) continue;
                if (!is_same(of_b, body_.parameters,
                             [&](const Tensors&) { return ir::substitute({of_a}, {a}, {b})[0]; }))
                    continue;
                SortKey key{k, of_a, is_greater != is_turned};
                if (of_a == a || is_jaxs(of_a, a)) key.formula = {};
                return key;
            }
        }
        return {};
    }

    // On that parameter, and on no other.
    bool depends_on(const Tensor& x, const Tensor& parameter) const {
        bool does = false;
        for (const ir::Node* node : ir::topological_order({x})) {
            if (node == &parameter.node()) does = true;
            for (const Tensor& other : body_.parameters)
                if (node == &other.node() && !(other == parameter)) return false;
        }
        return does;
    }

    bool is_jaxs(const Tensor& of_a, const Tensor& a) const {
        return ir::is_floating(a.dtype()) && is_same(of_a, body_.parameters, [&](const Tensors&) {
                   return jax::total_order(in_jaxs_order(a));
               });
    }

    ScalarBody body_;
};

Tensor key_of(const Comparator& comparator, const SortKey& key, const Tensor& x) {
    Tensor made = x;
    if (key.formula) {
        const Tensor flat = ops::reshape(x, {x.size()});
        const Tensors all = vmap_function(
            [&](const Tensors& numbers) {
                return ir::substitute({key.formula}, {comparator.parameters()[2 * key.place]},
                                      numbers);
            },
            {flat}, InAxes(1, 0));
        made = ops::reshape(all[0], x.shape());
    }
    if (!key.is_descending) return made;
    return row(ir::is_inexact(made.dtype()) ? "negative" : "invert", {made});
}

constexpr int64_t most_compared = int64_t{1} << 24;  // pairs of elements

// The order by any comparator: each element's place is the number of those before it.
Tensor order_by_pairs(const Site& site, int64_t axis) {
    const Shape& shape = site.x[0].shape();
    const auto at = static_cast<size_t>(axis);
    const int64_t length = shape[at];
    site.check<NotSupported>(length == 0 || site.x[0].size() <= most_compared / length,
                             "its comparator compares no number after another, and there are ",
                             site.x[0].size(), " elements in rows of ", length,
                             ". A comparator as less(a, b), or fewer elements, is required.");
    // (…, length, …, length): an element with each of its row.
    Shape whole = shape;
    whole.push_back(length);
    Tensors pairs;
    for (const Tensor& x : site.x) {
        Shape apart = shape, along = shape;
        apart.push_back(1);
        Axes order;
        for (int64_t d = 0; d < x.rank(); ++d) order.push_back(d);
        order[at] = x.rank();
        order.push_back(axis);
        along[at] = 1;
        along.push_back(length);
        const Tensor ones = ops::reshape(x, apart);
        pairs.push_back(ops::broadcast_to(ones, whole));
        pairs.push_back(ops::broadcast_to(ops::transpose(ones, order), whole));
    }
    const Tensor goes_before = for_elements(site, 0, pairs).at(0);
    Axes swapped;
    for (int64_t d = 0; d < static_cast<int64_t>(whole.size()); ++d) swapped.push_back(d);
    std::swap(swapped[at], swapped.back());
    const Tensor comes_behind = ops::transpose(goes_before, swapped);
    const Tensor is_equal = row("invert", {row("bitwise_or", {goes_before, comes_behind})});
    const Tensor is_earlier = row("less", {jax::counted(length, whole.size() - 1, whole.size()),
                                           jax::counted(length, at, whole.size())});
    const Tensor counts =
        row("bitwise_or", {comes_behind, row("bitwise_and", {is_equal, is_earlier})});
    const Tensor places = ops::reduce(ops::Combiner::sum, ops::astype(counts, DType::int64),
                                      {static_cast<int64_t>(shape.size())});
    return ops::argsort(places, axis);
}

Tensors sorted(const Site& site) {
    site.check(!site.x.empty(), "it has no operands. One or more are required.");
    for (const Tensor& x : site.x)
        site.check<TypeError>(x.shape() == site.x[0].shape(), "it sorts ", site.x[0].type(),
                              " with ", x.type(), ". Equal shapes are required.");
    const int64_t rank = site.x[0].rank();
    int64_t axis = site.integer_or({"dimension"}, -1);
    if (axis < 0) axis += rank;
    site.checked_axes({axis}, rank, "dimension");
    const ScalarBody body = scalar_body(site, 0);
    site.check(body.parameters.size() == 2 * site.x.size(), "its comparator takes ",
               body.parameters.size(), " numbers. ", 2 * site.x.size(), " are required.");
    for (size_t i = 0; i < body.parameters.size(); ++i)
        site.check<TypeError>(body.parameters[i].dtype() == site.x[i / 2].dtype(),
                              "its comparator takes ", body.parameters[i].type(), " for ",
                              site.x[i / 2].type(), ". Equal dtypes are required.");
    site.check<TypeError>(body.results.size() == 1 && body.results[0].dtype() == DType::boolean &&
                              body.results[0].rank() == 0,
                          "its comparator makes no bool, which is required.");
    const Comparator comparator(body);
    const auto keys = comparator.keys();
    Tensor order;
    if (!keys) {
        order = order_by_pairs(site, axis);
    } else {
        if (site.x.size() == 1 && keys->size() == 1 && !(*keys)[0].formula &&
            !(*keys)[0].is_descending)
            return {ops::sort(site.x[0], axis)};
        for (auto key = keys->rbegin(); key != keys->rend(); ++key) {
            const Tensor values = key_of(comparator, *key, site.x[key->place]);
            const Tensor next =
                ops::argsort(order ? jax::taken_along(values, order, axis) : values, axis);
            order = order ? jax::taken_along(order, next, axis) : next;
        }
    }
    Tensors results;
    for (const Tensor& x : site.x) results.push_back(jax::taken_along(x, order, axis));
    return results;
}

Tensors greatest(const Site& site, const Tensor& x, int64_t count) {
    site.check(x.rank() > 0 && count >= 0 && count <= x.shape().back(), "k is ", count, " of ",
               x.type(), ". A number up to the length of the last axis is required.");
    return jax::apply("top_k", {x}, {{"k", count}});
}

}  // namespace

Tensors greatest_of_open(const Site& site) {
    site.check_operands(2);
    return greatest(site, site.x[0], site.number_of(site.x[1], "k"));
}

void add_order_loads(LoadRules& rules) {
    rules["stablehlo.sort"] = sorted;
    rules["chlo.top_k"] = [](const Site& site) {
        site.check_operands(1);
        return greatest(site, site.x[0], site.integer({"k"}));
    };
}

}  // namespace composit::mlir
