// The graph that tensors reach as a picture for people: boxes, arrows with types on them, clusters
// of calls and of the modules of a traced model.
//
//   write("graph.gv", dot(picture_of({loss})));
#pragma once

#include "composit/ir/node.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::ir {

struct PictureOptions {
    int64_t depth = 1;   // levels of calls that are clusters of what they compute; deeper: boxes
    int64_t fold = 200;  // in graphs of more nodes, what repeats is drawn once
    // Levels of modules that are clusters; deeper ones are boxes. Nothing: all are clusters.
    std::optional<int64_t> modules = std::nullopt;
};

// A box, or a cluster of others. Attributes are graphviz's, values plain texts; labels are short.
struct PictureItem {
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;
    bool is_cluster = false;
    std::vector<PictureItem> items = {};
};

struct PictureEdge {
    std::string source, sink, label;
    bool is_forward = true;  // else it leads back to what stands before
};

struct Picture {
    std::vector<PictureItem> items;
    std::vector<PictureEdge> edges;
    bool has_calls = false;  // some could be opened, or are
};

// The boxes and clusters in the order of computation, a point for each tensor's end, and arrows.
[[nodiscard]] Picture picture_of(const std::vector<Tensor>& outputs,
                                 const PictureOptions& options = {});

// The picture in graphviz's language.
[[nodiscard]] std::string dot(const Picture& picture);

}  // namespace composit::ir
