// Expression nodes: making them, with every operand's dtype checked, and freeing them.
#include "composit/ir/scalar/expr.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

namespace composit::ir::scalar {
namespace {

struct OpInfo {
    std::string_view name;
    int arity;
};

constexpr OpInfo op_table[op_count] = {
    {"constant", 0},    {"argument", 0},  {"add", 2},           {"subtract", 2},    {"multiply", 2},
    {"divide", 2},      {"remainder", 2}, {"negate", 1},        {"absolute", 1},    {"fma", 3},
    {"square_root", 1}, {"floor", 1},     {"ceil", 1},          {"rint", 1},        {"trunc", 1},
    {"copysign", 2},    {"nextafter", 2}, {"equal", 2},         {"not_equal", 2},   {"less", 2},
    {"less_equal", 2},  {"greater", 2},   {"greater_equal", 2}, {"bit_and", 2},     {"bit_or", 2},
    {"bit_xor", 2},     {"bit_not", 1},   {"shift_left", 2},    {"shift_right", 2}, {"select", 3},
    {"cast", 1},        {"bitcast", 1},   {"lookup", 1},        {"call", -1},       {"loop", -1},
};

bool is_real_number(DType dtype) { return is_integer(dtype) || is_floating(dtype); }

// What the operands of an operation may be, apart from agreeing with each other.
bool accepts(Op op, DType dtype) {
    switch (op) {
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::divide:
        case Op::remainder:
        case Op::negate:
        case Op::absolute: return is_real_number(dtype);
        case Op::fma:
        case Op::square_root:
        case Op::floor:
        case Op::ceil:
        case Op::rint:
        case Op::trunc:
        case Op::copysign:
        case Op::nextafter: return is_floating(dtype);
        case Op::equal:
        case Op::not_equal:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal: return is_real_number(dtype) || dtype == DType::boolean;
        case Op::bit_and:
        case Op::bit_or:
        case Op::bit_xor:
        case Op::bit_not: return is_integer(dtype) || dtype == DType::boolean;
        case Op::shift_left:
        case Op::shift_right: return is_integer(dtype);
        default: return true;
    }
}

// Complex operands: what complex.h splits.
bool accepts_complex(Op op) {
    switch (op) {
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::divide:
        case Op::negate:
        case Op::equal:
        case Op::not_equal:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
        case Op::select: return true;
        default: return false;
    }
}

std::string dtypes_text(const std::vector<Expr>& operands) {
    std::vector<std::string_view> names;
    for (const Expr& operand : operands) names.push_back(ir::name(operand.dtype()));
    return join(names);
}

void check_operands(Op op, const std::vector<Expr>& operands) {
    internal_check(static_cast<int>(operands.size()) == arity_of(op), "scalar operation ", name(op),
                   " with ", operands.size(), " operands instead of ", arity_of(op));
    for (const Expr& operand : operands)
        internal_check(static_cast<bool>(operand), "scalar operation ", name(op),
                       " on an empty expression");
    if (is_complex(operands.back().dtype()) && !accepts_complex(op))
        fail<NotSupported>(name(op), ": ", operands.back().dtype(),
                           " is not supported. A real dtype is required.");
    const std::string wrong = misfit(op, operands);
    internal_check(wrong.empty(), "scalar operation ", wrong);
}

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

const std::string no_name;

}  // namespace

std::string_view name(Op op) { return op_table[static_cast<size_t>(op)].name; }
int arity_of(Op op) { return op_table[static_cast<size_t>(op)].arity; }

std::string misfit(Op op, const std::vector<Expr>& operands) {
    const size_t first = op == Op::select ? 1 : 0;
    bool fits = op != Op::select || operands[0].dtype() == DType::boolean;
    for (size_t i = first; i < operands.size(); ++i) {
        const DType dtype = operands[i].dtype();
        const bool is_taken = is_complex(dtype) ? accepts_complex(op) : accepts(op, dtype);
        fits = fits && is_taken && dtype == operands[first].dtype();
    }
    return fits ? std::string() : text(name(op), " of ", dtypes_text(operands));
}

ExprNode::ExprNode() = default;
ExprNode::~ExprNode() = default;

void ExprNode::release(const ExprNode* node) {
    if (node->operands.empty()) {
        delete node;
        return;
    }
    std::vector<const ExprNode*> pending{node};
    while (!pending.empty()) {
        ExprNode* dead = const_cast<ExprNode*>(pending.back());
        pending.pop_back();
        for (Expr& operand : dead->operands) {
            const ExprNode* child = operand.node_.detach();
            if (child && child->drop()) pending.push_back(child);
        }
        delete dead;
    }
}

// ----- leaves

Expr Expr::argument(int index, DType dtype, std::string name) {
    internal_check(index >= 0, "scalar argument number ", index);
    auto* node = new ExprNode;
    node->op = Op::argument;
    node->dtype = dtype;
    node->bits = {static_cast<uint64_t>(index), 0};
    node->name = std::move(name);
    return Expr(node);
}

Expr Expr::constant(DType dtype, double value) {
    const Bits bits = bits_of(dtype, value);
    if (!is_inexact(dtype))
        internal_check(value_of(dtype, bits) == value, "constant ", value, " is not exact in ",
                       dtype);
    return constant_bits(dtype, bits);
}

Expr Expr::constant_integer(DType dtype, int64_t value) {
    return constant_bits(dtype, bits_of_integer(dtype, value));
}

Expr Expr::constant_bits(DType dtype, Bits bits) {
    auto* node = new ExprNode;
    node->op = Op::constant;
    node->dtype = dtype;
    node->bits = bits;
    return Expr(node);
}

// ----- operations

Expr Expr::make(Op op, std::vector<Expr> operands) {
    internal_check(arity_of(op) > 0 && op != Op::cast && op != Op::bitcast && op != Op::lookup,
                   "Expr::make cannot make ", scalar::name(op));
    check_operands(op, operands);
    auto* node = new ExprNode;
    node->op = op;
    node->dtype = is_comparison(op) ? DType::boolean : operands.back().dtype();
    node->operands = std::move(operands);
    return Expr(node);
}

Expr Expr::cast(Expr x, DType dtype) {
    internal_check(static_cast<bool>(x), "cast of an empty expression");
    if (x.dtype() == dtype) return x;
    auto* node = new ExprNode;
    node->op = Op::cast;
    node->dtype = dtype;
    node->operands.push_back(std::move(x));
    return Expr(node);
}

Expr Expr::bitcast(Expr x, DType dtype) {
    internal_check(static_cast<bool>(x), "bitcast of an empty expression");
    if (x.dtype() == dtype) return x;
    internal_check(size_of(x.dtype()) == size_of(dtype) && dtype != DType::boolean, "bitcast from ",
                   x.dtype(), " to ", dtype);
    auto* node = new ExprNode;
    node->op = Op::bitcast;
    node->dtype = dtype;
    node->operands.push_back(std::move(x));
    return Expr(node);
}

Expr Expr::lookup(std::shared_ptr<const std::vector<Bits>> table, DType dtype, Expr index) {
    internal_check(table && !table->empty(), "lookup in an empty table");
    internal_check(index && is_integer(index.dtype()),
                   "lookup with an index that is not an integer");
    auto* node = new ExprNode;
    node->op = Op::lookup;
    node->dtype = dtype;
    node->operands.push_back(std::move(index));
    node->table = std::move(table);
    return Expr(node);
}

Expr Expr::call(std::shared_ptr<const Row> row, std::vector<Expr> operands) {
    internal_check(static_cast<bool>(row), "call of an empty row");
    user_check<TypeError>(static_cast<int>(operands.size()) == row->arity, row->name, ": got ",
                          operands.size(), " operands. ", row->arity, " are required.");
    std::vector<DType> dtypes;
    for (const Expr& operand : operands) {
        internal_check(static_cast<bool>(operand), "call of ", row->name,
                       " on an empty expression");
        dtypes.push_back(operand.dtype());
    }
    const Signature signature = row->types(row->name, dtypes);
    for (size_t i = 0; i < operands.size(); ++i)
        operands[i] = cast(operands[i], signature.operands[i]);
    auto* node = new ExprNode;
    node->op = Op::call;
    node->dtype = signature.result;
    node->operands = std::move(operands);
    node->row = std::move(row);
    return Expr(node);
}

Expr Expr::with_operands(std::vector<Expr> operands) const {
    internal_check(operands.size() == node_->operands.size(), "with_operands: ", operands.size(),
                   " operands for ", scalar::name(op()));
    auto* node = new ExprNode;
    Expr result(node);
    node->op = node_->op;
    node->dtype = node_->dtype;
    node->bits = node_->bits;
    node->name = node_->name;
    node->row = node_->row;
    node->table = node_->table;
    node->loop = node_->loop;
    for (size_t i = 0; i < operands.size(); ++i)
        internal_check(operands[i].dtype() == operand(static_cast<int>(i)).dtype(), "operand ", i,
                       " of ", scalar::name(op()), " changes from ",
                       operand(static_cast<int>(i)).dtype(), " to ", operands[i].dtype());
    node->operands = std::move(operands);
    return result;
}

Expr Expr::named(std::string name) const {
    internal_check(static_cast<bool>(node_), "naming an empty expression");
    if (node_->name == name) return *this;
    Expr result = with_operands(node_->operands);
    const_cast<ExprNode*>(result.node_.get())->name = std::move(name);
    return result;
}

Expr Expr::product_with(const Expr& factor, const Expr& product) {
    const Expr is_zero = make(Op::equal, {factor, constant(factor.dtype(), 0)});
    Expr result = make(Op::select, {is_zero, factor, product});
    const_cast<ExprNode*>(result.node_.get())->bits = {1, 0};
    return result;
}

bool Expr::is_product_with(const Expr& factor) const {
    return op() == Op::select && node_->bits[0] == 1 && operand(1) == factor;
}

// ----- reading

Op Expr::op() const { return node_->op; }
DType Expr::dtype() const { return node_->dtype; }
const std::vector<Expr>& Expr::operands() const { return node_->operands; }
const std::string& Expr::name() const { return node_ ? node_->name : no_name; }

int Expr::index() const {
    internal_check(op() == Op::argument || op() == Op::loop, "index of a scalar ",
                   scalar::name(op()));
    return static_cast<int>(node_->bits[0]);
}

Bits Expr::bits() const {
    internal_check(op() == Op::constant, "bits of a scalar ", scalar::name(op()));
    return node_->bits;
}

double Expr::value() const { return value_of(dtype(), bits()); }

const std::shared_ptr<const Row>& Expr::row() const {
    internal_check(op() == Op::call, "row of a scalar ", scalar::name(op()));
    return node_->row;
}

const std::shared_ptr<const std::vector<Bits>>& Expr::table() const {
    internal_check(op() == Op::lookup, "table of a scalar ", scalar::name(op()));
    return node_->table;
}

}  // namespace composit::ir::scalar
