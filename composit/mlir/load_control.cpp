// Control flow: loops, choices, calls, tuples.
#include "composit/functional/while_loop.h"
#include "composit/mlir/region_bodies.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/matrices.h"

#include <algorithm>
#include <optional>

namespace composit::mlir {
namespace {

Tensors repeated(const Site& site) {
    site.check(site.operation.regions.size() == 2, "it has ", site.operation.regions.size(),
               " regions. A condition and a body are required.");
    return while_loop(
        [&](const Tensors& state) {
            const Tensors made = site.run(0, state);
            site.check<TypeError>(
                made.size() == 1 && made[0].dtype() == DType::boolean && made[0].rank() == 0,
                "its condition makes no bool, which is required.");
            return made[0];
        },
        [&](const Tensors& state) { return site.run(1, state); }, site.x);
}

// One of the regions: the one that is known, or the results of all, of which one is chosen.
Tensors chosen(const Site& site, const Tensor& place) {
    const auto count = static_cast<int64_t>(site.operation.regions.size());
    site.check(count > 0, "it has no regions. One or more are required.");
    if (!place.node().is_open()) {
        const ir::Array known = execute::evaluate_and_keep({ops::astype(place, DType::int64)})[0];
        const int64_t k = *known.data_as<int64_t>();
        return site.run(static_cast<size_t>(k < 0 || k >= count ? count - 1 : k), {});
    }
    Tensors results = site.run(static_cast<size_t>(count) - 1, {});
    for (int64_t k = count - 2; k >= 0; --k) {
        const Tensors others = site.run(static_cast<size_t>(k), {});
        site.check(others.size() == results.size(), "its regions return ", others.size(), " and ",
                   results.size(), " results. As many are required.");
        const Tensor number = ir::constant(ir::Array::of<int64_t>(DType::int64, {}, {k}));
        const Tensor is_this = ops::map("equal", {ops::astype(place, DType::int64), number});
        for (size_t i = 0; i < results.size(); ++i) {
            site.check<TypeError>(others[i].type() == results[i].type(), "its regions return ",
                                  others[i].type(), " and ", results[i].type(),
                                  ". Equal types are required.");
            results[i] = ops::map("where", {is_this, others[i], results[i]});
        }
    }
    return results;
}

Tensors called(const Site& site, const std::string& name) {
    return site.building.call(site.building.function(name), site.x);
}

// What composit itself wrote as a function under a name: the operation that it was. Nothing where
// it is none for these operands.
std::optional<Tensors> own_operation(const Site& site, std::string_view name) {
    const auto is_square = [](const Tensor& x) {
        const bool is_wide = x.dtype() == DType::float64 || x.dtype() == DType::complex128;
        return is_wide && x.rank() >= 2 && ops::rows(x) == ops::columns(x);
    };
    const auto& x = site.x;
    constexpr std::pair<std::string_view, ops::Combiner> scans[] = {
        {"cumsum", ops::Combiner::sum},
        {"cumprod", ops::Combiner::product},
        {"cummax", ops::Combiner::maximum},
        {"cummin", ops::Combiner::minimum}};
    for (const auto& [scan, combiner] : scans) {
        if (name != scan || x.size() != 1) continue;
        const syntax::Attribute& attributes = site.attribute({"composite_attributes"});
        const Axes axes = site.part(attributes, "axis");
        site.check(axes.size() == 1, "it has no axis, which is required.");
        site.checked_axes(axes, x[0].rank(), "axis");
        return Tensors{ops::scan(combiner, x[0], axes[0])};
    }
    if (name == "solve" && x.size() == 2 && is_square(x[0]) && x[1].dtype() == x[0].dtype() &&
        x[1].rank() == x[0].rank() && ops::batch_of(x[0]) == ops::batch_of(x[1]) &&
        ops::rows(x[0]) == ops::rows(x[1]))
        return Tensors{ops::solve(x[0], x[1])};
    if ((name == "inv" || name == "inv_or_nan") && x.size() == 1 && is_square(x[0]))
        return Tensors{ops::inv(x[0], name == "inv_or_nan")};
    if (name == "slogdet" && x.size() == 1 && is_square(x[0])) return ops::slogdet(x[0]);
    if (name == "astype" && x.size() == 1 && site.operation.results.size() == 1)
        return Tensors{ops::astype(x[0], site.result().dtype)};
    const ir::scalar::RowRef row = ir::scalar::find_row(name);
    if (!row || ir::scalar::is_user_row(*row) || static_cast<size_t>(row->arity) != x.size())
        return {};
    return Tensors{ops::map(row, x)};
}

bool has_types(const Tensors& made, const std::vector<ValueType>& types) {
    return std::ranges::equal(made, types, [](const Tensor& x, const ValueType& type) {
        return x.dtype() == type.dtype && syntax::fits(type.shape, x.shape());
    });
}

Tensors composed(const Site& site) {
    const std::vector<std::string>& words = site.operation.words;
    const std::string name = words.empty() ? site.word({"name"}) : words[0];
    constexpr std::string_view own = "composit.";
    if (name.starts_with(own)) {
        const auto made = own_operation(site, std::string_view(name).substr(own.size()));
        if (made && has_types(*made, syntax::tensors_of(site.operation.results))) return *made;
    }
    return called(site, site.word({"decomposition"}));
}

// A part of a tuple: tensors of the parts before it stand in front.
Tensors part_of_tuple(const Site& site) {
    site.check(site.operation.operands.size() == 1, "it has ", site.operation.operands.size(),
               " operands. One is required.");
    const syntax::Type& tuple = site.building.type_of(site.operation.operands[0]);
    const int64_t index = site.integer({"index"});
    site.check(tuple.kind == syntax::Type::Kind::tuple && index >= 0 &&
                   index < static_cast<int64_t>(tuple.parts.size()),
               "there is no part ", index, " of ", syntax::type_text(tuple),
               ". One of a tuple's is required.");
    std::vector<ValueType> before, part;
    for (int64_t i = 0; i < index; ++i)
        syntax::append_tensors(tuple.parts[static_cast<size_t>(i)], before);
    syntax::append_tensors(tuple.parts[static_cast<size_t>(index)], part);
    const auto first = site.x.begin() + static_cast<std::ptrdiff_t>(before.size());
    return {first, first + static_cast<std::ptrdiff_t>(part.size())};
}

}  // namespace

void add_control_loads(LoadRules& rules) {
    rules["stablehlo.while"] = repeated;
    rules["stablehlo.case"] = [](const Site& site) {
        site.check_operands(1);
        site.check<TypeError>(ir::is_integer(site.x[0].dtype()) && site.x[0].rank() == 0,
                              "the place is ", site.x[0].type(),
                              ". An integer without dimensions is required.");
        return chosen(site, site.x[0]);
    };
    rules["stablehlo.if"] = [](const Site& site) {
        site.check_operands(1);
        site.check<TypeError>(site.x[0].dtype() == DType::boolean && site.x[0].rank() == 0 &&
                                  site.operation.regions.size() == 2,
                              "the condition is ", site.x[0].type(),
                              ". A bool without dimensions, and two regions, are required.");
        return chosen(site, ops::map("invert", {site.x[0]}));
    };
    rules["func.call"] = [](const Site& site) { return called(site, site.word({"callee"})); };
    rules["stablehlo.composite"] = composed;
    rules["stablehlo.tuple"] = [](const Site& site) { return site.x; };
    rules["stablehlo.get_tuple_element"] = part_of_tuple;
    rules["stablehlo.map"] = [](const Site& site) {
        site.check(!site.x.empty(), "it has no operands. One or more are required.");
        for (const Tensor& x : site.x)
            site.check<TypeError>(x.shape() == site.x[0].shape(), "operands are ", site.x[0].type(),
                                  " and ", x.type(), ". Equal shapes are required.");
        return for_elements(site, 0, site.x);
    };
    // What orders effects, of which there are none.
    rules["stablehlo.create_token"] = [](const Site&) { return Tensors(); };
    rules["stablehlo.after_all"] = [](const Site&) { return Tensors(); };
}

}  // namespace composit::mlir
