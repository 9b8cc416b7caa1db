// Ensembles of decision trees: all trees are walked at once, a level at a time, by gathering.
#include "composit/functional/loops.h"
#include "composit/nn/operations.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/ml_models.h"
#include "composit/onnx/operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace composit::onnx {
namespace trees {
namespace {

using numpy::apply;

enum Mode : int64_t { less_equal, less, greater_equal, greater, equal, not_equal, member, leaf };
constexpr std::array<std::string_view, 8> mode_names{"BRANCH_LEQ",    "BRANCH_LT", "BRANCH_GTE",
                                                     "BRANCH_GT",     "BRANCH_EQ", "BRANCH_NEQ",
                                                     "BRANCH_MEMBER", "LEAF"};
constexpr std::array<std::string_view, 6> mode_rows{"less_equal", "less",  "greater_equal",
                                                    "greater",    "equal", "not_equal"};

// Nodes of all trees, leaves among them, which lead to themselves.
struct Trees {
    std::vector<int64_t> modes, features, on_true, on_false, missing_is_true;
    std::vector<double> splits;
    std::vector<int64_t> roots;
    struct Weight {
        int64_t node, target;
        double weight;
    };
    std::vector<Weight> weights;
    int64_t targets = 0;

    [[nodiscard]] int64_t size() const { return static_cast<int64_t>(modes.size()); }
    int64_t add(int64_t mode, int64_t feature, double split, bool missing) {
        modes.push_back(mode);
        features.push_back(feature);
        splits.push_back(split);
        missing_is_true.push_back(missing);
        on_true.push_back(size() - 1);
        on_false.push_back(size() - 1);
        return size() - 1;
    }
};

// The longest way from a root to a leaf. ValueError where there is none: a way that comes back.
int64_t depth_of(const Call& call, const Trees& trees) {
    std::vector<std::pair<int64_t, int64_t>> waiting;
    for (const int64_t root : trees.roots) waiting.emplace_back(root, 0);
    int64_t deepest = 0, steps = 0;
    while (!waiting.empty()) {
        const auto [node, depth] = waiting.back();
        waiting.pop_back();
        deepest = std::max(deepest, depth);
        call.check(++steps <= 2 * trees.size() + static_cast<int64_t>(trees.roots.size()),
                   "nodes of trees lead to one node twice. Trees are required.");
        const auto place = static_cast<size_t>(node);
        if (trees.modes[place] == leaf) continue;
        waiting.emplace_back(trees.on_true[place], depth + 1);
        waiting.emplace_back(trees.on_false[place], depth + 1);
    }
    return deepest;
}

// Trees as tables that are walked: of nodes that ask, in order; a way that ends leads to `size`
// plus the row of the leaf's weights, of which equal ones are one.
struct Tables {
    std::vector<int32_t> modes, features, on_true, on_false, roots;
    std::vector<double> splits;
    std::vector<bool> missing_is_true;
    std::vector<double> weights;  // (rows, targets)

    [[nodiscard]] int64_t size() const { return static_cast<int64_t>(modes.size()); }
};

// `nothing`: what a leaf gives to targets that it has no weight for.
Tables tables_of(const Call& call, const Trees& trees, double nothing, bool is_extremum) {
    call.check(trees.targets > 0 && trees.targets < (int64_t{1} << 20), "there are ", trees.targets,
               " targets. A positive number is required.");
    constexpr int64_t most = std::numeric_limits<int32_t>::max() / 2;
    call.check<NotSupported>(trees.size() < most, "there are ", trees.size(),
                             " nodes of trees. Fewer than ", most, " are required.");
    std::map<int64_t, std::vector<double>> of_leaf;
    const std::vector<double> none(static_cast<size_t>(trees.targets), nothing);
    for (const Trees::Weight& each : trees.weights) {
        call.check(each.target >= 0 && each.target < trees.targets, "a leaf is of target ",
                   each.target, " of ", trees.targets, ". One of them is required.");
        double& entry =
            of_leaf.try_emplace(each.node, none).first->second[static_cast<size_t>(each.target)];
        entry = is_extremum ? each.weight : entry + each.weight;
    }
    Tables tables;
    std::map<std::vector<double>, int32_t> row_of;
    std::vector<int32_t> name_of(static_cast<size_t>(trees.size()));
    int32_t inner = 0;
    for (size_t i = 0; i < name_of.size(); ++i)
        if (trees.modes[i] != leaf) name_of[i] = inner++;
    for (size_t i = 0; i < name_of.size(); ++i) {
        if (trees.modes[i] != leaf) continue;
        const auto found = of_leaf.find(static_cast<int64_t>(i));
        const std::vector<double>& weights = found == of_leaf.end() ? none : found->second;
        const auto [row, is_new] = row_of.emplace(weights, static_cast<int32_t>(row_of.size()));
        if (is_new) tables.weights.insert(tables.weights.end(), weights.begin(), weights.end());
        name_of[i] = inner + row->second;
    }
    for (size_t i = 0; i < name_of.size(); ++i) {
        if (trees.modes[i] == leaf) continue;
        tables.modes.push_back(static_cast<int32_t>(trees.modes[i]));
        tables.features.push_back(static_cast<int32_t>(trees.features[i]));
        tables.splits.push_back(trees.splits[i]);
        tables.missing_is_true.push_back(trees.missing_is_true[i] != 0);
        tables.on_true.push_back(name_of[static_cast<size_t>(trees.on_true[i])]);
        tables.on_false.push_back(name_of[static_cast<size_t>(trees.on_false[i])]);
    }
    for (const int64_t root : trees.roots)
        tables.roots.push_back(name_of[static_cast<size_t>(root)]);
    return tables;
}

Tensor table(const std::vector<int32_t>& numbers) {
    return numpy::astype(numpy::array<int64_t>({numbers.begin(), numbers.end()}), DType::int32);
}

// The rows of the leaves' weights (batch, trees) at which the rows of x end.
Tensor leaves_of(const Call& call, const Trees& trees, const Tables& tables, const Tensor& x) {
    const Tensor start = numpy::broadcast_to(
        table(tables.roots), {x.shape()[0], static_cast<int64_t>(tables.roots.size())});
    const auto inner = static_cast<int32_t>(tables.size());
    if (inner == 0) return start;
    const Tensor modes = table(tables.modes), features = table(tables.features);
    const Tensor splits = numpy::astype(numpy::array<double>(tables.splits), x.dtype());
    const Tensor on_true = table(tables.on_true), on_false = table(tables.on_false);
    const std::vector<bool>& missing_is_true = tables.missing_is_true;
    const bool tracks_missing =
        std::find(missing_is_true.begin(), missing_is_true.end(), true) != missing_is_true.end();
    const Tensor missing_goes =
        table(std::vector<int32_t>(missing_is_true.begin(), missing_is_true.end()));
    const std::set<int32_t> used(tables.modes.begin(), tables.modes.end());
    const auto step = [&](const Tensor&, const Tensor& nodes) {
        const Tensor asks = nodes < inner;
        const Tensor node = apply("where", {asks, nodes, numpy::scalar(DType::int32, 0)});
        const Tensor values = numpy::take_along_axis(x, numpy::take(features, node, 0), 1);
        const Tensor split = numpy::take(splits, node, 0);
        Tensor goes;
        for (const int32_t mode : used) {
            const Tensor holds = apply(mode_rows[static_cast<size_t>(mode)], {values, split});
            goes = goes ? apply("where",
                                {apply("equal", {numpy::take(modes, node, 0), mode}), holds, goes})
                        : holds;
        }
        if (tracks_missing) {
            const Tensor missing =
                apply("not_equal", {numpy::take(missing_goes, node, 0), int64_t{0}});
            goes = apply("logical_or",
                         {goes, apply("logical_and", {missing, apply("isnan", {values})})});
        }
        const Tensor next =
            apply("where", {goes, numpy::take(on_true, node, 0), numpy::take(on_false, node, 0)});
        return apply("where", {asks, next, nodes});
    };
    return fori_loop(0, depth_of(call, trees), step, start) - inner;
}

// What leaves give to targets, joined over the trees: (batch, targets).
Tensor scores_of(const Call& call, const Trees& trees, const Tensor& x,
                 const std::string& aggregate) {
    const bool is_extremum = aggregate == "MIN" || aggregate == "MAX";
    call.check(is_extremum || aggregate == "SUM" || aggregate == "AVERAGE",
               "aggregate_function is '", aggregate, "'. SUM, AVERAGE, MIN or MAX is required.");
    const double infinity = std::numeric_limits<double>::infinity();
    const double nothing = aggregate == "MIN" ? infinity : aggregate == "MAX" ? -infinity : 0;
    const Tables tables = tables_of(call, trees, nothing, is_extremum);
    const auto rows = static_cast<int64_t>(tables.weights.size()) / trees.targets;
    const Tensor weights =
        numpy::astype(numpy::array<double>(tables.weights, {rows, trees.targets}), x.dtype());
    const Tensor given = numpy::take(weights, leaves_of(call, trees, tables, x), 0);
    if (aggregate == "MIN") return numpy::min(given, 1);
    if (aggregate == "MAX") return numpy::max(given, 1);
    const Tensor sums = numpy::sum(given, 1);
    return aggregate == "SUM" ? sums : sums / static_cast<double>(trees.roots.size());
}

// Floats of an attribute, or of the tensor that stands for it in doubles.
std::vector<double> numbers_of(const Call& call, const std::string& name) {
    if (const auto tensor = call.constant(name + "_as_tensor")) {
        const Array wide = call.known(numpy::astype(tensor->tensor(), DType::float64));
        return {wide.data_as<double>(), wide.data_as<double>() + wide.size()};
    }
    return call.numbers(name);
}

void check_counts(const Call& call, size_t count, size_t wanted, std::string_view name) {
    call.check(count == wanted, "attribute '", name, "' has ", count, " entries. ", wanted,
               " are required.");
}

// Trees of TreeEnsembleRegressor and TreeEnsembleClassifier; `prefix` is "target" or "class".
Trees named_trees(const Call& call, const std::string& prefix) {
    Trees trees;
    const auto tree_ids = call.integers("nodes_treeids"), node_ids = call.integers("nodes_nodeids");
    const auto modes = call.texts("nodes_modes");
    const auto features = call.integers("nodes_featureids");
    const auto on_true = call.integers("nodes_truenodeids");
    const auto on_false = call.integers("nodes_falsenodeids");
    auto missing = call.integers("nodes_missing_value_tracks_true");
    const std::vector<double> splits = numbers_of(call, "nodes_values");
    const size_t count = tree_ids.size();
    if (missing.empty()) missing.assign(count, 0);
    check_counts(call, node_ids.size(), count, "nodes_nodeids");
    check_counts(call, modes.size(), count, "nodes_modes");
    check_counts(call, features.size(), count, "nodes_featureids");
    check_counts(call, on_true.size(), count, "nodes_truenodeids");
    check_counts(call, on_false.size(), count, "nodes_falsenodeids");
    check_counts(call, splits.size(), count, "nodes_values");
    check_counts(call, missing.size(), count, "nodes_missing_value_tracks_true");
    std::map<std::pair<int64_t, int64_t>, int64_t> place_of;
    std::set<int64_t> known_trees;
    for (size_t i = 0; i < count; ++i) {
        const auto mode = std::find(mode_names.begin(), mode_names.end(), modes[i]);
        call.check(mode != mode_names.end() && mode - mode_names.begin() != member, "mode '",
                   modes[i], "' of a node. BRANCH_LEQ, …, or LEAF is required.");
        const bool is_leaf = modes[i] == "LEAF";
        place_of[{tree_ids[i], node_ids[i]}] = trees.add(
            mode - mode_names.begin(), is_leaf ? 0 : features[i], splits[i], missing[i] != 0);
        // The first node of a tree is its root.
        if (known_trees.insert(tree_ids[i]).second) trees.roots.push_back(static_cast<int64_t>(i));
    }
    const auto place = [&](int64_t tree, int64_t node) {
        const auto found = place_of.find({tree, node});
        call.check(found != place_of.end(), "there is no node ", node, " in tree ", tree,
                   ". A node of the tree is required.");
        return found->second;
    };
    for (size_t i = 0; i < count; ++i) {
        if (trees.modes[i] == leaf) continue;
        trees.on_true[i] = place(tree_ids[i], on_true[i]);
        trees.on_false[i] = place(tree_ids[i], on_false[i]);
    }
    const auto weight_trees = call.integers(prefix + "_treeids");
    const auto weight_nodes = call.integers(prefix + "_nodeids");
    const auto targets = call.integers(prefix + "_ids");
    const std::vector<double> weights = numbers_of(call, prefix + "_weights");
    check_counts(call, weight_nodes.size(), weight_trees.size(), prefix + "_nodeids");
    check_counts(call, targets.size(), weight_trees.size(), prefix + "_ids");
    check_counts(call, weights.size(), weight_trees.size(), prefix + "_weights");
    for (size_t i = 0; i < weights.size(); ++i)
        trees.weights.push_back({place(weight_trees[i], weight_nodes[i]), targets[i], weights[i]});
    return trees;
}

// A node of TreeEnsemble that asks for members asks for one after the other.
Trees trees_of_ensemble(const Call& call) {
    Trees trees;
    const auto number = [&](std::string_view name) {
        const auto tensor = call.constant(name);
        if (!tensor) return std::vector<double>();
        const Array wide = call.known(numpy::astype(tensor->tensor(), DType::float64));
        return std::vector<double>(wide.data_as<double>(), wide.data_as<double>() + wide.size());
    };
    const std::vector<double> modes = number("nodes_modes"), splits = number("nodes_splits");
    const std::vector<double> members = number("membership_values");
    const std::vector<double> leaf_weights = number("leaf_weights");
    const auto features = call.integers("nodes_featureids");
    const auto on_true = call.integers("nodes_truenodeids");
    const auto on_false = call.integers("nodes_falsenodeids");
    const auto true_leaf = call.integers("nodes_trueleafs");
    const auto false_leaf = call.integers("nodes_falseleafs");
    auto missing = call.integers("nodes_missing_value_tracks_true");
    const auto leaf_targets = call.integers("leaf_targetids");
    const size_t count = modes.size();
    if (missing.empty()) missing.assign(count, 0);
    check_counts(call, splits.size(), count, "nodes_splits");
    check_counts(call, features.size(), count, "nodes_featureids");
    check_counts(call, on_true.size(), count, "nodes_truenodeids");
    check_counts(call, on_false.size(), count, "nodes_falsenodeids");
    check_counts(call, true_leaf.size(), count, "nodes_trueleafs");
    check_counts(call, false_leaf.size(), count, "nodes_falseleafs");
    check_counts(call, missing.size(), count, "nodes_missing_value_tracks_true");
    check_counts(call, leaf_targets.size(), leaf_weights.size(), "leaf_targetids");
    trees.targets = call.integer("n_targets", 1);
    for (size_t i = 0; i < count; ++i) {
        call.check(modes[i] >= 0 && modes[i] <= static_cast<double>(member), "mode ", modes[i],
                   " of a node. A number from 0 to 6 is required.");
        trees.add(static_cast<int64_t>(modes[i]), features[i], splits[i], missing[i] != 0);
    }
    // Each way to a leaf is a node of its own, so that trees stay trees.
    const auto target_of = [&](bool is_leaf, int64_t id) {
        const auto limit = static_cast<int64_t>(is_leaf ? leaf_weights.size() : count);
        call.check(id >= 0 && id < limit, "a node leads to ", id, " of ", limit,
                   ". One of them is required.");
        if (!is_leaf) return id;
        const int64_t made = trees.add(leaf, 0, 0, false);
        trees.weights.push_back(
            {made, leaf_targets[static_cast<size_t>(id)], leaf_weights[static_cast<size_t>(id)]});
        return made;
    };
    for (size_t i = 0; i < count; ++i) {
        trees.on_true[i] = target_of(true_leaf[i] != 0, on_true[i]);
        trees.on_false[i] = target_of(false_leaf[i] != 0, on_false[i]);
    }
    size_t next_member = 0;
    for (size_t i = 0; i < count; ++i) {
        if (trees.modes[i] != member) continue;
        std::vector<double> asked;
        while (next_member < members.size() && !std::isnan(members[next_member]))
            asked.push_back(members[next_member++]);
        ++next_member;
        call.check(!asked.empty(),
                   "a node of mode BRANCH_MEMBER has no members. Some are "
                   "required in membership_values.");
        trees.modes[i] = equal;
        trees.splits[i] = asked[0];
        auto last = static_cast<int64_t>(i);
        const int64_t otherwise = trees.on_false[i], feature = trees.features[i];
        for (size_t k = 1; k < asked.size(); ++k) {
            const int64_t made = trees.add(equal, feature, asked[k], missing[i] != 0);
            const auto place = static_cast<size_t>(made);
            // The same subtree, again: the leaf, or the node, that a member leads to.
            const int64_t way = trees.on_true[i];
            if (trees.modes[static_cast<size_t>(way)] == leaf) {
                const int64_t copy = trees.add(leaf, 0, 0, false);
                for (const Trees::Weight each : std::vector<Trees::Weight>(trees.weights))
                    if (each.node == way) trees.weights.push_back({copy, each.target, each.weight});
                trees.on_true[place] = copy;
            } else {
                call.check<NotSupported>(false,
                                         "members of a node lead to a node. A leaf is "
                                         "required.");
            }
            trees.on_false[static_cast<size_t>(last)] = made;
            last = made;
        }
        trees.on_false[static_cast<size_t>(last)] = otherwise;
    }
    for (const int64_t root : call.integers("tree_roots")) {
        call.check(root >= 0 && root < static_cast<int64_t>(count), "a root is node ", root, " of ",
                   count, ". One of them is required.");
        trees.roots.push_back(root);
    }
    return trees;
}

Tensor rows_of(const Call& call) {
    const Tensor& x = call.tensor(0);
    call.check(x.rank() == 1 || x.rank() == 2, "an input of shape ", x.shape(),
               ". (batch, features) is required.");
    const Tensor rows = x.rank() == 1 ? numpy::expand_dims(x, 0) : x;
    return ir::is_floating(x.dtype()) ? rows : numpy::astype(rows, DType::float32);
}

void check_features(const Call& call, const Trees& trees, const Tensor& x) {
    for (const int64_t feature : trees.features)
        call.check(feature >= 0 && feature < x.shape()[1], "a node asks for feature ", feature,
                   " of ", x.shape()[1], ". One of them is required.");
    call.check(!trees.roots.empty(), "there are no trees. At least one is required.");
}

Tensor with_base(const Call& call, const Tensor& scores) {
    const std::vector<double> base = numbers_of(call, "base_values");
    if (base.empty()) return scores;
    return scores + numpy::astype(numpy::array<double>(base), scores.dtype());
}

Values ensemble(Call& call) {
    const Tensor x = rows_of(call);
    const Trees trees = trees_of_ensemble(call);
    check_features(call, trees, x);
    constexpr std::array<std::string_view, 4> aggregates{"AVERAGE", "SUM", "MIN", "MAX"};
    const int64_t aggregate = call.integer("aggregate_function", 1);
    call.check(aggregate >= 0 && aggregate < 4, "aggregate_function is ", aggregate,
               ". A number from 0 to 3 is required.");
    call.check<NotSupported>(call.integer("post_transform", 0) == 0, "post_transform is ",
                             call.integer("post_transform", 0), ". 0 (NONE) is required.");
    return {scores_of(call, trees, x, std::string(aggregates[static_cast<size_t>(aggregate)]))};
}

Values regressor(Call& call) {
    const Tensor x = rows_of(call);
    Trees trees = named_trees(call, "target");
    trees.targets = call.integer("n_targets", 1);
    check_features(call, trees, x);
    const Tensor scores = scores_of(call, trees, x, call.text("aggregate_function", "SUM"));
    return {post_transformed(call, numpy::astype(with_base(call, scores), DType::float32))};
}

// Of two classes one may have all weights: its score decides, against a half where scores are
// probabilities, else against 0.
Values classifier(Call& call) {
    const Tensor x = rows_of(call);
    Trees trees = named_trees(call, "class");
    trees.targets = static_cast<int64_t>(label_count(call));
    check_features(call, trees, x);
    std::set<int64_t> weighted;
    bool is_positive = true;
    for (const Trees::Weight& each : trees.weights) {
        weighted.insert(each.target);
        is_positive = is_positive && each.weight >= 0;
    }
    if (trees.targets == 2 && weighted.size() == 1) {
        for (Trees::Weight& each : trees.weights) each.target = 0;
        trees.targets = 1;
        const Tensor score =
            numpy::astype(with_base(call, scores_of(call, trees, x, "SUM")), DType::float32);
        const Tensor is_second = numpy::ravel(score > (is_positive ? 0.5 : 0.0));
        const Tensor first = is_positive ? 1 - score : 0 - score;
        return {labels_of(call, numpy::astype(is_second, DType::int64)),
                post_transformed(call, numpy::concatenate({first, score}, 1))};
    }
    const Tensor scores =
        numpy::astype(with_base(call, scores_of(call, trees, x, "SUM")), DType::float32);
    return {labels_of(call, numpy::argmax(scores, -1)), post_transformed(call, scores)};
}

}  // namespace
}  // namespace trees

void add_trees(Registry& registry) {
    using namespace trees;
    constexpr std::string_view domain = "ai.onnx.ml";
    registry.add("TreeEnsemble", ensemble, domain);
    registry.add("TreeEnsembleClassifier", classifier, domain);
    registry.add("TreeEnsembleRegressor", regressor, domain);
}

}  // namespace composit::onnx
