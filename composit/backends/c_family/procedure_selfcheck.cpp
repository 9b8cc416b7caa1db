// Checks of derivatives as text: what vjp says beside dual numbers (jvp), and beside differences.
#include "composit/backends/c_family/procedure_selfcheck.h"

#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/callable.h"

#include <algorithm>
#include <map>

namespace composit::c_family {
namespace {

using ir::DType;
using ir::procedure::ArrayVariable;
using ir::procedure::Callable;
using ir::procedure::Procedure;
using ir::scalar::Expr;
using Role = ArrayVariable::Role;

std::string replaced(std::string text, const std::string& word, const std::string& by) {
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
    return text;
}

std::string arguments_of(const std::string& array, size_t count) {
    std::vector<std::string> all;
    for (size_t i = 0; i < count; ++i) all.push_back(text(array, "[", i, "]"));
    return join(all);
}

// Differences with steps h, h / 2, h / 4, …, extrapolated; what was added last tells how exact.
constexpr const char* extrapolation =
    R"(double row[6], before = 0, last = 0, settled = 1e300, slope = 0;
for (int step = 0; step < 6; ++step) {
    const double h = 0.02 / (1 << step);
    double entry = DIFFERENCE / (2 * h);
    double factor = 4;
    for (int level = 0; level < step; ++level, factor *= 4) {
        const double finer = entry + (entry - row[level]) / (factor - 1);
        row[level] = entry;
        entry = finer;
    }
    row[step] = entry;
    const double moved = entry > before ? entry - before : before - entry;
    const double larger = moved > last ? moved : last;  // two in a row: one may be chance
    if (step > 1 && larger < settled) {
        settled = larger;
        slope = entry;
    }
    before = entry;
    last = moved;
}
)";

std::string indented(const std::string& lines, const std::string& margin) {
    std::string out;
    for (size_t at = 0; at < lines.size();) {
        const size_t end = lines.find('\n', at);
        out += margin + lines.substr(at, end + 1 - at);
        at = end + 1;
    }
    return out;
}

// ----- at many points

bool is_of_double(const Procedure& procedure) {
    const auto first = procedure.variables.begin();
    return procedure.arrays.empty() && procedure.results.size() == 1 &&
           procedure.results[0].dtype == DType::float64 &&
           std::all_of(first, first + static_cast<std::ptrdiff_t>(procedure.parameters),
                       [](const auto& v) { return v.dtype == DType::float64; });
}

constexpr const char* points_doc =
    R"(// The same at points between -2 and 2, and the slopes beside differences of the function,
// extrapolated to a step of no length (Richardson), relative to the larger of 1 and them. Points
// where the differences do not settle, as at a kink, do not count.
)";

constexpr const char* points_start = R"(    double worst = 0;
    for (int point = 0; point < 41; ++point) {
        double x[COUNT];
        for (int k = 0; k < COUNT; ++k)
            x[k] = 0.1 * ((point * (7 * k + 1) + 3 * k) % 41) - 1.987 + 0.0137 * k;
        for (int k = 0; k < COUNT; ++k) {
            const auto at = [&x, k](double distance) {
                double moved[COUNT];
                for (int j = 0; j < COUNT; ++j) moved[j] = x[j];
                moved[k] += distance;
                return VALUE;
            };
)";

constexpr const char* points_end =
    R"(            const double scale = slope > 1 ? slope : slope < -1 ? -slope : 1;
            if (!(settled < 1e-8 * scale)) continue;
            const double error = SLOPE - slope;
            const double relative = (error < 0 ? -error : error) / scale;
            if (relative > worst) worst = relative;
            const double dual = DUAL;
            if (dual > worst) worst = dual;
        }
    }
    return worst;
)";

// Names are qualified: a function may have the name of a variable below.
std::string at_points(const std::string& name, const ProcedureFamily& family) {
    const size_t count = family.value.parameters;
    const std::string function = name + "::" + family.value.name;
    const Procedure& vjp = family.derivatives[0];
    std::string slope;
    for (size_t k = 0; k < count; ++k) {
        const std::string call = name + "::" + vjp.name + "(" + arguments_of("x", count) +
                                 ", 1.0)" + (count == 1 ? "" : "." + vjp.results[k].name);
        slope += k + 1 == count ? call : text("k == ", k, " ? ", call, " : ");
    }
    std::string body =
        points_start +
        indented(replaced(extrapolation, "DIFFERENCE", "(at(h) - at(-h))"), "            ") +
        points_end;
    body = replaced(body, "COUNT", text(count));
    body = replaced(body, "VALUE", function + "(" + arguments_of("moved", count) + ")");
    body = replaced(body, "SLOPE", count == 1 ? slope : "(" + slope + ")");
    body = replaced(body, "DUAL", function + "_selfcheck(" + arguments_of("x", count) + ")");
    return "double " + family.value.name + "_selfcheck() {\n" + body + "}\n\n";
}

// ----- at given arguments

constexpr const char* arguments_doc =
    R"(// What the vjp says at the arguments beside OTHER, for weights of the results
// along directions of the arguments, both random: the largest difference, relative to the larger
// of 1 and the sum of the terms' magnitudes.
)";

constexpr const char* random_numbers = R"(    uint64_t STATE = 1;
    const auto DRAW = [&STATE] {  // between -1 and 1
        STATE = STATE * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(STATE >> 11) / 4503599627370496.0 - 1.0;
    };
)";

// A number or an array of the text below.
struct Place {
    std::string name;
    std::vector<std::string> extents;  // of an array

    std::string count() const {
        std::vector<std::string> factors;
        for (const std::string& each : extents)
            factors.push_back(extents.size() > 1 && each.find(' ') != std::string::npos
                                  ? "(" + each + ")"
                                  : each);
        return factors.empty() ? "1" : join(factors, " * ");
    }
};

class AtArguments {
  public:
    AtArguments(const std::string& name, const ProcedureFamily& family)
        : space_(name), value_(family.value), vjp_(family.derivatives[0]) {
        if (family.derivatives.size() > 1) jvp_ = &family.derivatives[1];
        for (size_t i = 0; i < value_.parameters; ++i)
            names_.push_back(unique_name(value_.variables[i].name, taken_));
        find_places();
    }

    std::string head() const {
        std::vector<std::string> parameters;
        size_t array = 0;
        for (const int each : head_of(value_)) {
            if (each < 0) {
                const auto& known = value_.arrays[static_cast<size_t>(-1 - each)];
                parameters.push_back("const " + type_name(known.dtype) + "* " +
                                     arrays_[array++].name);
            } else {
                const auto i = static_cast<size_t>(each);
                parameters.push_back(type_name(value_.variables[i].dtype) + " " + names_[i]);
            }
        }
        return fitting("double " + value_.name + "_selfcheck", parameters);
    }

    std::string text() {
        const std::string state = unique("state"), draw = unique("draw"), worst = unique("worst"),
                          scale = unique("scale"), size = unique("size"),
                          backward = unique("backward"), other = unique("forward"),
                          error = unique("error"), round = unique("round");
        unique("i");
        std::string out = head() + " {\n" + extents_;
        out += replaced(replaced(random_numbers, "STATE", state), "DRAW", draw);
        out += "    double " + worst + " = 0;\n    for (int " + round + " = 0; " + round +
               " < 4; ++" + round + ") {\n";
        out += random_places(draw);
        out += "        double " + scale + " = 1;\n        const auto " + size + " = [&" + scale +
               "](double term) {\n            " + scale + " += term < 0 ? -term : term;\n" +
               "            return term;\n        };\n";
        out += sum_of(backward, size, vjp_, received_, weights_, directions_, "        ");
        if (jvp_ != nullptr) {
            out += sum_of(other, size, *jvp_, moved_, directions_, weights_, "        ");
        } else {
            out += differences(other, scale);
        }
        out += "        const double " + error + " = (" + backward + " > " + other + " ? " +
               backward + " - " + other + " : " + other + " - " + backward + ") / " + scale + ";\n";
        return out + "        if (!(" + error + " <= " + worst + ")) " + worst + " = " + error +
               " < 1e300 ? " + error + " : 1e300;\n    }\n    return " + worst + ";\n}\n\n";
    }

  private:
    using Places = std::pair<std::vector<Place>, std::vector<Place>>;  // numbers and arrays

    std::string unique(const std::string& wanted) {
        return used_[wanted] = unique_name(wanted, taken_);
    }
    const std::string& name(const std::string& wanted) const { return used_.at(wanted); }

    std::string integer(const Expr& value) {
        const std::string simple = plain_integer(value, names_);
        if (!simple.empty()) return simple;
        const Statements printed = print_statements({value}, names_, taken_);
        for (const std::string& line : printed.lines) extents_ += "    " + line + "\n";
        const std::string name = unique("extent");
        extents_ += "    const int64_t " + name + " = " + printed.results[0] + ";\n";
        return name;
    }

    Place place_of(const ArrayVariable& array, const std::string& wanted) {
        Place place{unique_name(wanted, taken_), {}};
        for (const Expr& extent : array.shape) place.extents.push_back(integer(extent));
        return place;
    }

    // Numbers and arrays of the arguments, directions of the floating ones, weights of floating
    // results, and what derivatives return.
    void find_places() {
        const Callable callable(value_);
        std::vector<std::pair<const ArrayVariable*, size_t>> floating;
        for (const int each : head_of(value_)) {
            if (each < 0) {
                const ArrayVariable& array = value_.arrays[static_cast<size_t>(-1 - each)];
                arrays_.push_back({unique_name(array.name, taken_), {}});
                if (ir::is_floating(array.dtype)) floating.push_back({&array, arrays_.size() - 1});
                sources_.push_back(&array);
                continue;
            }
            const auto i = static_cast<size_t>(each);
            if (callable.is_extent(i)) continue;
            numbers_.push_back({names_[i], {}});
            if (!ir::is_floating(value_.variables[i].dtype)) continue;
            floating_numbers_.push_back(numbers_.size() - 1);
            directions_.first.push_back({unique_name("t" + names_[i], taken_), {}});
        }
        for (size_t k = 0; k < arrays_.size(); ++k)
            for (const Expr& extent : sources_[k]->shape)
                arrays_[k].extents.push_back(integer(extent));
        for (const auto& [array, k] : floating) {
            floating_arrays_.push_back(k);
            directions_.second.push_back(place_of(*array, "t" + array->name));
            received_.push_back(place_of(*array, "d" + array->name));
        }
        for (const auto& result : value_.results)
            if (ir::is_floating(result.dtype))
                weights_.first.push_back({unique_name("d" + result.name, taken_), {}});
        for (const int each : value_.arrays_of(Role::output)) {
            const ArrayVariable& array = value_.arrays[static_cast<size_t>(each)];
            const bool is_floating = ir::is_floating(array.dtype);
            if (!is_floating && jvp_ != nullptr) continue;  // nothing calls the function itself
            outputs_.push_back(place_of(array, array.name));
            is_floating_.push_back(is_floating);
            types_.push_back(type_name(array.dtype));
            if (!is_floating) continue;
            const std::vector<std::string> extents = outputs_.back().extents;
            weights_.second.push_back({unique_name("d" + array.name, taken_), extents});
            moved_.push_back({unique_name("t" + array.name, taken_), extents});
        }
    }

    static std::string vector_of(const std::string& type, const Place& place) {
        return "std::vector<" + type + "> " + place.name + "(" +
               std::string("static_cast<size_t>(") + place.count() + "));\n";
    }

    std::string random_places(const std::string& draw) const {
        std::string out;
        for (const Places* places : {&directions_, &weights_}) {
            for (const Place& place : places->first)
                out += "        const double " + place.name + " = " + draw + "();\n";
            for (const Place& place : places->second)
                out += "        " + vector_of("double", place) +
                       "        for (double& each : " + place.name + ") each = " + draw + "();\n";
        }
        return out;
    }

    // A call of a derivative: arguments, then those that it takes more.
    std::string call_of(const Procedure& derivative, const Places& more,
                        const std::vector<Place>& outputs) const {
        const Callable callable(derivative);
        const size_t own_arrays = arrays_.size(), own_numbers = numbers_.size();
        const auto extents_of = [&](size_t k) {
            return k < own_arrays ? arrays_[k].extents : more.second[k - own_arrays].extents;
        };
        std::vector<std::string> arguments;
        std::vector<const ArrayVariable*> met;
        size_t number = 0;
        for (const int each : head_of(derivative)) {
            if (each < 0) {
                const size_t k = met.size();
                arguments.push_back(k < own_arrays ? arrays_[k].name
                                                   : more.second[k - own_arrays].name + ".data()");
                met.push_back(&derivative.arrays[static_cast<size_t>(-1 - each)]);
            } else if (callable.is_extent(static_cast<size_t>(each))) {
                const std::vector<Expr>& shape = met.back()->shape;
                const auto axis = static_cast<size_t>(
                    std::find_if(shape.begin(), shape.end(),
                                 [&](const Expr& extent) {
                                     return extent.op() == ir::scalar::Op::argument &&
                                            extent.index() == each;
                                 }) -
                    shape.begin());
                arguments.push_back(extents_of(met.size() - 1)[axis]);
            } else {
                arguments.push_back(number < own_numbers ? numbers_[number].name
                                                         : more.first[number - own_numbers].name);
                ++number;
            }
        }
        for (const Place& place : outputs) arguments.push_back(place.name + ".data()");
        return space_ + "::" + derivative.name + "(" + join(arguments) + ")";
    }

    // The sum of what a derivative returns times `factors`.
    std::string sum_of(const std::string& sum, const std::string& size, const Procedure& derivative,
                       const std::vector<Place>& outputs, const Places& more, const Places& factors,
                       const std::string& margin) {
        std::string out;
        for (const Place& place : outputs) out += margin + vector_of("double", place);
        const std::string call = call_of(derivative, more, outputs);
        std::string made;
        if (!derivative.results.empty()) made = unique(sum + "_numbers");
        out += called(margin, made, call) + margin + "double " + sum + " = 0;\n";
        const bool is_alone = derivative.results.size() == 1;
        for (size_t k = 0; k < derivative.results.size(); ++k)
            out += margin + sum + " += " + size + "(" + made +
                   (is_alone ? "" : "." + derivative.results[k].name) + " * " +
                   factors.first[k].name + ");\n";
        for (size_t k = 0; k < outputs.size(); ++k)
            out += margin + products(sum, size, outputs[k].name, factors.second[k].name);
        return out;
    }

    // On two lines where one is too long.
    static std::string called(const std::string& margin, const std::string& made,
                              const std::string& call) {
        const std::string start = margin + (made.empty() ? "" : "const auto " + made + " =");
        if (made.empty()) return start + call + ";\n";
        const bool fits = start.size() + call.size() + 2 <= longest_line;
        return start + (fits ? " " : "\n    " + margin) + call + ";\n";
    }

    // "for (size_t i = 0; i < x.size(); ++i) ", of a name that no argument has
    std::string through(const std::string& array) const {
        const std::string& i = name("i");
        return "for (size_t " + i + " = 0; " + i + " < " + array + ".size(); ++" + i + ") ";
    }

    std::string products(const std::string& sum, const std::string& size, const std::string& a,
                         const std::string& b) const {
        const std::string at = "[" + name("i") + "]", term = a + at + " * " + b + at;
        return through(a) + sum + " += " + (size.empty() ? term : size + "(" + term + ")") + ";\n";
    }

    // The slope along the direction, from the function alone.
    std::string differences(const std::string& sum, const std::string& scale) {
        const std::string at = unique("at"), distance = unique("distance"), made = unique("made");
        std::string out = "        const auto " + at + " = [&](double " + distance + ") {\n";
        const std::string margin = "            ";
        for (size_t k = 0; k < floating_arrays_.size(); ++k) {
            const Place& own = arrays_[floating_arrays_[k]];
            const Place moved{unique(own.name + "_moved"), own.extents};
            out += margin + "std::vector<double> " + moved.name + "(" + own.name + ", " + own.name +
                   " + " + own.count() + ");\n" + margin + through(moved.name) + moved.name + "[" +
                   name("i") + "] += " + distance + " * " + directions_.second[k].name + "[" +
                   name("i") + "];\n";
        }
        for (size_t k = 0; k < outputs_.size(); ++k)
            out += margin + vector_of(types_[k], outputs_[k]);
        out += called(margin, value_.results.empty() ? "" : made, moved_call(distance)) + margin +
               "double sum = 0;\n";
        size_t weight = 0;
        for (const auto& result : value_.results)
            if (ir::is_floating(result.dtype))
                out += margin + "sum += " + made +
                       (value_.results.size() == 1 ? "" : "." + result.name) + " * " +
                       weights_.first[weight++].name + ";\n";
        weight = 0;
        for (size_t k = 0; k < outputs_.size(); ++k)
            if (is_floating_[k])
                out +=
                    margin + products("sum", "", outputs_[k].name, weights_.second[weight++].name);
        out += margin + "return sum;\n        };\n";
        out += indented(replaced(extrapolation, "DIFFERENCE", "(" + at + "(h) - " + at + "(-h))"),
                        "        ");
        return out + "        if (!(settled < 1e-8 * " + scale + ")) continue;\n" +
               "        const double " + sum + " = slope;\n";
    }

    // The function at arguments that are `distance` away.
    std::string moved_call(const std::string& distance) const {
        std::vector<std::string> arguments;
        size_t array = 0, number = 0, direction = 0;
        const Callable callable(value_);
        for (const int each : head_of(value_)) {
            if (each < 0) {
                const size_t k = array++;
                const bool is_moved = std::find(floating_arrays_.begin(), floating_arrays_.end(),
                                                k) != floating_arrays_.end();
                arguments.push_back(is_moved ? name(arrays_[k].name + "_moved") + ".data()"
                                             : arrays_[k].name);
                continue;
            }
            const auto i = static_cast<size_t>(each);
            std::string argument = names_[i];
            if (!callable.is_extent(i)) {
                if (direction < floating_numbers_.size() && floating_numbers_[direction] == number)
                    argument += " + " + distance + " * " + directions_.first[direction++].name;
                ++number;
            }
            arguments.push_back(argument);
        }
        for (const Place& place : outputs_) arguments.push_back(place.name + ".data()");
        return space_ + "::" + value_.name + "(" + join(arguments) + ")";
    }

    std::string space_;
    const Procedure& value_;
    const Procedure& vjp_;
    const Procedure* jvp_ = nullptr;
    TakenNames taken_;
    std::map<std::string, std::string> used_;
    std::string extents_;             // lines that compute extents
    std::vector<std::string> names_;  // of parameters
    std::vector<Place> numbers_, arrays_;
    std::vector<const ArrayVariable*> sources_;
    std::vector<size_t> floating_numbers_, floating_arrays_;
    Places directions_, weights_;
    std::vector<Place> received_, moved_;  // what derivatives return in arrays
    std::vector<Place> outputs_;
    std::vector<bool> is_floating_;  // outputs
    std::vector<std::string> types_;
};

}  // namespace

bool has_selfcheck(const ProcedureFamily& family) {
    if (family.derivatives.empty()) return false;
    const auto is_single = [](const auto& each) { return each.dtype == DType::float32; };
    return std::none_of(family.value.variables.begin(), family.value.variables.end(), is_single) &&
           std::none_of(family.value.arrays.begin(), family.value.arrays.end(), is_single) &&
           std::none_of(family.value.results.begin(), family.value.results.end(), is_single);
}

std::string declare_selfcheck(const ProcedureFamily& family) {
    const std::string name = family.value.name + "_selfcheck";
    const char* const other =
        family.derivatives.size() > 1 ? "dual numbers (the jvp)" : "differences of the function";
    std::string out =
        replaced(arguments_doc, "OTHER", other) + AtArguments("", family).head() + ";\n";
    if (is_of_double(family.value)) out += points_doc + ("double " + name + "();\n");
    return out + "\n";
}

std::string print_selfcheck(const std::string& name, const ProcedureFamily& family) {
    return AtArguments(name, family).text() +
           (is_of_double(family.value) ? at_points(name, family) : "");
}

}  // namespace composit::c_family
