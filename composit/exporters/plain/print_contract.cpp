// Contractions: tiles of sums, of a few rows and of columns that lie side by side in memory, which
// compilers keep in registers.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/kernel_text.h"

#include <algorithm>
#include <optional>

namespace composit::plain {
namespace {

using c_family::LoopNest;
using ir::DType;
using ir::kernel::Access;
using ir::kernel::AccessInLoops;
using ir::kernel::Contract;
using ir::kernel::Extents;

constexpr int64_t depth_of_block = 256;  // of the depth: a chain of multiply-adds
constexpr int64_t most_sums = 64;        // of a tile
constexpr int64_t most_of_a_row = 256;   // of a tile of one row: what is read is not read again
constexpr int64_t long_row = 4096;       // products of a row: from here vectors stand in registers
constexpr int64_t most_rows = 8;         // of a tile

// Everything over the loops of batch, rows and columns (`outer`), and then the depth.
struct ContractLoops {
    Extents outer, depth, all;
    Access left, right, output;
    std::vector<Access> finish_inputs, finish_outputs;  // over outer

    explicit ContractLoops(const Contract& c) {
        const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size();
        const auto spread = [&](const Access& access, bool has_rows, bool has_columns) {
            Access made = access;
            made.strides.assign(b + m + n, 0);
            size_t at = 0;
            for (size_t d = 0; d < b; ++d) made.strides[d] = access.strides[at++];
            if (!has_rows) at += c.depth.size();
            for (size_t d = 0; has_rows && d < m; ++d) made.strides[b + d] = access.strides[at++];
            for (size_t d = 0; has_columns && d < n; ++d)
                made.strides[b + m + d] = access.strides[at++];
            return made;
        };
        LoopNest around{ir::kernel::concatenate({c.batch, c.rows, c.columns}),
                        {c.output, spread(c.left, true, false), spread(c.right, false, true)}};
        for (const auto* accesses : {&c.finish.inputs, &c.finish.outputs})
            around.accesses.insert(around.accesses.end(), accesses->begin(), accesses->end());
        around = without_single(around);
        LoopNest inside{
            c.depth, {part_of(c.left, b + m, c.depth.size()), part_of(c.right, b, c.depth.size())}};
        inside = c_family::merge_loops(std::move(inside));
        outer = around.extents;
        depth = inside.extents;
        all = ir::kernel::concatenate({outer, depth});
        output = around.accesses[0];
        left = with_depth(around.accesses[1], inside.accesses[0]);
        right = with_depth(around.accesses[2], inside.accesses[1]);
        const auto inputs = around.accesses.begin() + 3;
        const auto outputs = inputs + static_cast<std::ptrdiff_t>(c.finish.inputs.size());
        finish_inputs.assign(inputs, outputs);
        finish_outputs.assign(outputs, around.accesses.end());
    }

    std::vector<AccessInLoops> accesses() const {
        std::vector<AccessInLoops> result = {{left, all}, {right, all}, {output, outer}};
        for (const auto* each : {&finish_inputs, &finish_outputs})
            for (const Access& access : *each) result.push_back({access, outer});
        return result;
    }

    // The loop whose sums lie side by side: where one operand and the output do, and the other
    // operand stays; where only an operand does, if that is longer than a vector and the output
    // does not fill one; none.
    std::optional<size_t> side_by_side() const {
        constexpr int64_t vector = 8;
        std::optional<size_t> found;
        for (size_t d = 0; d < outer.size(); ++d) {
            const bool runs = (left.strides[d] == 1 && right.strides[d] == 0) ||
                              (left.strides[d] == 0 && right.strides[d] == 1);
            if (!runs || outer[d] < 2) continue;
            if (output.strides[d] == 1 && outer[d] >= vector) return d;
            if (!found) {
                found = d;
                continue;
            }
            const bool is_better = output.strides[*found] == 1 ? outer[d] >= vector
                                   : output.strides[d] == 1    ? outer[*found] < vector
                                                               : outer[d] > outer[*found];
            if (is_better) found = d;
        }
        return found;
    }

    // The loop for which what lies side by side stays: each element of it is read once for several
    // of its sums. The longest of these; none.
    std::optional<size_t> reading_again(std::optional<size_t> lanes) const {
        std::optional<size_t> found;
        for (size_t d = 0; d < outer.size(); ++d) {
            const bool left_stays = left.strides[d] == 0, right_stays = right.strides[d] == 0;
            if (d == lanes || outer[d] < 2 || left_stays == right_stays) continue;
            if (lanes && left_stays != (right.strides[*lanes] == 0)) continue;
            if (!found || outer[d] > outer[*found]) found = d;
        }
        return found;
    }

  private:
    static Access with_depth(Access access, const Access& inside) {
        access.strides.insert(access.strides.end(), inside.strides.begin(), inside.strides.end());
        return access;
    }
};

// How many of a loop of `count` are worked on together: all, or a number that divides it if there
// is one.
int64_t together(int64_t count, int64_t most) {
    if (count <= most) return count;
    for (int64_t size = most; 2 * size > most; --size)
        if (count % size == 0) return size;
    return most;
}

class ContractPrinter {
  public:
    ContractPrinter(const Printing& printing, const Contract& contract)
        : contract_(contract),
          loops_(contract),
          text_(printing.begin(loops_.accesses())),
          dtype_(contract.output.dtype),
          count_(ir::element_count(loops_.depth)) {
        type_ = ir::is_floating(dtype_) || dtype_ == DType::boolean ? c_family::type_name(dtype_)
                : ir::size_of(dtype_) == 8                          ? "uint64_t"
                                                                    : "uint32_t";
        zero_ = dtype_ == DType::float32   ? "0.0f"
                : dtype_ == DType::float64 ? "0.0"
                : dtype_ == DType::boolean ? "false"
                                           : "0";
        const auto lanes = loops_.side_by_side(), rows = loops_.reading_again(lanes);
        if (rows) tile_.push_back({*rows, together(loops_.outer[*rows], most_rows), "", ""});
        if (!lanes) return;
        // A vector of 32 bytes for each of eight rows; longer ones where there are fewer.
        const int64_t vector = 32 / ir::size_of(dtype_), length = loops_.outer[*lanes];
        if (!rows && length % vector == 0 && length > vector && length * count_ >= long_row) {
            const int64_t vectors = together(length / vector, most_sums / vector);
            tile_ = {{*lanes, vectors, "", ""}, {*lanes, vector, "", ""}};
            return;
        }
        const int64_t room = rows ? most_sums / tile_[0].size : most_of_a_row;
        const int64_t size = length <= room ? length : std::max(vector, room / vector * vector);
        tile_.push_back({*lanes, std::min(length, size), "", ""});
    }

    KernelText print() {
        outer_ = text_.claim_indices(loops_.outer.size(), "ijmnpq");
        depth_ = text_.claim_indices(loops_.depth.size(), "klrstu");
        std::vector<std::string> around;
        for (size_t d = 0; d < outer_.size(); ++d)
            if (std::none_of(tile_.begin(), tile_.end(),
                             [&](const Side& side) { return side.loop == d; }))
                around.push_back(text_.header(outer_[d], loops_.outer[d]));
        std::vector<size_t> opened;  // how many loops each brace closes
        for (Side& side : tile_) {
            if (has_vectors() && &side == &tile_[0]) continue;  // one loop over the tiles
            const std::string place = begin_tiles(side, around);
            if (place.empty()) continue;
            text_.open(around);
            opened.push_back(around.size());
            around.clear();
            code().add(place);
        }
        text_.open(around);
        print_tile();
        text_.close(around.size());
        for (size_t k = opened.size(); k-- > 0;) text_.close(opened[k]);
        return std::move(text_);
    }

  private:
    // A loop of a tile: `size` indices of an outer loop.
    struct Side {
        size_t loop = 0;
        int64_t size = 1;
        std::string index, header;
    };

    c_family::Lines& code() { return text_.code; }

    bool has_blocks() const { return ir::is_floating(dtype_) && count_ > depth_of_block; }

    // Whether the tile is one of a row: several vectors of its columns.
    bool has_vectors() const { return tile_.size() == 2 && tile_[0].loop == tile_[1].loop; }

    // Adds the loop over the tiles along a side, if there are several. Where the size does not
    // divide the length, the last tile begins earlier, and computes some of the sums again: the
    // statement that says where.
    std::string begin_tiles(Side& side, std::vector<std::string>& around) {
        std::string& place = outer_[side.loop];
        const int64_t length = loops_.outer[side.loop];
        const int64_t size = has_vectors() ? tile_[0].size * side.size : side.size;
        const auto begin = [&](Side& loop, const std::string& index) {
            loop.index = index;
            loop.header = text_.header(index, loop.size);
        };
        begin(side,
              side.size == length ? place : text_.names.claim(&side == &tile_.back() ? "q" : "p"));
        std::string within = side.index;
        if (has_vectors()) {
            begin(tile_[0], text_.names.claim("p"));
            within = text(side.size, " * ", tile_[0].index, " + ", side.index);
        }
        if (size == length) {
            place = has_vectors() ? "(" + within + ")" : within;
            return "";
        }
        std::string start = place, statement;
        if (length % size != 0) {
            start = text_.names.claim("start");
            const int64_t last = length - size;
            statement = text("const ", text_.index(), " ", place, " = ", start, " < ", last, " ? ",
                             start, " : ", last, ";");
        }
        around.push_back(text_.header(start, "0", text(length), size));
        place = "(" + place + " + " + within + ")";
        return statement;
    }

    // sum = sum + left * right, as a statement.
    std::string add_product(const std::string& sum) const {
        std::vector<std::string> indices = outer_;
        indices.insert(indices.end(), depth_.begin(), depth_.end());
        const std::string a = text_.element(loops_.left, loops_.all, indices);
        const std::string b = text_.element(loops_.right, loops_.all, indices);
        if (ir::is_floating(dtype_))
            return text(sum, " = fma_", dtype_, "(", a, ", ", b, ", ", sum, ");");
        if (dtype_ == DType::boolean) return text(sum, " = ", sum, " || (", a, " && ", b, ");");
        const auto wide = [&](const std::string& x) {
            return type_ == c_family::type_name(dtype_) ? x : converted(text_.language(), type_, x);
        };
        return text(sum, " += ", wide(a), " * ", wide(b), ";");
    }

    // The statements that give the results of a sum.
    std::vector<std::string> results(std::string sum) const {
        if (type_ != c_family::type_name(dtype_))
            sum = converted(text_.language(), c_family::type_name(dtype_), sum);
        const auto& values = contract_.finish.values;
        const std::string to = text_.element(loops_.output, loops_.outer, outer_);
        if (values.empty()) return {to + " = " + sum + ";"};
        const auto computed = text_.compute(values, loops_.finish_inputs, loops_.outer, outer_,
                                            c_family::ValueRead{"sum", sum, dtype_});
        std::vector<std::string> lines = computed.lines;
        for (size_t j = 0; j < values.size(); ++j)
            lines.push_back(
                (j == 0 ? to : text_.element(loops_.finish_outputs[j - 1], loops_.outer, outer_)) +
                " = " + computed.results[j] + ";");
        return lines;
    }

    std::vector<std::string> headers_of_tile() const {
        std::vector<std::string> headers;
        for (const Side& side : tile_) headers.push_back(side.header);
        return headers;
    }
    // "sums[p][q]"
    std::string of_tile(const std::string& name) const {
        std::string result = name;
        for (const Side& side : tile_) result += "[" + side.index + "]";
        return result;
    }
    // "float sums[8][8] = {{0.0f}};"
    std::string declared(const std::string& name) const {
        std::string extents, value = zero_;
        for (const Side& side : tile_) {
            extents += text("[", side.size, "]");
            value = "{" + value + "}";
        }
        return text(type_, " ", name, extents, " = ", value, ";");
    }

    // A tile: its sums, over the depth in blocks, and their results.
    void print_tile() {
        const std::string wish = tile_.empty() ? "sum" : "sums";
        const std::string sums = text_.names.claim(wish);
        if (!has_blocks()) {
            code().add(declared(sums));
            print_products(text_.headers(depth_, loops_.depth), {}, {}, of_tile(sums));
        } else {
            // The first block's result is added to nothing: zero may have a sign.
            const std::string parts = text_.names.claim(tile_.empty() ? "part" : "parts");
            code().add(declared(sums));
            const std::string first = print_blocks(parts), sum = of_tile(sums),
                              part = of_tile(parts);
            code().nest(headers_of_tile(),
                        {text(sum, " = ", first, " == 0 ? ", part, " : ", sum, " + ", part, ";")});
            code().close();
        }
        code().nest(headers_of_tile(), results(of_tile(sums)));
    }

    // The loop over blocks of the depth, left open behind the products of one; where a block
    // begins.
    std::string print_blocks(const std::string& parts) {
        // The last loops, as many as a block has whole, and one over all others.
        size_t flat = loops_.depth.size();
        int64_t inside = 1;
        while (flat > 1 && depth_of_block % (inside * loops_.depth[flat - 1]) == 0)
            inside *= loops_.depth[--flat];
        const Extents around(loops_.depth.begin(),
                             loops_.depth.begin() + static_cast<std::ptrdiff_t>(flat));
        const std::string first = text_.names.claim("first");
        const std::string k = flat == 1 ? depth_[0] : text_.names.claim("e");
        const int64_t length = count_ / inside, step = depth_of_block / inside;
        std::string end = text(first, " + ", step);
        if (length % step != 0) end += text(" && ", k, " < ", length);
        code().open(text_.header(first, "0", text(length), step));
        code().add(declared(parts));
        std::vector<std::string> headers = {text_.header(k, first, end)}, places;
        const std::vector<std::string> all = text_.headers(depth_, loops_.depth);
        std::vector<std::string> within(all.begin() + static_cast<std::ptrdiff_t>(flat), all.end());
        if (flat == 1)
            headers.insert(headers.end(), within.begin(), within.end());
        else
            places.push_back(text_.taken_apart(k, depth_, around));
        print_products(headers, places, flat == 1 ? std::vector<std::string>{} : within,
                       of_tile(parts));
        return first;
    }

    // The products of one place of the depth, added to the tile's sums: the rows, which are few, as
    // one statement for each, so that the columns are what compilers make vectors of. Within
    // `headers` stand the statements `body`, and then the loops `inner`.
    void print_products(std::vector<std::string> headers, std::vector<std::string> body,
                        std::vector<std::string> inner, const std::string& sum) {
        // So few columns that they are no vector are unrolled, too: g++ keeps them in memory else.
        std::string* const before = !body.empty()      ? &body.back()
                                    : !inner.empty()   ? &inner.back()
                                    : !headers.empty() ? &headers.back()
                                                       : nullptr;
        if (before != nullptr && !tile_.empty() && tile_.back().size < 8 &&
            tile_.back().size % 4 != 0)
            *before += text("\n#pragma GCC unroll ", tile_.back().size);
        std::vector<std::string> of_tile = headers_of_tile();
        std::reverse(of_tile.begin(), of_tile.end());
        if (tile_.size() == 2) of_tile[0] += text("\n#pragma GCC unroll ", tile_[0].size);
        inner.insert(inner.end(), of_tile.begin(), of_tile.end());
        if (body.empty()) {
            headers.insert(headers.end(), inner.begin(), inner.end());
            code().nest(headers, {add_product(sum)});
            return;
        }
        std::string margin;
        for (const std::string& header : inner) {
            body.push_back(margin + header);
            margin += "    ";
        }
        body.push_back(margin + add_product(sum));
        code().nest(headers, body);
    }

    const Contract& contract_;
    ContractLoops loops_;
    KernelText text_;
    DType dtype_;
    int64_t count_;
    std::vector<Side> tile_;  // rows, and columns side by side, if there are these
    std::string type_, zero_;
    std::vector<std::string> outer_, depth_;
};

}  // namespace

MaybeText print_body(const Printing& printing, const Contract& contract) {
    if (ir::element_count(
            ir::kernel::concatenate({contract.batch, contract.rows, contract.columns})) == 0)
        return {};
    return ContractPrinter(printing, contract).print();
}

}  // namespace composit::plain
