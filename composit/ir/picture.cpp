// Which boxes a picture has, and from where to where its arrows go.
#include "composit/ir/picture.h"

#include "composit/base/error.h"
#include "composit/base/printable.h"
#include "composit/base/utf8.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ir/parts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <unordered_map>

namespace composit::ir {
namespace {

constexpr size_t longest_label = 60;  // characters

// Where arrows to and from a node end: at its box, or at those of a drawn call's ends.
struct Ends {
    std::string box;
    std::vector<std::string> entries = {}, exits = {};

    const std::string& entry(size_t operand) const {
        return entries.empty() && exits.empty() ? box : entries.at(operand);
    }
    const std::string& exit(int output) const {
        return exits.empty() ? box : exits.at(static_cast<size_t>(output));
    }
};

using Places = std::unordered_map<const Node*, Ends>;
using Names = std::unordered_map<const Node*, std::string>;

std::string shortened(const std::string& words) {
    size_t count = 0, begin_of_last = 0;
    for (size_t at = 0; at < words.size(); ++count) {
        if (count + 1 == longest_label) begin_of_last = at;
        const auto character = first_character(std::string_view(words).substr(at));
        at += character ? character->bytes : 1;
    }
    return count <= longest_label ? words : words.substr(0, begin_of_last) + "…";
}

const Body* body_of(const Node& node) {
    if (node.operation().name != "call") return nullptr;
    const Attribute* const body = node.attributes().find("body");
    return body ? std::get<std::shared_ptr<const Body>>(*body).get() : nullptr;
}

bool is_leaf_of_picture(const Node& node) { return is_constant(node) || is_input(node); }

PictureItem box_of(std::string name, const Node& node) {
    const std::string& own = node.name();
    const std::string words = shortened(own.empty() ? label(node) : own);
    const bool is_leaf = is_leaf_of_picture(node);
    const std::string& operation = node.operation().name;
    const bool is_call = operation == "call";
    return {std::move(name),
            {{"label", words.empty() ? operation : words},
             {"shape", is_leaf   ? "ellipse"
                       : is_call ? "box3d"
                                 : "box"},
             {"style", is_leaf ? "" : "rounded"}}};
}

// Equal for nodes that one box may stand for.
std::vector<int64_t> codes_of(const std::vector<const Node*>& order, bool is_folded) {
    std::vector<int64_t> codes;
    std::map<std::string, int64_t> numbers;
    for (const Node* node : order) {
        const auto next = static_cast<int64_t>(codes.size());
        if (!is_folded) {
            codes.push_back(next);
            continue;
        }
        std::string key = text(node->operation().name, '\n',
                               is_constant(*node) ? std::string() : label(*node), '\n');
        for (const TensorType& type : node->types())
            key += text(name(type.dtype), '[', join(type.shape), ']');
        codes.push_back(numbers.emplace(std::move(key), next).first->second);
    }
    return codes;
}

// The position in a name such as n12 or n12_3_in0, at the level of the outermost graph; -1: none.
int64_t number_in(const std::string& name) {
    const size_t begin = std::min(name.find_first_not_of('n'), name.size());
    const size_t end = std::min(name.find('_', begin), name.size());
    int64_t number = -1;
    const auto read = std::from_chars(name.data() + begin, name.data() + end, number);
    return read.ec == std::errc() && read.ptr == name.data() + end ? number : -1;
}

std::string label_of(const Part& part) {
    if (part.runs.size() < 2) return part.name;
    const std::string times = text(part.runs.size(), " times");
    return part.name.empty() ? times : text(part.name, " … ", part.last, ", ", times);
}

class Drawing {
  public:
    explicit Drawing(const PictureOptions& options) : options_(options) {}

    Picture draw(const std::vector<Tensor>& outputs) {
        const Places places = nodes(made_.items, outputs, "n", 0, {});
        for (size_t i = 0; i < outputs.size(); ++i) {
            const std::string end = text("out", i);
            made_.items.push_back(
                {end, {{"label", ""}, {"shape", "point"}, {"width", "0.08"}, {"height", "0.08"}}});
            edge(places, outputs[i], end);
        }
        return std::move(made_);
    }

  private:
    // A graph, or the inside of a call, whose nodes are being drawn.
    struct Level {
        const std::vector<const Node*>& order;
        Places& places;
        const std::string& prefix;
        int64_t depth;
        const Names& inputs;
        std::map<int64_t, size_t> closed = {};  // how many names of the path a closed module has
    };

    Places nodes(std::vector<PictureItem>& into, const std::vector<Tensor>& outputs,
                 const std::string& prefix, int64_t depth, const Names& inputs) {
        const std::vector<const Node*> order = topological_order(outputs);
        const std::vector<std::string> paths =
            depth == 0 ? module_paths(order) : std::vector<std::string>(order.size());
        const bool is_folded = static_cast<int64_t>(order.size()) > options_.fold;
        const auto parts = parts_of(paths, codes_of(order, is_folded), is_folded);
        const std::vector<int64_t> shown = drawn_for(parts, order.size());
        Places places;
        for (size_t i = 0; i < order.size(); ++i) {
            const auto given = inputs.find(order[i]);
            places[order[i]] = {given == inputs.end() ? text(prefix, i) : given->second};
        }
        Level level{order, places, prefix, depth, inputs};
        items(into, parts, level, 0, 0);
        std::unordered_map<const Node*, std::string> boxes;  // of nodes in closed modules
        for (size_t i = 0; i < order.size(); ++i) {
            places[order[i]] = places[order[static_cast<size_t>(shown[i])]];
            const auto closed = level.closed.find(shown[i]);
            if (closed != level.closed.end())
                boxes[order[i]] = first_names(paths[i], closed->second);
        }
        for (const Node* node : order)
            for (size_t i = 0; i < node->operands().size(); ++i) {
                const auto source = boxes.find(&node->operands()[i].node());
                const auto sink = boxes.find(node);
                const bool is_hidden =
                    source != boxes.end() && sink != boxes.end() && source->second == sink->second;
                if (!is_hidden) edge(places, node->operands()[i], places[node].entry(i));
            }
        return places;
    }

    static std::string first_names(const std::string& path, size_t count) {
        size_t end = 0;
        for (size_t i = 0; i < count && end != path.npos; ++i)
            end = path.find('.', i == 0 ? 0 : end + 1);
        return path.substr(0, end);
    }

    // Nodes, and parts within so many modules whose paths have so many names.
    void items(std::vector<PictureItem>& into, const std::vector<PartItem>& parts, Level& level,
               int64_t modules, size_t names) {
        for (const PartItem& item : parts) {
            if (const auto* const position = std::get_if<int64_t>(&item)) {
                const Node& node = *level.order[static_cast<size_t>(*position)];
                if (!level.inputs.count(&node))
                    this->node(into, node, level, text(level.prefix, *position));
                continue;
            }
            const Part& part = *std::get<std::shared_ptr<Part>>(item);
            const auto points = std::count(part.name.begin(), part.name.end(), '.');
            const size_t within = names + (part.name.empty() ? 0 : static_cast<size_t>(points) + 1);
            if (!part.name.empty() && options_.modules && modules >= *options_.modules) {
                close(into, part, level, within);
                continue;
            }
            PictureItem cluster{text("cluster_", level.prefix, "part", ++part_count_),
                                {{"label", shortened(label_of(part))},
                                 {"style", part.runs.size() > 1 ? "rounded,dashed" : "rounded"},
                                 {"color", "gray40"}},
                                true};
            items(cluster.items, part.items, level, modules + !part.name.empty(), within);
            into.push_back(std::move(cluster));
        }
    }

    // A module as one box.
    void close(std::vector<PictureItem>& into, const Part& part, Level& level, size_t names) {
        const std::vector<int64_t>& run = part.runs[0];
        const std::string box = text(level.prefix, run[0]);
        into.push_back(
            {box,
             {{"label", shortened(label_of(part))}, {"shape", "box3d"}, {"style", "rounded"}}});
        made_.has_calls = true;
        for (const int64_t position : run) {
            level.places[level.order[static_cast<size_t>(position)]] = {box};
            level.closed[position] = names;
        }
    }

    void node(std::vector<PictureItem>& into, const Node& node, Level& level,
              const std::string& name) {
        const Body* const body = body_of(node);
        made_.has_calls |= body != nullptr;
        if (!body || level.depth >= options_.depth) {
            into.push_back(box_of(name, node));
            return;
        }
        const std::string& own = node.name();
        PictureItem cluster{"cluster_" + name,
                            {{"label", shortened(own.empty() ? label(node) : own)},
                             {"style", "rounded,filled"},
                             {"fillcolor", "gray95"}},
                            true};
        Ends ends;
        Names inner;
        for (size_t i = 0; i < body->parameters.size(); ++i) {
            const Node& parameter = body->parameters[i].node();
            ends.entries.push_back(text(name, "_in", i));
            cluster.items.push_back(
                {ends.entries.back(), {{"label", shortened(parameter.name())}, {"shape", "cds"}}});
            inner[&parameter] = ends.entries.back();
        }
        const Places inside =
            nodes(cluster.items, body->results, name + "_", level.depth + 1, inner);
        for (const Tensor& result : body->results)
            ends.exits.push_back(inside.at(&result.node()).exit(result.output_index()));
        level.places[&node] = std::move(ends);
        into.push_back(std::move(cluster));
    }

    void edge(const Places& places, const Tensor& source, const std::string& sink) {
        const std::string& begin = places.at(&source.node()).exit(source.output_index());
        std::string words = text(name(source.dtype()), '[', join(source.shape()), ']');
        if (source.node().output_count() > 1) words = text(source.output_index(), ": ", words);
        const bool is_back =
            begin == sink || (sink.starts_with('n') && number_in(begin) > number_in(sink));
        const auto [found, is_new] =
            edges_.try_emplace(std::tuple(begin, sink, words), made_.edges.size());
        if (is_new)
            made_.edges.push_back({begin, sink, words, !is_back});
        else if (!is_back)
            made_.edges[found->second].is_forward = true;
    }

    const PictureOptions options_;
    Picture made_;
    std::map<std::tuple<std::string, std::string, std::string>, size_t> edges_;
    int part_count_ = 0;
};

void write_items(std::string& out, const std::vector<PictureItem>& items, size_t indent) {
    const std::string space(indent, ' ');
    for (const PictureItem& item : items) {
        if (item.is_cluster) {
            out += text(space, "subgraph ", item.name, " {\n");
            for (const auto& [name, value] : item.attributes)
                out += text(space, "  ", name, "=\"", in_label(value), "\";\n");
            write_items(out, item.items, indent + 2);
            out += text(space, "}\n");
            continue;
        }
        std::vector<std::string> words;
        for (const auto& [name, value] : item.attributes)
            words.push_back(text(name, "=\"", in_label(value), '"'));
        out += text(space, item.name, " [", join(words), "];\n");
    }
}

}  // namespace

Picture picture_of(const std::vector<Tensor>& outputs, const PictureOptions& options) {
    return Drawing(options).draw(outputs);
}

std::string dot(const Picture& picture) {
    std::string out = "digraph {\n  node [fontsize=11];\n  edge [fontsize=9];\n";
    write_items(out, picture.items, 2);
    for (const PictureEdge& edge : picture.edges)
        out += text("  ", edge.source, " -> ", edge.sink, " [label=\"", in_label(edge.label), '"',
                    edge.is_forward ? "" : ", constraint=false, style=dashed", "];\n");
    return out + "}\n";
}

}  // namespace composit::ir
