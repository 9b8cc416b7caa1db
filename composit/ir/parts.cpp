// Modules from paths, and repetition by comparing a sequence with itself, moved by each length.
#include "composit/ir/parts.h"

#include "composit/ir/name.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

namespace composit::ir {
namespace {

constexpr int64_t longest = 3000;  // positions of what repeats

struct Span {
    int64_t begin, end;
};

// Equal stretches, one behind the other.
struct Stretches {
    int64_t offset, length, count;
};

// Those that leave out the most positions, at least `least`.
std::optional<Stretches> best_of(const int64_t* codes, int64_t count, int64_t least) {
    std::optional<Stretches> best;
    int64_t saved = least - 1;
    for (int64_t length = 1; length <= std::min(longest, count / 2); ++length) {
        if (count - length <= saved) break;
        for (int64_t i = 0; i < count - length;) {
            if (codes[i] != codes[i + length]) {
                ++i;
                continue;
            }
            const int64_t begin = i;
            while (i < count - length && codes[i] == codes[i + length]) ++i;
            const int64_t times = (i - begin) / length;
            if (times * length <= saved) continue;
            best = {begin, length, times + 1};
            saved = times * length;
        }
    }
    return best;
}

Folded folded_within(const std::vector<int64_t>& codes, Span whole, int64_t least) {
    Folded found;
    std::vector<Span> waiting = {whole};
    while (!waiting.empty()) {  // from the left; what stands behind a repeat waits
        const auto [first, last] = waiting.back();
        waiting.pop_back();
        const auto best = best_of(codes.data() + first, last - first, least);
        if (!best) {
            for (int64_t i = first; i < last; ++i) found.emplace_back(i);
            continue;
        }
        const int64_t begin = first + best->offset, end = begin + best->length * best->count;
        waiting.push_back({end, last});
        if (best->offset > 0) {
            waiting.push_back({begin, end});
            waiting.push_back({first, begin});
            continue;
        }
        found.emplace_back(Repeat{begin, best->length, best->count,
                                  folded_within(codes, {begin, begin + best->length}, least)});
    }
    return found;
}

using PartRef = std::shared_ptr<Part>;
// What a part holds: the codes of nodes, and the kinds and shapes of parts.
using Held = std::vector<std::pair<std::string, int64_t>>;

// The name without its numbers: what layers of one list have in common.
std::string kind_of(const std::string& name) {
    std::string kind;
    bool is_number = false;
    for (const char c : name) {
        const bool is_digit = '0' <= c && c <= '9';
        if (!is_digit) kind += c;
        if (is_digit && !is_number) kind += '#';
        is_number = is_digit;
    }
    return kind;
}

std::vector<int64_t> positions_of(const std::vector<PartItem>& items) {
    std::vector<int64_t> positions;
    for (const PartItem& item : items)
        if (const auto* const part = std::get_if<PartRef>(&item))
            positions.insert(positions.end(), (*part)->runs[0].begin(), (*part)->runs[0].end());
        else
            positions.push_back(std::get<int64_t>(item));
    return positions;
}

// Makes parts of paths, and joins those that are equal.
class Parts {
  public:
    Parts(const std::vector<int64_t>& codes, bool fold) : codes_(codes), fold_(fold) {
        found_[""] = root_;
    }

    // The part of that path; it and those around it are made when they are met.
    Part& at(const std::string& path) {
        PartRef& part = found_[path];
        if (part) return *part;
        const size_t dot = path.rfind('.');
        const std::string around = dot == std::string::npos ? "" : path.substr(0, dot);
        const PartRef made = std::make_shared<Part>();
        made->name = dot == std::string::npos ? path : path.substr(dot + 1);
        part = made;
        at(around).items.emplace_back(made);
        return *made;
    }

    std::vector<PartItem> finished() {
        (void)finish(*root_);
        return std::move(root_->items);
    }

  private:
    // A number for the shape of what a part holds: equal for parts of equal nodes. Folds it.
    int64_t finish(Part& part) {
        std::vector<int64_t> shapes(part.items.size());  // of parts, by their place
        Held whole;
        for (size_t i = 0; i < part.items.size(); ++i) {
            if (const auto* const inner = std::get_if<PartRef>(&part.items[i])) {
                const int64_t shape = finish(**inner);
                whole.emplace_back("part " + kind_of((*inner)->name), shape);
                shapes[i] = number_of({whole.back()});
            } else {
                whole.emplace_back("",
                                   codes_[static_cast<size_t>(std::get<int64_t>(part.items[i]))]);
            }
        }
        part.runs = {positions_of(part.items)};
        if (fold_) part.items = with_stretches(joined(part.items, shapes));
        const auto* const only =
            part.items.size() == 1 ? std::get_if<PartRef>(&part.items[0]) : nullptr;
        if (only && !part.name.empty() && !(*only)->name.empty() && (*only)->runs.size() == 1) {
            const PartRef inner = *only;
            part.name += "." + inner->name;
            part.items = inner->items;
        }
        return number_of(whole);
    }

    int64_t number_of(const Held& held) {
        return numbers_.try_emplace(held, static_cast<int64_t>(numbers_.size())).first->second;
    }

    // The items, parts of one shape with no other part between them as one.
    static std::vector<PartItem> joined(const std::vector<PartItem>& items,
                                        const std::vector<int64_t>& shapes) {
        std::vector<PartItem> result;
        PartRef first;
        int64_t shape = -1;
        for (size_t i = 0; i < items.size(); ++i) {
            const auto* const part = std::get_if<PartRef>(&items[i]);
            if (part && first && shapes[i] == shape) {
                first->runs.push_back((*part)->runs[0]);
                first->last = (*part)->name;
                continue;
            }
            result.push_back(items[i]);
            if (part) first = *part, shape = shapes[i];
        }
        return result;
    }

    // The items, nodes that repeat between two parts as one part without a name.
    std::vector<PartItem> with_stretches(const std::vector<PartItem>& items) const {
        std::vector<PartItem> result;
        std::vector<int64_t> waiting;
        const auto put = [&] {
            std::vector<int64_t> codes;
            for (const int64_t position : waiting)
                codes.push_back(codes_[static_cast<size_t>(position)]);
            for (const auto& piece : folded(codes)) result.push_back(placed(piece, waiting));
            waiting.clear();
        };
        for (const PartItem& item : items) {
            if (const auto* const position = std::get_if<int64_t>(&item)) {
                waiting.push_back(*position);
                continue;
            }
            put();
            result.push_back(item);
        }
        put();
        return result;
    }

    // A piece of a stretch, whose nodes have these positions.
    static PartItem placed(const std::variant<int64_t, Repeat>& piece,
                           const std::vector<int64_t>& positions) {
        if (const auto* const one = std::get_if<int64_t>(&piece))
            return positions[static_cast<size_t>(*one)];
        const auto& repeat = std::get<Repeat>(piece);
        const PartRef part = std::make_shared<Part>();
        for (const auto& inner : repeat.items) part->items.push_back(placed(inner, positions));
        for (int64_t run = 0; run < repeat.count; ++run) {
            const auto begin = positions.begin() + repeat.start + run * repeat.length;
            part->runs.emplace_back(begin, begin + repeat.length);
        }
        return part;
    }

    const std::vector<int64_t>& codes_;
    const bool fold_;
    const PartRef root_ = std::make_shared<Part>();
    std::unordered_map<std::string, PartRef> found_;
    std::map<Held, int64_t> numbers_;
};

// The names at the front that two paths share.
std::string common_path(const std::string& a, const std::string& b) {
    size_t shared = 0;
    for (size_t i = 0;; ++i) {
        const bool ends_a = i == a.size() || a[i] == '.', ends_b = i == b.size() || b[i] == '.';
        if (ends_a && ends_b) shared = i;
        if (i == a.size() || i == b.size() || a[i] != b[i]) return a.substr(0, shared);
    }
}

void note_drawn(const std::vector<PartItem>& items, std::vector<int64_t>& shown) {
    for (const PartItem& item : items) {
        if (const auto* const position = std::get_if<int64_t>(&item)) {
            shown[static_cast<size_t>(*position)] = *position;
            continue;
        }
        const Part& part = *std::get<std::shared_ptr<Part>>(item);
        note_drawn(part.items, shown);
        for (const std::vector<int64_t>& run : part.runs)
            for (size_t i = 0; i < run.size(); ++i)
                shown[static_cast<size_t>(run[i])] = shown[static_cast<size_t>(part.runs[0][i])];
    }
}

}  // namespace

Folded folded(const std::vector<int64_t>& codes, int64_t least) {
    const auto count = static_cast<int64_t>(codes.size());
    return folded_within(codes, {0, count}, std::max(least, count / 400));
}

std::vector<PartItem> parts_of(const std::vector<std::string>& paths,
                               const std::vector<int64_t>& codes, bool fold) {
    Parts parts(codes, fold);
    for (size_t i = 0; i < paths.size(); ++i)
        parts.at(paths[i]).items.emplace_back(static_cast<int64_t>(i));
    return parts.finished();
}

std::vector<int64_t> drawn_for(const std::vector<PartItem>& items, size_t count) {
    std::vector<int64_t> shown(count);
    note_drawn(items, shown);
    return shown;
}

std::vector<std::string> module_paths(const std::vector<const Node*>& order) {
    std::vector<std::string> paths;
    std::unordered_map<const Node*, size_t> places;
    for (const Node* const node : order) {
        places[node] = paths.size();
        paths.push_back(std::string(part_of(node->location())));
    }
    if (std::ranges::all_of(paths, [](const std::string& path) { return path.empty(); }))
        return paths;
    std::map<size_t, std::string> users;
    for (size_t i = 0; i < order.size(); ++i)
        for (const Tensor& operand : order[i]->operands()) {
            if (!is_constant(operand.node())) continue;
            const auto [user, is_first] = users.try_emplace(places.at(&operand.node()), paths[i]);
            if (!is_first) user->second = common_path(user->second, paths[i]);
        }
    for (auto& [place, path] : users) paths[place] = std::move(path);
    return paths;
}

}  // namespace composit::ir
