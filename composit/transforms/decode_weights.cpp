// A Map that makes a product's right operand of narrower constants, and that product, as one
// DecodedContract over packed constants.
#include "composit/ir/kernel/fields.h"
#include "composit/ir/kernel/loops.h"
#include "composit/ir/operation.h"
#include "composit/transforms/product_operands.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Contract;
using ir::kernel::DecodedContract;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Map;
using ir::kernel::Pack;
using ir::kernel::Program;
using ir::kernel::Repeat;
using ir::scalar::Expr;

namespace {

using Strides = std::vector<int64_t>;

// Loops of some iterations each, and what they move, without those of one iteration.
void drop_single(Extents& extents, const std::vector<std::pair<Strides*, size_t>>& moved) {
    for (size_t d = extents.size(); d-- > 0;) {
        if (extents[d] != 1) continue;
        extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(d));
        for (const auto& [strides, first] : moved)
            strides->erase(strides->begin() + static_cast<std::ptrdiff_t>(first + d));
    }
}

// `map` with the Map that makes what its input of that number reads as a part of it.
std::optional<Map> composed(const Map& map, size_t input, const Map& maker) {
    Body user = map;
    const auto read = inputs_as_read(maker, user, input);
    if (!read) return std::nullopt;
    Map& result = std::get<Map>(user);
    std::vector<Access> inputs;
    std::vector<Expr> arguments, of_maker;
    const auto take = [&](const Access& access) {
        inputs.push_back(access);
        return Expr::argument(static_cast<int>(inputs.size()) - 1, access.dtype);
    };
    for (const Access& access : *read) of_maker.push_back(take(access));
    for (size_t k = 0; k < result.inputs.size(); ++k)
        arguments.push_back(k == input ? ir::scalar::substitute(maker.values, of_maker)[0]
                                       : take(result.inputs[k]));
    result.values = ir::scalar::substitute(result.values, arguments);
    result.inputs = std::move(inputs);
    return result;
}

// The product with what its operand is computed of, before tiles and packing: the loops over
// columns are those of the product.
std::optional<DecodedContract> joined(const Contract& contract, const Map& map) {
    const int operand = contract.right.buffer;
    Body product = contract;
    const auto inputs = inputs_as_read(map, product, right_of_contract);
    if (!inputs) return std::nullopt;
    const auto& c = std::get<Contract>(product);
    const size_t batch = c.batch.size();
    DecodedContract result{c.rows, c.columns, c.depth,       0,       true,
                           c.left, {},        map.values[0], c.output};
    for (Access* access : {&result.left, &result.output})
        access->strides.erase(access->strides.begin(),
                              access->strides.begin() + static_cast<std::ptrdiff_t>(batch));
    for (Access input : *inputs) {
        input.strides.erase(input.strides.begin(),
                            input.strides.begin() + static_cast<std::ptrdiff_t>(batch));
        result.inputs.push_back(std::move(input));
    }
    if (result.left.buffer == operand || result.output.buffer == operand) return std::nullopt;
    drop_single(result.rows, {{&result.left.strides, 0}, {&result.output.strides, 0}});
    std::vector<std::pair<Strides*, size_t>> by_depth, by_columns;
    const size_t k = result.depth.size(), n_rows = result.rows.size();
    by_columns.emplace_back(&result.output.strides, n_rows);
    by_depth.emplace_back(&result.left.strides, n_rows);
    for (Access& input : result.inputs) {
        by_columns.emplace_back(&input.strides, k);
        by_depth.emplace_back(&input.strides, 0);
    }
    drop_single(result.columns, by_columns);
    drop_single(result.depth, by_depth);
    return result;
}

// Cuts the loops over columns into tiles of `width` neighbours of the output. One loop may have a
// last tile of fewer.
bool make_tiles(DecodedContract& c, int64_t width) {
    const size_t rows = c.rows.size(), depth = c.depth.size();
    const auto insert = [&](size_t at, int64_t inner) {
        const auto cut = [&](Access& access, size_t before) {
            auto& strides = access.strides;
            const int64_t stride = strides[before + at];
            strides[before + at] = stride * inner;
            strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(before + at) + 1, stride);
        };
        for (Access& input : c.inputs) cut(input, depth);
        cut(c.output, rows);
        c.columns[at] = (c.columns[at] + inner - 1) / inner;
        c.columns.insert(c.columns.begin() + static_cast<std::ptrdiff_t>(at) + 1, inner);
    };
    const int64_t count = ir::element_count(c.columns);
    if (c.columns.empty()) return false;
    int64_t inside = 1;
    size_t at = c.columns.size();
    while (inside < width && at > 0) {
        --at;
        const int64_t extent = c.columns[at];
        if (width % (inside * extent) == 0) {
            inside *= extent;
        } else {
            const int64_t inner = width / inside;
            if (extent % inner != 0 && c.columns.size() > 1) return false;
            insert(at, inner);
            inside = width;
            ++at;
        }
    }
    if (inside != width || at > 1) return false;  // one loop goes over tiles
    if (at == 0) {                                // there is one tile alone
        c.columns.insert(c.columns.begin(), 1);
        for (Access& input : c.inputs)
            input.strides.insert(input.strides.begin() + static_cast<std::ptrdiff_t>(depth), 0);
        c.output.strides.insert(c.output.strides.begin() + static_cast<std::ptrdiff_t>(rows), 0);
    }
    c.last_columns = count - (c.columns[0] - 1) * width;
    int64_t step = 1;
    for (size_t d = c.columns.size(); d-- > 1; step *= c.columns[d])
        if (c.output.strides[rows + d] != step) return false;
    return true;
}

// Whether some loops of an access, from number `first` on, go through it as one loop does.
bool is_one_loop(const Access& access, size_t first, const Extents& extents) {
    for (size_t d = extents.size(); d-- > 1;)
        if (access.strides[first + d - 1] != access.strides[first + d] * extents[d]) return false;
    return true;
}

// Rows, and what is summed, are counted by one number each.
bool has_one_step(const DecodedContract& c) {
    return is_one_loop(c.left, c.rows.size(), c.depth) && is_one_loop(c.left, 0, c.rows) &&
           is_one_loop(c.output, 0, c.rows);
}

bool is_readable(ir::DType dtype) { return !ir::is_complex(dtype) && !ir::is_short_float(dtype); }

class Decoder {
  public:
    Decoder(Program program, const Target& target)
        : program_(std::move(program)), target_(target) {}

    Program run() {
        touched_.resize(program_.buffers.size(), 0);
        for (const Kernel& kernel : program_.kernels)
            ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
                for (const auto& buffers :
                     {ir::kernel::buffers_read(step), ir::kernel::buffers_written(step)})
                    for (int buffer : buffers) ++touched_[static_cast<size_t>(buffer)];
            });
        std::vector<Kernel> kernels = std::move(program_.kernels);
        decode(kernels);
        packs_.insert(packs_.end(), std::make_move_iterator(kernels.begin()),
                      std::make_move_iterator(kernels.end()));
        program_.kernels = std::move(packs_);
        return std::move(program_);
    }

  private:
    const Buffer& buffer(const Access& access) const {
        return program_.buffers[static_cast<size_t>(access.buffer)];
    }

    // Of a list and the lists of Repeats in it. A Map of constants may stand before the loop whose
    // products read what it makes: they read fewer bytes without it.
    void decode(std::vector<Kernel>& kernels) {
        std::vector<Kernel> done;
        around_.push_back(&done);
        for (Kernel& kernel : kernels) {
            if (auto* repeat = std::get_if<Repeat>(&kernel.body)) decode(repeat->kernels);
            if (const auto made = decoded(kernel)) kernel.body = *made;
            done.push_back(std::move(kernel));
        }
        around_.pop_back();
        kernels = std::move(done);
    }

    // The Map that makes what lies in the buffer, and the list that it stands in.
    std::pair<std::vector<Kernel>*, size_t> maker_of(int buffer) const {
        for (std::vector<Kernel>* list : around_)
            for (size_t k = 0; k < list->size(); ++k) {
                const auto* map = std::get_if<Map>(&(*list)[k].body);
                if (map != nullptr && map->outputs.size() == 1 && map->outputs[0].buffer == buffer)
                    return {list, k};
            }
        return {nullptr, 0};
    }

    // The product that `kernel` is, if the Map that makes its right operand is among those before
    // it, and no longer needed.
    std::optional<DecodedContract> decoded(const Kernel& kernel) {
        const auto* c = std::get_if<Contract>(&kernel.body);
        if (c == nullptr || c->output.dtype != ir::DType::float32 || !c->finish.values.empty())
            return std::nullopt;
        const int64_t rows = ir::element_count(c->rows), depth = ir::element_count(c->depth);
        if (ir::element_count(c->batch) != 1 || rows < 1 || rows > target_.most_decoded_rows ||
            depth == 0 || ir::element_count(c->columns) < target_.tile_columns)
            return std::nullopt;
        if (c->right.buffer == Access::position || c->right.buffer == c->left.buffer ||
            buffer(c->right).kind != BufferKind::temporary)
            return std::nullopt;
        std::vector<int> absorbed;
        const auto map = made_of_constants(c->right.buffer, absorbed);
        if (!map || !is_narrow(*map)) return std::nullopt;
        auto made = joined(*c, *map);
        if (!made || !make_tiles(*made, target_.tile_columns) || !has_one_step(*made))
            return std::nullopt;
        for (Access& input : made->inputs) input = packed(*made, input);
        for (int buffer : absorbed) {
            const auto [list, place] = maker_of(buffer);
            list->erase(list->begin() + static_cast<std::ptrdiff_t>(place));
        }
        return made;
    }

    // The Map that makes what lies in a buffer that only it and one other kernel touch, with the
    // Maps that make what it reads as parts of it; `absorbed`: what these make. Nothing unless all
    // of them read constants alone.
    std::optional<Map> made_of_constants(int buffer, std::vector<int>& absorbed) const {
        if (touched_[static_cast<size_t>(buffer)] != 2) return std::nullopt;
        const auto [list, place] = maker_of(buffer);
        if (list == nullptr) return std::nullopt;
        absorbed.push_back(buffer);
        Map map = std::get<Map>((*list)[place].body);
        for (size_t k = 0; k < map.inputs.size();) {
            const Access input = map.inputs[k];
            if (input.buffer == Access::position || !is_readable(input.dtype)) return std::nullopt;
            const BufferKind kind = this->buffer(input).kind;
            if (kind == BufferKind::constant) {
                ++k;
                continue;
            }
            if (kind != BufferKind::temporary) return std::nullopt;
            const auto maker = made_of_constants(input.buffer, absorbed);
            if (!maker) return std::nullopt;
            auto whole = composed(map, k, *maker);
            if (!whole || whole->inputs.size() > target_.most_inputs) return std::nullopt;
            map = std::move(*whole);
            k = 0;  // the inputs have other places
        }
        return map;
    }

    // Whether a Map reads much less than it writes, which is large.
    bool is_narrow(const Map& map) const {
        int64_t read = 0;
        for (const Access& input : map.inputs) read += buffer(input).bytes;
        return 4 * read <= 3 * buffer(map.outputs[0]).bytes &&
               buffer(map.outputs[0]).bytes >= target_.least_packed_bytes;
    }

    // The access to a copy in which the elements of a tile follow one another, depth by depth;
    // what is the same for all tiles stays where it is.
    Access packed(const DecodedContract& c, const Access& input) {
        const size_t k = c.depth.size();
        if (input.strides[k] == 0) return input;
        Pack pack;
        Access result = input;
        Strides from_across, from_depth;
        int64_t width = 1, step = 1;
        for (size_t d = c.columns.size(); d-- > 1;) {
            if (input.strides[k + d] == 0) continue;
            result.strides[k + d] = width;
            width *= c.columns[d];
        }
        step = width;
        for (size_t d = k; d-- > 0;) {
            if (input.strides[d] == 0) continue;
            result.strides[d] = step;
            step *= c.depth[d];
        }
        result.strides[k] = step;
        result.offset = 0;
        for (size_t d = 0; d < k; ++d)
            if (input.strides[d] != 0)
                pack.depth.push_back(c.depth[d]), from_depth.push_back(input.strides[d]);
        // A last tile of fewer columns is filled up.
        const bool is_whole = c.last_columns == ir::element_count(c.columns) / c.columns[0];
        if (is_whole) {
            for (size_t d = 0; d < c.columns.size(); ++d)
                if (input.strides[k + d] != 0)
                    pack.across.push_back(c.columns[d]),
                        from_across.push_back(input.strides[k + d]);
        } else {
            pack.across = {(c.columns[0] - 1) * c.columns[1] + c.last_columns};
            from_across = {input.strides[k + 1]};
        }
        pack.from = input;
        pack.from.strides = from_across;
        pack.from.strides.insert(pack.from.strides.end(), from_depth.begin(), from_depth.end());
        pack.panel_width = width;
        const uint64_t hash = ir::kernel::structural_hash({"", "", {}, pack});
        const auto key = std::pair(hash, input.buffer);
        const auto [found, is_new] =
            copies_.emplace(key, static_cast<int>(program_.buffers.size()));
        result.buffer = found->second;
        if (is_new) {
            const std::string of = buffer(input).name;
            const int number = ++names_[of];
            const std::string name = number > 1 ? of + "_" + std::to_string(number) : of;
            pack.to = {found->second, input.dtype, 0, {ir::element_count(pack.depth), 1}};
            program_.buffers.push_back(ir::kernel::buffer_of_copy(pack, "tiles_of_" + name));
            packs_.push_back({"pack_tiles_of_" + name, "pack tiles of " + of, {}, pack});
        }
        return result;
    }

    Program program_;
    const Target& target_;
    std::vector<int> touched_;                  // how many kernels touch each buffer
    std::vector<std::vector<Kernel>*> around_;  // what is done of the lists around, outermost first
    std::vector<Kernel> packs_;
    std::map<std::pair<uint64_t, int>, int> copies_;  // by what is copied
    std::map<std::string, int> names_;
};

}  // namespace

Program decode_weights(Program program, const Target& target) {
    if (target.most_decoded_rows == 0) return program;
    return without_unused_buffers(Decoder(std::move(program), target).run());
}

}  // namespace composit::transforms
