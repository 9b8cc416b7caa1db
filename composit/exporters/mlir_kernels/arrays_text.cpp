// Statements about arrays as operations of `memref`.
#include "composit/base/text.h"
#include "composit/exporters/mlir_kernels/statements_text.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <utility>

namespace composit::mlir {

using ir::DType;
using ir::procedure::ArrayVariable;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

namespace {

// How many elements a list has room for before anything is appended.
constexpr int64_t first_room = 16;

std::string flat_type(const ArrayVariable& array) {
    return "memref<?x" + scalar_type(array.dtype) + ">";
}

bool is_literal(const Expr& extent) { return extent.op() == Op::constant && extent.value() >= 0; }

// "[[0, 1, 2]]"
std::string all_axes(const ArrayVariable& array) {
    std::vector<size_t> axes(array.shape.size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = i;
    return "[[" + join(axes) + "]]";
}

// The type of an array of several axes as one row.
std::string row_type(const ArrayVariable& array) {
    int64_t count = 1;
    for (const Expr& extent : array.shape) {
        if (!is_literal(extent)) return flat_type(array);
        count *= static_cast<int64_t>(extent.value());
    }
    return text("memref<", count, "x", scalar_type(array.dtype), ">");
}

}  // namespace

std::string memref_type(const ArrayVariable& array) {
    if (array.grows) return flat_type(array);
    std::string out = "memref<";
    for (const Expr& extent : array.shape)
        out += (is_literal(extent) ? text(static_cast<int64_t>(extent.value())) : "?") + "x";
    return out + scalar_type(array.dtype) + ">";
}

std::string StatementsText::element(const Statement& statement, ValuesText& values) {
    const ArrayVariable& array = array_of(statement.array);
    const std::string& own = memory(statement.array);
    const size_t rank = array.shape.size();
    const bool is_of_axes = statement.index.size() == rank;
    if (array.grows) {
        Expr place = statement.index[0];
        for (size_t axis = 1; is_of_axes && axis < rank; ++axis)
            place = place * array.shape[axis] + statement.index[axis];
        return text(own, "[", values.index(place), "] : ", flat_type(array));
    }
    if (is_of_axes) {
        std::vector<std::string> indices;
        for (const Expr& index : statement.index) indices.push_back(values.index(index));
        return text(own, "[", join(indices), "] : ", memref_type(array));
    }
    if (rank == 0) return text(own, "[] : ", memref_type(array));
    const std::string place = values.index(statement.index[0]);
    const std::string row =
        out_.add(array.name + "_row", text("memref.collapse_shape ", own, " ", all_axes(array),
                                           " : ", memref_type(array), " into ", row_type(array)));
    return text(row, "[", place, "] : ", row_type(array));
}

void StatementsText::write_element(const Statement& statement) {
    ValuesText values(out_, state_.variables);
    if (statement.kind == Kind::load) {
        const std::string place = element(statement, values);
        const std::string name = out_.add(name_of(statement.variable), "memref.load " + place);
        become(statement.variable, name);
        return;
    }
    if (statement.kind == Kind::store) {
        const std::string value = values.plain(statement.values[0]);
        out_.line("memref.store " + value + ", " + element(statement, values));
        return;
    }
    const DType dtype = array_of(statement.array).dtype;
    const std::string place = element(statement, values);
    state_.variables.push_back({out_.add("", "memref.load " + place), ""});
    const Expr own = Expr::argument(static_cast<int>(state_.variables.size()) - 1, dtype);
    const std::string sum = values.plain(own + statement.values[0]);
    state_.variables.pop_back();
    out_.line("memref.store " + sum + ", " + place);
}

// The extents that a type leaves open, as operands of memref.alloc.
std::string StatementsText::extents_for(const ArrayVariable& array, ValuesText& values) {
    std::vector<std::string> extents;
    for (const Expr& extent : array.shape) {
        if (is_literal(extent)) continue;
        if (!naturals_.contains(extent)) {
            const Expr zero = ir::procedure::integer(0);
            out_.line(text("cf.assert ", values.plain(extent >= zero), ", ",
                           out_.failure(procedure_.name)));
        }
        extents.push_back(values.index(extent));
    }
    return join(extents);
}

void StatementsText::allocate(const Statement& statement) {
    const int number = statement.array;
    const ArrayVariable& array = array_of(number);
    ValuesText values(out_, state_.variables);
    if (array.role != Role::local) {
        if (statement.is_zeroed) fill(number, memory(number));
        return;
    }
    if (!homes_.contains(number)) return;
    if (array.grows) {
        if (memory(number).empty()) declare(number);
        count(number) = out_.index_constant(0);
        return;
    }
    const std::string extents = extents_for(array, values), type = memref_type(array);
    if (!memory(number).empty()) out_.line(text("memref.dealloc ", memory(number), " : ", type));
    memory(number) = out_.add(array.name, text("memref.alloc(", extents, ") : ", type));
    if (statement.is_zeroed) fill(number, memory(number));
}

// Before anything is known of it: without elements, but of extents that its type says.
void StatementsText::declare(int number) {
    const ArrayVariable& array = array_of(number);
    std::vector<std::string> extents;
    if (array.grows)
        extents.push_back(out_.index_constant(first_room));
    else
        for (const Expr& extent : array.shape)
            if (!is_literal(extent)) extents.push_back(out_.index_constant(0));
    memory(number) =
        out_.add(array.name, text("memref.alloc(", join(extents), ") : ", memref_type(array)));
    count(number) = out_.index_constant(0);
}

void StatementsText::free_arrays(const Block& home) {
    for (const auto& [array, block] : homes_) {
        if (block != &home || memory(array).empty()) continue;
        out_.line(text("memref.dealloc ", memory(array), " : ", memref_type(array_of(array))));
        memory(array).clear();
    }
}

void StatementsText::append(const Statement& statement) {
    const int number = statement.array;
    const ArrayVariable& array = array_of(number);
    const std::string element = scalar_type(array.dtype), type = flat_type(array);
    helpers_.appends.insert(element);
    const std::string value = ValuesText(out_, state_.variables).plain(statement.values[0]);
    memory(number) = out_.add(
        array.name, text("func.call @append_", element, "(", memory(number), ", ", count(number),
                         ", ", value, ") : (", type, ", index, ", element, ") -> ", type));
    count(number) = out_.add(array.name + "_count", text("arith.addi ", count(number), ", ",
                                                         out_.index_constant(1), " : index"));
}

void StatementsText::take(const Statement& statement) {
    const int number = statement.array;
    count(number) =
        out_.add(array_of(number).name + "_count",
                 text("arith.subi ", count(number), ", ", out_.index_constant(1), " : index"));
    const std::string taken = out_.add(name_of(statement.variable),
                                       text("memref.load ", memory(number), "[", count(number),
                                            "] : ", flat_type(array_of(number))));
    become(statement.variable, taken);
}

// With zeros, as one row of elements.
void StatementsText::fill(int number, const std::string& memory) {
    const ArrayVariable& array = array_of(number);
    const std::string element = scalar_type(array.dtype), wanted = flat_type(array);
    std::string own = memory, type = memref_type(array);
    const std::string zero = out_.constant(array.dtype, {0, 0});
    if (array.shape.empty()) {
        out_.line(text("memref.store ", zero, ", ", own, "[] : ", type));
        return;
    }
    if (array.shape.size() > 1) {
        own =
            out_.add(array.name + "_row", text("memref.collapse_shape ", own, " ", all_axes(array),
                                               " : ", type, " into ", row_type(array)));
        type = row_type(array);
    }
    if (type != wanted)
        own = out_.add(array.name + "_row", text("memref.cast ", own, " : ", type, " to ", wanted));
    helpers_.fills.insert(element);
    out_.line(text("func.call @fill_", element, "(", own, ", ", zero, ") : (", wanted, ", ",
                   element, ") -> ()"));
}

}  // namespace composit::mlir
