// The table's index: rows by name and alias, rows of users, and specialisations, all behind
// mutexes.
#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/base/nearest.h"
#include "composit/ir/scalar/row.h"
#include "composit/ir/scalar/slopes.h"
#include "composit/ir/scalar/table.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace composit::ir::scalar {
namespace {

struct Registry {
    std::shared_mutex mutex;
    std::vector<RowRef> rows;                            // in table order, user rows last
    std::unordered_map<std::string, RowRef> by_name;     // names and aliases
    std::unordered_map<const Row*, uint64_t> revisions;  // user rows, replaced ones too
    std::map<std::tuple<const Row*, std::vector<DType>, int>, Pullback> pullbacks;
    std::vector<RowRef> replaced;  // kept alive: expressions and caches name them by address
    std::map<std::pair<const Row*, std::vector<DType>>, std::unique_ptr<Specialisation>>
        specialisations;
    std::unordered_set<std::string> symbols;

    Registry() {
        for (Row& row : table_rows()) {
            auto ref = std::make_shared<const Row>(std::move(row));
            rows.push_back(ref);
            index(ref);
        }
    }

    void index(const RowRef& ref) {
        const bool fresh = by_name.emplace(ref->name, ref).second;
        internal_check(fresh, "the scalar table names ", ref->name, " twice");
        for (const std::string& alias : ref->aliases)
            internal_check(by_name.emplace(alias, ref).second, "the scalar table names ", alias,
                           " twice");
    }
};

// Lives for the process: rows are named by address from everywhere, even while statics are
// destroyed.
Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

std::vector<std::string> near_names(std::string_view name) {
    std::vector<std::string> candidates;
    for (const RowRef& row : all_rows()) {
        candidates.insert(candidates.end(), row->aliases.begin(), row->aliases.end());
        candidates.push_back(row->name);
    }
    return nearest_names(name, candidates, 5);
}

void check_row(const Row& row) {
    user_check<ValueError>(!row.name.empty(),
                           "register_row: the row has no name. A name is required.");
    user_check<ValueError>(row.arity >= 1, "register_row: ", row.name, " has arity ", row.arity,
                           ". At least 1 is required.");
    user_check<ValueError>(static_cast<bool>(row.types), "register_row: ", row.name,
                           " has no type rule. `types` is required.");
    user_check<ValueError>(static_cast<bool>(row.value), "register_row: ", row.name,
                           " has no definition. `value` is required.");
}

// The words of C and C++ end no symbol: every symbol carries a dtype's name at its end.
std::string symbol_of(const Row& row, const Signature& signature, uint64_t revision) {
    std::string symbol;
    for (char c : row.name) symbol += ascii::is_letter_or_digit(c) ? c : '_';
    if (ascii::is_digit(symbol[0])) symbol.insert(0, "f");
    if (revision > 1) symbol += text("_", revision);
    const std::vector<DType>& operands = signature.operands;
    const bool are_alike = std::adjacent_find(operands.begin(), operands.end(),
                                              std::not_equal_to<>()) == operands.end();
    if (are_alike && !operands.empty()) return text(symbol, "_", operands[0]);
    for (DType dtype : operands) symbol += text("_", dtype);
    return symbol;
}

bool is_one_operation(const Expr& body) {
    if (arity_of(body.op()) == 0) return true;
    if (body.op() == Op::call || body.op() == Op::lookup || body.op() == Op::loop) return false;
    return std::all_of(body.operands().begin(), body.operands().end(),
                       [](const Expr& operand) { return operand.op() == Op::argument; });
}

bool has_complex(const Signature& signature) {
    return is_complex(signature.result) ||
           std::any_of(signature.operands.begin(), signature.operands.end(), is_complex);
}

bool has_short(const Signature& signature) {
    return std::any_of(signature.operands.begin(), signature.operands.end(), ir::is_short_float);
}

// Short floats converted to float32, and the result back.
Expr in_single(const RowRef& row, const std::vector<Expr>& arguments, const Signature& signature) {
    std::vector<Expr> wide;
    for (const Expr& x : arguments)
        wide.push_back(ir::is_short_float(x.dtype()) ? Expr::cast(x, DType::float32) : x);
    return Expr::cast(Expr::call(row, wide), signature.result);
}

// The definition over arguments. Of complex operands it may be given in parts, which no one
// expression is: such a row stands for itself.
Expr body_of(const RowRef& ref, const Signature& signature) {
    const Row& row = *ref;
    std::vector<Expr> arguments;
    for (size_t i = 0; i < signature.operands.size(); ++i) {
        const char* letter = signature.operands.size() == 1 ? "x"
                             : i == 0                       ? "a"
                             : i == 1                       ? "b"
                             : i == 2                       ? "c"
                                                            : "";
        const std::string name = *letter ? std::string(letter) : text("x", i);
        arguments.push_back(Expr::argument(static_cast<int>(i), signature.operands[i], name));
    }
    if (row.complex.value && has_complex(signature)) return Expr::call(ref, arguments);
    if (!row.depends_on_dtype && has_short(signature)) return in_single(ref, arguments, signature);
    Expr body = row.value(arguments);
    user_check<TypeError>(body && body.dtype() == signature.result, row.name,
                          ": its definition returns ", body ? ir::name(body.dtype()) : "nothing",
                          " for operands of ", join(signature.operands),
                          ". Its type rule requires ", signature.result, ".");
    return body;
}

// Writes a row's definition and slopes out once, so that a mistake in them shows where the row is
// registered: for the first of these dtypes that its type rule takes.
void try_definition(const RowRef& row) {
    for (DType dtype : {DType::float64, DType::float32, DType::int64, DType::boolean}) {
        Signature signature;
        try {
            signature = row->types(row->name, std::vector(static_cast<size_t>(row->arity), dtype));
        } catch (const Error&) {
            continue;  // not for this dtype
        }
        const Expr body = body_of(row, signature);
        if (!row->slopes || !is_floating(signature.result)) return;
        std::vector<Expr> x;
        for (size_t i = 0; i < signature.operands.size(); ++i)
            x.push_back(Expr::argument(static_cast<int>(i), signature.operands[i]));
        (void)row->slopes(x, body);
        return;
    }
}

RowRef find_named(std::string_view name) {
    Registry& r = registry();
    std::shared_lock lock(r.mutex);
    const auto found = r.by_name.find(std::string(name));
    return found == r.by_name.end() ? nullptr : found->second;
}

constexpr std::string_view pullback_prefix = "pullback(";
constexpr size_t deepest_pullback = 16;  // that a name can ask for

// What the row receives, on arguments for x0, …, y and g of these dtypes.
Expr pulled_back(const RowRef& row, const std::vector<DType>& dtypes, int operand) {
    std::vector<Expr> x;
    for (size_t i = 0; i < dtypes.size(); ++i)
        x.push_back(Expr::argument(static_cast<int>(i), dtypes[i]));
    const std::vector<Expr> own(x.begin(), x.end() - 2);
    const Expr pulled = pull_back(row, own, x[x.size() - 2], x.back(), operand);
    return pulled ? Expr::cast(pulled, dtypes[static_cast<size_t>(operand)]) : pulled;
}

Pullback make_pullback(const RowRef& row, const Signature& signature, int operand) {
    std::vector<DType> all = signature.operands;
    all.insert(all.end(), 2, signature.result);
    const Expr whole = pulled_back(row, all, operand);
    if (!whole) return {};
    std::vector<bool> is_used(all.size());
    for (const Expr& expr : topological_order({whole}))
        if (expr.op() == Op::argument) is_used[static_cast<size_t>(expr.index())] = true;
    if (std::find(is_used.begin(), is_used.end(), true) == is_used.end()) is_used.back() = true;
    Pullback result;
    Signature used{{}, whole.dtype()};
    std::vector<Expr> arguments;
    for (size_t i = 0; i < all.size(); ++i) {
        arguments.push_back(Expr::argument(static_cast<int>(result.uses.size()), all[i]));
        if (!is_used[i]) continue;
        result.uses.push_back(static_cast<int>(i));
        used.operands.push_back(all[i]);
    }
    const Expr body = substitute({whole}, arguments)[0];
    Row made;
    made.name =
        text(pullback_prefix, row->name, ", ", join(signature.operands, " "), ", ", operand, ")");
    made.arity = static_cast<int>(used.operands.size());
    made.doc = text("what operand ", operand, " of ", row->name,
                    " receives of the gradient of its result");
    made.types = [used](std::string_view, const std::vector<DType>&) { return used; };
    made.value = [body](const std::vector<Expr>& x) { return substitute({body}, x)[0]; };
    const int last = made.arity - 1;
    if (body.is_product_with(arguments.back()))
        made.pullback = [body, last](const std::vector<Expr>& x, const Expr&, const Expr& g,
                                     int operand) {
            if (operand == last) {
                std::vector<Expr> along = x;
                along.back() = g;
                return substitute({body}, along)[0];
            }
            // Of the product alone, as it is 0 wherever g is.
            const Expr slope = derive(body.operand(2), last + 1)[static_cast<size_t>(operand)];
            if (!slope) return Expr();
            return Expr::product_with(x.back(), g * substitute({slope}, x)[0]);
        };
    result.row = std::make_shared<const Row>(std::move(made));
    return result;
}

// The part of `name` after the last ", ", which is cut off with it; empty if there is none.
std::string_view cut_last(std::string_view& name) {
    const size_t comma = name.rfind(", ");
    if (comma == std::string_view::npos) return {};
    const std::string_view last = name.substr(comma + 2);
    name = name.substr(0, comma);
    return last;
}

// A row of the pullback's operands; null where the texts do not name one.
RowRef parse_pullback(const RowRef& row, std::string_view dtypes, std::string_view operand) {
    int number = -1;
    const auto parsed = std::from_chars(operand.data(), operand.data() + operand.size(), number);
    const bool is_number =
        parsed.ec == std::errc() && parsed.ptr == operand.data() + operand.size();
    if (!is_number || number < 0 || number >= row->arity) return nullptr;
    std::vector<DType> operands;
    std::istringstream words{std::string(dtypes)};
    try {
        for (std::string word; words >> word;) operands.push_back(dtype_from_name(word));
        if (static_cast<int>(operands.size()) != row->arity ||
            row->types(row->name, operands).operands != operands)
            return nullptr;
        return pullback_row(row, operands, number).row;
    } catch (const Error&) {
        return nullptr;
    }
}

}  // namespace

Pullback pullback_row(const RowRef& row, const std::vector<DType>& operands, int operand) {
    internal_check(row && operand >= 0 && operand < row->arity, "pullback_row: operand ", operand);
    Registry& r = registry();
    const std::tuple key(row.get(), operands, operand);
    {
        std::shared_lock lock(r.mutex);
        const auto found = r.pullbacks.find(key);
        if (found != r.pullbacks.end()) return found->second;
    }
    // Definitions run without the lock: they look up other rows.
    Pullback made = make_pullback(row, row->types(row->name, operands), operand);
    std::unique_lock lock(r.mutex);
    const auto [place, is_new] = r.pullbacks.emplace(key, std::move(made));
    // A user's row may be replaced by another one of its name: so may its pullback.
    const auto revision = r.revisions.find(row.get());
    if (is_new && place->second.row && revision != r.revisions.end())
        r.revisions.emplace(place->second.row.get(), revision->second);
    return place->second;
}

RowRef find_row(std::string_view name) {
    // "pullback(pullback(digamma, float64, 0), float64 float64, 1)": from the inside out.
    std::vector<std::pair<std::string_view, std::string_view>> wrappings;
    while (name.substr(0, pullback_prefix.size()) == pullback_prefix && name.back() == ')') {
        if (wrappings.size() == deepest_pullback) return nullptr;  // each one takes the work of all
        name = name.substr(pullback_prefix.size(), name.size() - pullback_prefix.size() - 1);
        const std::string_view operand = cut_last(name);
        wrappings.emplace_back(cut_last(name), operand);
    }
    RowRef found = find_named(name);
    for (auto each = wrappings.rbegin(); each != wrappings.rend() && found; ++each)
        found = parse_pullback(found, each->first, each->second);
    return found;
}

RowRef row(std::string_view name) {
    if (RowRef found = find_row(name)) return found;
    const std::vector<std::string> near = near_names(name);
    fail<KeyError>("row: there is no elementwise function '", name, "'.",
                   near.empty() ? std::string(" See all_rows() for the names.")
                                : " Did you mean " + join(near, " or ") + "?");
}

const RowRef& table_row(std::string_view name) {
    Registry& r = registry();
    std::shared_lock lock(r.mutex);
    const auto found = r.by_name.find(std::string(name));
    internal_check(found != r.by_name.end() && !r.revisions.contains(found->second.get()),
                   "the scalar table has no row ", name);
    return found->second;
}

std::vector<RowRef> all_rows() {
    Registry& r = registry();
    std::shared_lock lock(r.mutex);
    return r.rows;
}

RowRef register_row(Row row) {
    check_row(row);
    auto ref = std::make_shared<const Row>(std::move(row));
    try_definition(ref);
    Registry& r = registry();
    std::unique_lock lock(r.mutex);
    const auto held = r.by_name.find(ref->name);
    const RowRef old = held == r.by_name.end() ? nullptr : held->second;
    const bool replaces = old && old->name == ref->name && r.revisions.count(old.get());
    std::vector<std::string> names = ref->aliases;
    names.push_back(ref->name);
    for (const std::string& name : names) {
        const auto taken = r.by_name.find(name);
        user_check<ValueError>(taken == r.by_name.end() || (replaces && taken->second == old),
                               "register_row: '", name,
                               "' is taken. A name that no other row has is required.");
    }
    uint64_t revision = 1;
    if (replaces) {
        revision = r.revisions.at(old.get()) + 1;
        std::erase_if(r.by_name, [&](const auto& entry) { return entry.second == old; });
        std::erase(r.rows, old);
        r.replaced.push_back(old);
    }
    r.revisions.emplace(ref.get(), revision);
    r.rows.push_back(ref);
    r.index(ref);
    return ref;
}

uint64_t revision_of(const Row& row) {
    Registry& r = registry();
    std::shared_lock lock(r.mutex);
    const auto found = r.revisions.find(&row);
    return found == r.revisions.end() ? 0 : found->second;
}

bool is_user_row(const Row& row) { return revision_of(row) != 0; }

const Specialisation& specialise(const RowRef& row, std::span<const DType> operands) {
    internal_check(static_cast<bool>(row), "specialise of an empty row");
    user_check<TypeError>(static_cast<int>(operands.size()) == row->arity, row->name, ": got ",
                          operands.size(), " operands. ", row->arity, " are required.");
    const uint64_t code = RowMemo::key_of(operands.data(), operands.size());
    if (const Specialisation* kept = row->memo.find(code)) return *kept;
    const Signature signature = row->types(row->name, {operands.begin(), operands.end()});
    Registry& r = registry();
    const std::pair key(row.get(), signature.operands);
    const auto kept = [&](const Specialisation& found) -> const Specialisation& {
        row->memo.keep(code, found);
        return found;
    };
    {
        std::shared_lock lock(r.mutex);
        const auto found = r.specialisations.find(key);
        if (found != r.specialisations.end()) return kept(*found->second);
    }
    // The definition runs without the lock: it may look up other rows.
    const Expr body = body_of(row, signature);
    const uint64_t revision = revision_of(*row);
    std::unique_lock lock(r.mutex);
    auto& slot = r.specialisations[key];
    if (!slot) {
        std::string symbol = symbol_of(*row, signature, revision);
        while (!r.symbols.insert(symbol).second) symbol += "_";
        slot.reset(new Specialisation{row, signature, body, is_one_operation(body), symbol});
    }
    return kept(*slot);
}

}  // namespace composit::ir::scalar
