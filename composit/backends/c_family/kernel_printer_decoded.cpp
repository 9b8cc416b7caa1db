// Prints a DecodedContract: for each tile of columns, a function that computes one row of the right
// operand, for the prelude's product.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <unordered_map>

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::DecodedContract;
using ir::kernel::Extents;
using ir::scalar::Expr;
using ir::scalar::Op;

Access strided(Access access, std::vector<int64_t> strides) {
    access.strides = std::move(strides);
    return access;
}

std::vector<int64_t> part_of_strides(const Access& access, size_t first, size_t count) {
    const auto begin = access.strides.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// Whether each use of the argument is a conversion into four bytes, in which an int has the same
// value.
bool is_only_widened(const Expr& value, int number) {
    bool found = false;
    for (const Expr& expr : ir::scalar::all_expressions({value}))
        for (const Expr& operand : expr.operands()) {
            if (operand.op() != Op::argument || operand.index() != number) continue;
            if (expr.op() != Op::cast || ir::size_of(expr.dtype()) != 4) return false;
            found = true;
        }
    return found;
}

bool is_float16_of(const Expr& expr, int number) {
    return expr.op() == Op::call && expr.row()->name == "value_of_float16" &&
           expr.operand(0).op() == Op::argument && expr.operand(0).index() == number;
}

// Whether the argument is the bits of a float16 that arithmetic alone reads as a float: a NaN is
// quiet after that, however it was widened.
bool is_only_float16(const Expr& value, int number) {
    bool found = is_float16_of(value, number);
    for (const Expr& expr : ir::scalar::all_expressions({value}))
        for (const Expr& operand : expr.operands()) {
            const bool is_argument = operand.op() == Op::argument && operand.index() == number;
            if (is_argument && !is_float16_of(expr, number)) return false;
            if (!is_float16_of(operand, number)) continue;
            const Op op = expr.op();
            if (op != Op::add && op != Op::subtract && op != Op::multiply && op != Op::divide)
                return false;
            found = true;
        }
    return found;
}

// The value with the float32 number of a float16 as the argument, in place of its bits.
Expr with_floats(const Expr& value, int number) {
    std::unordered_map<const ir::scalar::ExprNode*, Expr> instead;
    for (const Expr& expr : ir::scalar::topological_order({value})) {
        if (is_float16_of(expr, number)) {
            instead.emplace(expr.id(), Expr::argument(number, ir::DType::float32));
            continue;
        }
        std::vector<Expr> operands;
        for (const Expr& operand : expr.operands()) operands.push_back(instead.at(operand.id()));
        instead.emplace(expr.id(), operands.empty() ? expr : expr.with_operands(operands));
    }
    return instead.at(value.id());
}

class DecodedPrinter {
  public:
    DecodedPrinter(KernelText& writer, const DecodedContract& contract)
        : writer_(writer), c_(contract) {
        for (size_t d = 1; d < c_.columns.size(); ++d) width_ *= c_.columns[d];
    }

    void print() {
        const int64_t depth = ir::element_count(c_.depth), rows = ir::element_count(c_.rows);
        writer_.printed.prelude = {"contract_decoded.h"};
        const double work = ir::kernel::flops({"", "", {}, c_});
        writer_.printed.tasks = choose_split({c_.columns[0]}, work) < 0 ? 1 : c_.columns[0];
        tile_ = writer_.names.claim("tile");
        for (const char* name : {"k", "right"}) writer_.names.taken().insert(name);
        writer_.code.open(
            loop_headers({tile_}, {c_.columns[0]}, writer_.printed.tasks > 1 ? 0 : -1)[0]);
        const bool is_filled = c_.last_columns == width_ || c_.is_packed;
        const std::string decode = print_decode("decode", width_);
        const std::string is_last = text(tile_, " == ", c_.columns[0] - 1);
        if (is_filled) {
            print_product(decode, depth, rows,
                          c_.last_columns == width_
                              ? text(width_)
                              : text(is_last, " ? ", c_.last_columns, " : ", width_));
        } else {
            const std::string last = print_decode("decode_last", c_.last_columns);
            writer_.code.open(text("if (", is_last, ")"));
            print_product(last, depth, rows, text(c_.last_columns));
            writer_.code.close();
            writer_.code.open("else");
            print_product(decode, depth, rows, text(width_));
            writer_.code.close();
        }
        writer_.code.close();
    }

  private:
    // The index of each loop of some depth loops, of the number that counts through all of them.
    static std::vector<std::string> indices_of(const std::string& number, const Extents& extents) {
        std::vector<std::string> indices;
        int64_t inside = ir::element_count(extents);
        for (size_t d = 0; d < extents.size(); ++d) {
            inside /= extents[d];
            std::string index = number;
            if (inside > 1) index += text(" / ", inside);
            if (d > 0) index += text(" % ", extents[d]);
            indices.push_back(index == number ? index : "(" + index + ")");
        }
        return indices;
    }

    // "const auto decode = [&](int64_t k, float* right) COMPOSIT_STEP { … };"; returns its name.
    std::string print_decode(const std::string& wish, int64_t count) {
        const std::string name = writer_.names.claim(wish);
        writer_.code.open(
            text("const auto ", name, " = [&](int64_t k, float* right) COMPOSIT_STEP"));
        const size_t k = c_.depth.size(), n = c_.columns.size();
        // The loops within a tile, with the place in the tile as an access of its own.
        LoopNest inside{{c_.columns.begin() + 1, c_.columns.end()}, {}};
        Access place;
        place.strides.assign(n - 1, 1);
        for (size_t d = n - 1; d-- > 1;)
            place.strides[d - 1] = place.strides[d] * inside.extents[d];
        inside.accesses.push_back(place);
        for (const Access& input : c_.inputs)
            inside.accesses.push_back(strided(input, part_of_strides(input, k + 1, n - 1)));
        inside = merge_loops(std::move(inside));
        if (count != width_ && inside.extents.size() == 1) inside.extents[0] = count;
        Names outer = writer_.names;
        const std::vector<std::string> loops = writer_.claim_indices(inside.extents.size(), "jih");
        value_ = c_.value;
        std::vector<ValueRead> read;
        for (size_t number = 0; number < c_.inputs.size(); ++number)
            read.push_back(value_read(number, inside, loops));
        const ComputedValues computed = compute_values({value_}, read, writer_.names, cpp_spelling);
        std::vector<std::string> body = computed.lines;
        body.push_back(text("right[", address_text(inside.accesses[0], loops),
                            "] = ", computed.results[0], ";"));
        writer_.code.nest(loop_headers(loops, inside.extents, -1), body);
        writer_.code.close(";");
        writer_.names = std::move(outer);
        writer_.names.taken().insert(name);
        return name;
    }

    // How an input's element is read within the loops; narrow numbers that lie side by side are
    // widened together before.
    ValueRead value_read(size_t number, const LoopNest& inside,
                         const std::vector<std::string>& loops) {
        const Access& input = c_.inputs[number];
        const size_t k = c_.depth.size();
        const LoopNest depth =
            merge_loops({c_.depth, {strided(input, part_of_strides(input, 0, k))}});
        std::vector<std::string> outer = indices_of("k", depth.extents);
        outer.insert(outer.begin(), tile_);
        Access start = strided(input, depth.accesses[0].strides);
        start.strides.insert(start.strides.begin(), input.strides[k]);
        const Access& within = inside.accesses[1 + number];
        const std::string wish = writer_.pointer(input) + "_value";
        const int64_t together = neighbours(within, inside.extents);
        const int argument = static_cast<int>(number);
        const bool is_narrow = ir::is_integer(input.dtype) && ir::size_of(input.dtype) <= 2;
        const bool is_float16 = is_only_float16(value_, argument);
        if (is_narrow && together % 16 == 0 && together > 0 &&
            (is_float16 || is_only_widened(value_, argument))) {
            const std::string scalar = is_float16 ? print_float16_by_bits(argument) : "";
            const char* const kind = is_float16 ? "_floats" : "_ints";
            const std::string wide = writer_.names.claim(writer_.pointer(input) + kind);
            writer_.code.add(text("alignas(64) ", is_float16 ? "float " : "int32_t ", wide, "[",
                                  together, "];"));
            writer_.code.add(text(is_float16 ? "widen_float16<" : "widen<", together, ">(",
                                  writer_.place(start, outer, type_name(input.dtype), false), ", ",
                                  wide, is_float16 ? ", " : "", scalar, ");"));
            if (is_float16) value_ = with_floats(value_, argument);
            Access from = within;
            from.offset = 0;
            return {wish, text(wide, "[", address_text(from, loops), "]"),
                    is_float16 ? ir::DType::float32 : input.dtype, false};
        }
        Access whole = start;
        whole.strides.insert(whole.strides.end(), within.strides.begin(), within.strides.end());
        outer.insert(outer.end(), loops.begin(), loops.end());
        return {wish, writer_.element(whole, outer), input.dtype, false};
    }

    // "const auto value = [](uint16_t bits) { return value_of_float16_uint16(bits); };"; returns
    // its name.
    std::string print_float16_by_bits(int argument) {
        const std::vector<Expr> all = ir::scalar::all_expressions({value_});
        const auto call = std::ranges::find_if(
            all, [&](const Expr& expr) { return is_float16_of(expr, argument); });
        const Expr of_first = call->with_operands({Expr::argument(0, ir::DType::uint16)});
        const std::string name = writer_.names.claim("value"), bits = writer_.names.claim("bits");
        const ComputedValues computed = compute_values(
            {of_first}, {{bits, bits, ir::DType::uint16, false}}, writer_.names, cpp_spelling);
        internal_check(computed.lines.empty(), "a call is one expression");
        writer_.code.add(text("const auto ", name, " = [](uint16_t ", bits, ") { return ",
                              computed.results[0], "; };"));
        return name;
    }

    // How many neighbours the loops read, each once or several times; 0: they lie apart.
    static int64_t neighbours(const Access& within, const Extents& extents) {
        int64_t count = 1;
        for (size_t d = extents.size(); d-- > 0;) {
            if (within.strides[d] == 0) continue;
            if (within.strides[d] != count) return 0;
            count *= extents[d];
        }
        return count > 1 ? count : 0;
    }

    void print_product(const std::string& decode, int64_t depth, int64_t rows,
                       const std::string& count) {
        const LoopNest outer =
            merge_loops({c_.rows,
                         {strided(c_.left, part_of_strides(c_.left, 0, c_.rows.size())),
                          strided(c_.output, part_of_strides(c_.output, 0, c_.rows.size()))}});
        internal_check(outer.extents.size() <= 1, "rows of a decoded product are one loop");
        const auto step = [&](size_t access) {
            return outer.extents.empty() ? 0 : outer.accesses[access].strides[0];
        };
        const int64_t along = c_.depth.empty() ? 0 : c_.left.strides.back();
        Access left = start_of(c_.left);
        Access output = strided(c_.output, {c_.output.strides[c_.rows.size()]});
        writer_.code.add(text(
            "contract_decoded<", rows, ", ", width_, ">({", writer_.place(left, {}, "float", false),
            ", ", step(0), ", ", along, "}, ", depth, ", ", decode, ", ",
            writer_.place(output, {tile_}, "float", true), ", ", step(1), ", ", count, ");"));
    }

    KernelText& writer_;
    const DecodedContract& c_;
    int64_t width_ = 1;
    Expr value_;  // of what is read
    std::string tile_;
};

void print_body(KernelText& writer, const DecodedContract& contract) {
    DecodedPrinter(writer, contract).print();
}

const bool prints_decoded_contract = printers().add<DecodedContract, print_body>();

}  // namespace

}  // namespace composit::c_family
