// Tile views, and which view each buffer of a program gets.
#include "composit/transforms/tile.h"

#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/transforms/tile_walk.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::Buffer;
using ir::kernel::Kernel;
using ir::kernel::Program;

std::string text_of(const TileView& view) {
    std::vector<std::string> levels;
    for (const TileLevel& level : view)
        levels.push_back(level.name + " " + tuple_text(level.tile) +
                         (level.order.empty() ? "" : " order " + tuple_text(level.order)));
    return levels.empty() ? "whole" : join(levels);
}

namespace {

// Whether a schema's text can hold it.
bool is_level_name(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return ascii::is_of_word(c) || c == '-' || c == '.';
    });
}

}  // namespace

void check_tile_view(const std::string& tensor, const ir::Shape& shape, const TileView& view) {
    std::set<std::string> names;
    const TileLevel* above = nullptr;
    for (const TileLevel& level : view) {
        const std::string where = text("mosaic: level '", level.name, "' of '", tensor, "'");
        user_check(is_level_name(level.name), where,
                   " has a name that a schema's text cannot hold. Letters, digits, '_', '-' and "
                   "'.', one at least, are required.");
        user_check(level.tile.size() == shape.size(), where, " has tiles of shape ", level.tile,
                   " for a tensor of shape ", shape, ". A length per dimension is required.");
        user_check(names.insert(level.name).second, where,
                   " occurs twice. Distinct levels are required.");
        for (size_t d = 0; d < shape.size(); ++d) {
            const int64_t length = above ? above->tile[d] : shape[d], tile = level.tile[d];
            user_check(tile >= 1 && length % tile == 0, where, ": tiles of ", tile,
                       " do not divide dimension ", d, ", which has ", length, " elements",
                       above ? " in a tile of level '" + above->name + "'" : "",
                       ". A divisor is required.");
        }
        std::vector<int> sorted = level.order, plain(shape.size());
        std::sort(sorted.begin(), sorted.end());
        std::iota(plain.begin(), plain.end(), 0);
        user_check(level.order.empty() || sorted == plain, where, ": the order ", level.order,
                   " does not name each of ", shape.size(), " dimensions once, which is required.");
        above = &level;
    }
}

TiledLayout::TiledLayout(const ir::Shape& shape, const TileView& view) {
    ir::Shape inside = shape;
    for (const TileLevel& level : view) {
        std::vector<int> order = level.order;
        if (order.empty()) {
            order.resize(shape.size());
            std::iota(order.begin(), order.end(), 0);
        }
        for (int d : order) {
            const auto at = static_cast<size_t>(d);
            axes.push_back({d, inside[at] / level.tile[at], level.tile[at], 0});
        }
        inside = level.tile;
    }
    for (size_t d = 0; d < shape.size(); ++d)
        axes.push_back({static_cast<int>(d), inside[d], 1, 0});
    int64_t stride = 1;
    for (size_t a = axes.size(); a-- > 0;) {
        axes[a].stride = stride;
        stride *= axes[a].length;
    }
}

ir::Shape TiledLayout::lengths() const {
    ir::Shape result;
    for (const Axis& axis : axes) result.push_back(axis.length);
    return result;
}

namespace {

// The names of all levels, each before those that it encloses.
std::vector<std::string> levels_in_order(const Program& program,
                                         const std::vector<std::pair<int, TileView>>& given) {
    std::vector<std::string> names;
    for (const auto& [number, view] : given) {
        size_t next = 0;  // where the view's next level may stand at the earliest
        for (size_t l = 0; l < view.size(); ++l) {
            const auto found = std::find(names.begin(), names.end(), view[l].name);
            if (found == names.end()) {
                // Before the first of the levels that it encloses here.
                auto place = names.end();
                for (size_t inner = l + 1; inner < view.size(); ++inner)
                    place = std::min(place, std::find(names.begin(), names.end(), view[inner].name),
                                     [](auto a, auto b) { return a < b; });
                next = static_cast<size_t>(names.insert(place, view[l].name) - names.begin()) + 1;
                continue;
            }
            const auto at = static_cast<size_t>(found - names.begin());
            user_check(at >= next, "mosaic: level '", view[l].name, "' of '",
                       program.buffers[static_cast<size_t>(number)].name, "' is inside '",
                       view[l == 0 ? 0 : l - 1].name,
                       "', but encloses it elsewhere. One order of levels is required.");
            next = at + 1;
        }
    }
    return names;
}

// Tiles of a loop at one level, and the dimension that they come from.
struct LoopTile {
    int64_t iterations = 0;
    int buffer = 0;
    size_t dimension = 0;
    int64_t tile = 0;
};

class Propagation {
  public:
    Propagation(const Program& program, const std::vector<std::pair<int, TileView>>& given)
        : program_(program), levels_(levels_in_order(program, given)), given_(given) {}

    std::vector<TileView> run() {
        for (const Kernel& kernel : program_.kernels)
            user_check<NotSupported>(
                given_.empty() || !std::holds_alternative<ir::kernel::Repeat>(kernel.body),
                "mosaic: tiles are given for a program with a loop, ", kernel.name,
                kernel.lines.empty() ? "" : " (" + join(kernel.lines) + ")",
                ". Tiles cannot go through loops yet: a program without them, or no tiles, are "
                "required.");
        for (const Kernel& kernel : program_.kernels)
            user_check<NotSupported>(
                given_.empty() || !takes_whole_arrays(kernel),
                "mosaic: tiles are given for a program with a foreign function, ", kernel.name,
                kernel.lines.empty() ? "" : " (" + join(kernel.lines) + ")",
                ". It reads and writes whole arrays: a program without it, or no tiles, are "
                "required.");
        bool is_stable = false;
        while (!is_stable) {
            views_.assign(program_.buffers.size(), {});
            is_written_.assign(program_.buffers.size(), false);
            for (const auto& [number, view] : given_)
                if (ir::element_count(buffer(number).shape) > 0)
                    views_[static_cast<size_t>(number)] = view;
            const size_t whole = whole_.size();
            for (const Kernel& kernel : program_.kernels) visit(kernel);
            is_stable = whole_.size() == whole;
        }
        return views_;
    }

  private:
    using LoopTiles = std::map<std::pair<int, std::string>, LoopTile>;

    const Buffer& buffer(int number) const { return program_.buffers[static_cast<size_t>(number)]; }
    TileView& view(int number) { return views_[static_cast<size_t>(number)]; }

    void visit(const Kernel& kernel) {
        if (std::holds_alternative<ir::kernel::Repeat>(kernel.body) || takes_whole_arrays(kernel))
            return;
        Body body = kernel.body;
        const size_t count = ir::kernel::accesses(body).size();
        for (size_t a = 0; a < count; ++a) settle(body, a, program_, {});
        const std::vector<bool> written = written_accesses(body);
        const LoopTiles tiles = tiles_of_loops(kernel, body, written);
        for (size_t a = 0; a < count; ++a)
            if (written[a]) take(body, a, tiles);
    }

    // From what the kernel reads.
    LoopTiles tiles_of_loops(const Kernel& kernel, Body& body, const std::vector<bool>& written) {
        LoopTiles tiles;
        const auto accesses = ir::kernel::accesses(body);
        for (size_t a = 0; a < accesses.size(); ++a) {
            const int number = accesses[a]->buffer;
            if (written[a] || number == Access::position || view(number).empty()) continue;
            const auto movers = movers_of(body, a);
            const Walk walk = walk_dimensions(buffer(number).shape, accesses[a]->offset, movers);
            if (!walk.is_possible || walk.needs) continue;
            for (const Steps& steps : walk.steps)
                for (const TileLevel& level : view(number))
                    offer(kernel, tiles, movers[steps.mover], steps, level, number);
        }
        for (const auto& [key, tile] : tiles) check_nesting(kernel, tiles, key, tile);
        return tiles;
    }

    void offer(const Kernel& kernel, LoopTiles& tiles, const Mover& mover, const Steps& steps,
               const TileLevel& level, int number) {
        const int64_t tile = level.tile[steps.dimension], step = std::abs(steps.step);
        if (mover.loop == Mover::data || tile % step != 0) return;
        const int64_t iterations = tile / step;
        if (iterations <= 1 || iterations >= mover.extent || mover.extent % iterations != 0) return;
        const LoopTile offered{iterations, number, steps.dimension, tile};
        const auto [found, is_new] = tiles.emplace(std::pair(mover.loop, level.name), offered);
        const LoopTile& other = found->second;
        user_check(is_new || other.iterations == iterations, "mosaic: ", label(kernel),
                   ": at level '", level.name, "' ", text_of_tile(other), " and ",
                   text_of_tile(offered),
                   ". Equal tiles, or one of the two whole, are required where an operation "
                   "meets both.");
    }

    std::string text_of_tile(const LoopTile& tile) const {
        return text("dimension ", tile.dimension, " of '", buffer(tile.buffer).name,
                    "' is in tiles of ", tile.tile);
    }
    static std::string label(const Kernel& kernel) {
        const std::string name = kernel.comment.empty() ? kernel.name : kernel.comment;
        return kernel.lines.empty() ? name : name + " (" + join(kernel.lines) + ")";
    }

    // Tiles of outer levels hold whole tiles of inner ones.
    void check_nesting(const Kernel& kernel, const LoopTiles& tiles, const LoopTiles::key_type& key,
                       const LoopTile& tile) const {
        const auto level = std::find(levels_.begin(), levels_.end(), key.second);
        for (auto inner = level + 1; inner < levels_.end(); ++inner) {
            const auto found = tiles.find({key.first, *inner});
            user_check(found == tiles.end() || tile.iterations % found->second.iterations == 0,
                       "mosaic: ", label(kernel), ": at level '", key.second, "' ",
                       text_of_tile(tile), ", and at level '", *inner, "' inside it ",
                       found == tiles.end() ? "" : text_of_tile(found->second),
                       ". Tiles that divide those around them are required.");
        }
    }

    // The view of what an access writes.
    void take(Body& body, size_t a, const LoopTiles& tiles) {
        const int number = ir::kernel::accesses(body)[a]->buffer;
        const auto at = static_cast<size_t>(number);
        if (is_written_[at] || whole_.contains(number)) {
            // Others wrote a part of it before: either this one can go through their tiles, too,
            // or all write it whole.
            if (!settle(body, a, program_, views_[at])) whole_.insert(number);
            return;
        }
        is_written_[at] = true;
        views_[at] = derived(body, a, tiles);
        if (!settle(body, a, program_, views_[at])) views_[at].clear();
    }

    TileView derived(Body& body, size_t a, const LoopTiles& tiles) const {
        const Access& access = *ir::kernel::accesses(body)[a];
        const ir::Shape& shape = buffer(access.buffer).shape;
        const auto movers = movers_of(body, a);
        const Walk walk = walk_dimensions(shape, access.offset, movers);
        if (!walk.is_possible || walk.needs) return {};
        TileView result;
        ir::Shape around = shape;
        for (const std::string& level : levels_) {
            ir::Shape tile = around;
            const LoopTile* first = nullptr;
            for (const Steps& steps : walk.steps) {
                const auto found = tiles.find({movers[steps.mover].loop, level});
                if (found == tiles.end()) continue;
                const size_t k = steps.dimension;
                const int64_t length = found->second.iterations * std::abs(steps.step);
                if (around[k] % length != 0 || length >= tile[k]) continue;
                tile[k] = length;
                first = &found->second;
            }
            if (tile == around) continue;
            result.push_back({level, tile, order_of(body, a, level, *first)});
            around = tile;
        }
        return result;
    }

    // The order of the tiles of the operand that gave a tile, if the access walks its dimensions
    // with the same loops as the operand's.
    std::vector<int> order_of(Body& body, size_t a, const std::string& level,
                              const LoopTile& from) const {
        const auto accesses = ir::kernel::accesses(body);
        for (size_t b = 0; b < accesses.size(); ++b) {
            if (accesses[b]->buffer != from.buffer || b == a) continue;
            if (loops_of_dimensions(body, a) != loops_of_dimensions(body, b)) return {};
            for (const TileLevel& one : views_[static_cast<size_t>(from.buffer)])
                if (one.name == level) return one.order;
        }
        return {};
    }

    std::vector<std::set<int>> loops_of_dimensions(Body& body, size_t a) const {
        const Access& access = *ir::kernel::accesses(body)[a];
        const auto movers = movers_of(body, a);
        const Walk walk = walk_dimensions(buffer(access.buffer).shape, access.offset, movers);
        std::vector<std::set<int>> loops(buffer(access.buffer).shape.size());
        for (const Steps& steps : walk.steps)
            loops[steps.dimension].insert(movers[steps.mover].loop);
        return loops;
    }

    const Program& program_;
    std::vector<std::string> levels_;
    const std::vector<std::pair<int, TileView>>& given_;
    std::vector<TileView> views_;
    std::vector<bool> is_written_;
    std::set<int> whole_;  // buffers that not all of their writers can write in tiles
};

}  // namespace

std::vector<TileView> propagate_tiles(const Program& program,
                                      const std::vector<std::pair<int, TileView>>& given) {
    for (const auto& [number, view] : given) {
        const Buffer& buffer = program.buffers[static_cast<size_t>(number)];
        check_tile_view(buffer.name, buffer.shape, view);
    }
    return Propagation(program, given).run();
}

}  // namespace composit::transforms
