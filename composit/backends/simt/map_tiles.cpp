#include "composit/backends/simt/map_tiles.h"

#include "composit/base/text.h"

#include <algorithm>
#include <cstdlib>

namespace composit::simt {
namespace {

using c_family::LoopNest;
using ir::kernel::Access;

constexpr int64_t tile = 32, rows_at_a_time = group_threads / tile;
constexpr int64_t most_bytes = 24 << 10;  // of shared memory

bool is_turned(const Access& access, size_t loop) {
    return access.buffer != Access::position && std::abs(access.strides[loop]) == 1 &&
           std::abs(access.strides.back()) >= tile / 2;
}

// The loop along which some input lies side by side while the outputs do along the last one; the
// number of loops where there is none.
size_t turned_loop(const LoopNest& nest, size_t inputs) {
    const size_t none = nest.extents.size();
    if (none < 2 || nest.extents.back() < tile / 2) return none;
    for (size_t a = inputs; a < nest.accesses.size(); ++a)
        if (std::abs(nest.accesses[a].strides.back()) != 1) return none;
    for (size_t d = 0; d + 1 < none; ++d) {
        if (nest.extents[d] < tile / 2) continue;
        int64_t bytes = 0;
        for (size_t k = 0; k < inputs; ++k)
            if (is_turned(nest.accesses[k], d))
                bytes += tile * (tile + 1) * ir::size_of(nest.accesses[k].dtype);
        if (bytes > 0 && bytes <= most_bytes) return d;
    }
    return none;
}

class TilePrinter {
  public:
    TilePrinter(KernelText& kernel, const ir::kernel::Map& map, const LoopNest& nest, size_t loop)
        : map_(map), nest_(nest), loop_(loop), f_(kernel, kernel.name) {}

    void print() {
        f_.index_type(nest_.extents, nest_.accesses);
        thread_ = f_.declare("int", "thread", f_.dialect().thread);
        const std::string group = f_.declare("tile", f_.dialect().group[0]);
        ir::kernel::Extents tiles = nest_.extents;
        for (const size_t d : {loop_, nest_.extents.size() - 1})
            tiles[d] = (tiles[d] + tile - 1) / tile;
        indices_ = f_.unflatten(group, tiles, "jklmno");
        across_ = f_.declare("int", "across", text(thread_, " % ", tile));
        down_ = f_.declare("int", "down", text(thread_, " / ", tile));
        for (size_t k = 0; k < map_.inputs.size(); ++k) {
            const Access& input = nest_.accesses[k];
            inputs_.push_back(is_turned(input, loop_)
                                  ? f_.local_array(memory_type(input.dtype),
                                                   f_.pointer(input) + "_tile", tile * (tile + 1))
                                  : "");
        }
        print_loads();
        f_.code.add(std::string(f_.dialect().barrier));
        print_values();
        f_.launch(ir::element_count(tiles), 1, group_threads);
    }

  private:
    // Opens a loop over a tile in rows of `down + s`, and says where in the nest `column` and that
    // row are: `turned` is the place along the turned loop, `last` that along the last one.
    struct Place {
        std::string s, turned, last;
    };
    Place open_rows(bool goes_along_turned) {
        Place place;
        place.s = f_.names.claim("s");
        f_.code.add("#pragma unroll");
        f_.code.open(text("for (int ", place.s, " = 0; ", place.s, " < ", tile, "; ", place.s,
                          " += ", rows_at_a_time, ")"));
        const std::string below = text(down_, " + ", place.s);
        place.turned = f_.declare(
            "row", text(indices_[loop_], " * ", tile, " + ", goes_along_turned ? across_ : below));
        place.last = f_.declare("column", text(indices_.back(), " * ", tile, " + ",
                                               goes_along_turned ? below : across_));
        std::vector<std::string> inside;
        if (nest_.extents[loop_] % tile != 0)
            inside.push_back(text(place.turned, " < ", nest_.extents[loop_]));
        if (nest_.extents.back() % tile != 0)
            inside.push_back(text(place.last, " < ", nest_.extents.back()));
        is_checked_ = !inside.empty();
        if (is_checked_) f_.code.open(text("if (", join(inside, " && "), ")"));
        return place;
    }
    void close_rows() {
        if (is_checked_) f_.code.close();
        f_.code.close();
    }
    std::vector<std::string> at(const Place& place) const {
        std::vector<std::string> indices = indices_;
        indices[loop_] = place.turned;
        indices.back() = place.last;
        return indices;
    }

    void print_loads() {
        const Place place = open_rows(true);
        for (size_t k = 0; k < inputs_.size(); ++k)
            if (!inputs_[k].empty())
                f_.code.add(text(inputs_[k], "[(", down_, " + ", place.s, ") * ", tile + 1, " + ",
                                 across_, "] = ", f_.element(nest_.accesses[k], at(place)), ";"));
        close_rows();
    }

    void print_values() {
        const Place place = open_rows(false);
        std::vector<c_family::ValueRead> arguments;
        for (size_t k = 0; k < inputs_.size(); ++k) {
            const Access& input = nest_.accesses[k];
            const bool is_position = input.buffer == Access::position;
            const std::string element = inputs_[k].empty()
                                            ? f_.element(input, at(place))
                                            : text(inputs_[k], "[", across_, " * ", tile + 1, " + ",
                                                   down_, " + ", place.s, "]");
            arguments.push_back(
                {is_position ? "position" : f_.pointer(input) + "_value", element, input.dtype});
        }
        const FunctionText::Computed computed = f_.compute_from(map_.values, arguments);
        for (const std::string& line : computed.lines) f_.code.add(line);
        for (size_t j = 0; j < map_.outputs.size(); ++j)
            f_.code.add(f_.element(nest_.accesses[inputs_.size() + j], at(place)) + " = " +
                        computed.results[j] + ";");
        close_rows();
    }

    const ir::kernel::Map& map_;
    const LoopNest& nest_;
    size_t loop_;
    FunctionText f_;
    bool is_checked_ = false;  // the open rows, for the end of the loops
    std::string thread_, across_, down_;
    std::vector<std::string> indices_, inputs_;  // inputs: the tiles' names; "": read in place
};

}  // namespace

bool print_in_tiles(KernelText& kernel, const ir::kernel::Map& map, const LoopNest& nest) {
    const size_t loop = turned_loop(nest, map.inputs.size());
    if (loop == nest.extents.size()) return false;
    TilePrinter(kernel, map, nest, loop).print();
    return true;
}

}  // namespace composit::simt
