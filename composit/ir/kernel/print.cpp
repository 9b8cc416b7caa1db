// Prints programs and kernels for people: buffers, then loops with loads, body and stores.
#include "composit/base/text.h"
#include "composit/ir/kernel/fields.h"
#include "composit/ir/procedure/callable.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <map>

namespace composit::ir::kernel {
namespace {

// Loop names: i, j, k, … for a few loops, i0, i1, … for many.
std::vector<std::string> loop_names(size_t count, char first = 'i') {
    std::vector<std::string> names;
    for (size_t d = 0; d < count; ++d)
        names.push_back(count <= 5 ? std::string(1, static_cast<char>(first + d)) : text(first, d));
    return names;
}

std::vector<std::string> names_in(const std::vector<std::pair<char, size_t>>& groups) {
    std::vector<std::string> names;
    for (auto [letter, count] : groups)
        for (size_t d = 0; d < count; ++d)
            names.push_back(count == 1 ? std::string(1, letter) : text(letter, d));
    return names;
}

std::string loops_text(const Extents& extents, const std::vector<std::string>& names) {
    std::vector<std::string> parts;
    for (size_t d = 0; d < extents.size(); ++d) parts.push_back(text(names[d], " < ", extents[d]));
    return parts.empty() ? "once" : "for " + join(parts);
}

// "16 i + j + 3"
std::string address_text(const Access& access, const std::vector<std::string>& names) {
    std::string result;
    auto put = [&](int64_t factor, const std::string& name) {
        std::string magnitude = text(factor);
        if (factor < 0) magnitude.erase(0, 1);
        bool unit = magnitude == "1" && !name.empty();
        std::string term = unit ? name : name.empty() ? magnitude : magnitude + " " + name;
        if (result.empty())
            result = (factor < 0 ? "-" : "") + term;
        else
            result += (factor < 0 ? " - " : " + ") + term;
    };
    for (size_t d = 0; d < access.strides.size(); ++d)
        if (access.strides[d] != 0) put(access.strides[d], names[d]);
    if (access.offset != 0 || result.empty()) put(access.offset, "");
    return result;
}

// " value", or below the line, indented, where the body names parts of it.
std::string value_text(const scalar::Expr& value, const std::vector<std::string>& arguments) {
    const std::string body = scalar::print(value, arguments);
    if (body.find('\n') == std::string::npos) return " " + body;
    std::string lines;
    for (size_t start = 0; start < body.size();) {
        const size_t end = std::min(body.find('\n', start), body.size());
        lines += "\n      " + body.substr(start, end - start);
        start = end + 1;
    }
    return lines;
}

class Elements {
  public:
    explicit Elements(const Program& program) : program_(program) {}

    std::string buffer_name(int number) const {
        if (number < 0 || static_cast<size_t>(number) >= program_.buffers.size())
            return text("buffer_", number);
        const std::string& name = program_.buffers[static_cast<size_t>(number)].name;
        return name.empty() ? text("t", number) : name;
    }

    std::string element(const Access& access, const std::vector<std::string>& names) const {
        std::string address = address_text(access, names);
        if (access.buffer == Access::position) return "(" + address + ")";
        return buffer_name(access.buffer) + "[" + address + "]";
    }

    // "a[i]" for each input: the arguments of a body.
    std::vector<std::string> elements(const std::vector<Access>& accesses,
                                      const std::vector<std::string>& names) const {
        std::vector<std::string> result;
        for (const Access& access : accesses) result.push_back(element(access, names));
        return result;
    }

  private:
    const Program& program_;
};

// The form of a kind (fields.h), filled with a kernel's fields.
class Filled : public NoFields {
  public:
    explicit Filled(const Elements& elements) : elements_(elements) {}

    void loops(std::string_view name, const Extents& extents, LoopRole) { loops_[name] = &extents; }
    void reads(std::string_view name, const auto& accesses, const auto&... along) {
        texts_[name] = [this, &accesses, along = std::vector{&along...}] {
            return elements_.elements(several(accesses), names_of(along));
        };
    }
    void writes(std::string_view name, const auto& accesses, const auto&... along) {
        reads(name, accesses, along...);
    }
    void values(std::string_view name, const auto& values, const auto&...) {
        texts_[name] = [this, &values] {
            Names texts;
            for (const scalar::Expr& value : several(values))
                texts.push_back(value_text(value, texts_.at("inputs")()));
            return texts;
        };
    }
    void says(std::string_view field, Combiner combiner) {
        texts_[field] = [combiner] { return Names{std::string(name(combiner))}; };
    }
    void says(std::string_view, const auto&) {}

    std::string fill(std::string_view form) {
        std::string result;
        for (std::string_view indent = "  "; !form.empty(); indent = "    ") {
            const std::string_view line = take(form, '\n');
            count_ = 1;
            for (size_t j = 0; j < count_; ++j) result += text(indent, filled(line, j), "\n");
        }
        return result;
    }

  private:
    using Names = std::vector<std::string>;

    // Takes from the text what stands before `end`, and that.
    static std::string_view take(std::string_view& rest, char end) {
        const size_t at = std::min(rest.find(end), rest.size());
        const std::string_view taken = rest.substr(0, at);
        rest.remove_prefix(std::min(at + 1, rest.size()));
        return taken;
    }

    std::string filled(std::string_view line, size_t j) {
        std::string result;
        while (!line.empty()) {
            result += take(line, '{');
            if (line.empty()) break;
            const std::string_view field = take(line, '}');
            if (field.find(' ') != std::string_view::npos) {
                result += loops_text_of(field);
                continue;
            }
            const Names texts = texts_.at(field)();
            count_ = texts.size();
            if (texts[j].starts_with(' ') || texts[j].starts_with('\n')) result.pop_back();
            result += texts[j];
        }
        return result;
    }

    // "rows m, columns n"
    std::string loops_text_of(std::string_view fields) {
        std::vector<const Extents*> loops;
        Extents all;
        while (!fields.empty()) {
            const Extents& extents = *loops_.at(take(fields, ' '));
            const std::string_view letters = take(fields, ',');
            if (!fields.empty()) take(fields, ' ');
            names_[&extents] = letters.size() == 1 ? names_in({{letters[0], extents.size()}})
                                                   : loop_names(extents.size(), letters[0]);
            loops.push_back(&extents);
            all = concatenate({all, extents});
        }
        return loops_text(all, names_of(loops));
    }

    Names names_of(const std::vector<const Extents*>& loops) const {
        Names names;
        for (const Extents* extents : loops) {
            const Names& own = names_.at(extents);
            names.insert(names.end(), own.begin(), own.end());
        }
        return names;
    }

    const Elements& elements_;
    std::map<std::string_view, const Extents*> loops_;
    std::map<std::string_view, std::function<Names()>> texts_;  // of a field's elements
    std::map<const Extents*, Names> names_;  // of indices, of the loops that the text has so far
    size_t count_ = 1;                       // how often the line stands there
};

class Writer : public Elements {
  public:
    using Elements::Elements;

    template <class Kind>
        requires requires(const Kind& kind) { form(kind); }
    std::string body(const Kind& kind) const {
        Filled text(*this);
        describe(kind, text);
        return text.fill(form(kind));
    }

    // Of any product; factors of another dtype than the sums are made wider.
    template <class Kind>
        requires requires(const Kind& kind) { kind.right_is_packed; }
    std::string body(const Kind& c) const {
        const DType sums = product_in(c)->sums;
        const std::string before = c.left.dtype == sums ? "" : text(sums, "(");
        const std::string behind = before.empty() ? "" : ")";
        size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size(), k = c.depth.size();
        std::vector<std::string> out = names_in({{'b', b}, {'m', m}, {'n', n}});
        std::vector<std::string> left = names_in({{'b', b}, {'m', m}, {'k', k}});
        std::vector<std::string> right = names_in({{'b', b}, {'k', k}, {'n', n}});
        const auto operand = [&](const Access& access, const std::vector<std::string>& names,
                                 bool is_packed) {
            return before +
                   (is_packed ? buffer_name(access.buffer) + "[packed]" : element(access, names)) +
                   behind;
        };
        const Finish& finish = c.finish;
        std::string result = text("  ", loops_text(concatenate({c.batch, c.rows, c.columns}), out),
                                  ":\n    ", finish.values.empty() ? element(c.output, out) : "sum",
                                  " = sum ", loops_text(c.depth, names_in({{'k', k}})), " of ",
                                  operand(c.left, left, c.left_is_packed), " * ",
                                  operand(c.right, right, c.right_is_packed), "\n");
        std::vector<std::string> arguments = elements(finish.inputs, out);
        arguments.insert(arguments.begin(), "sum");
        for (size_t j = 0; j < finish.values.size(); ++j)
            result += "    " + element(j == 0 ? c.output : finish.outputs[j - 1], out) + " =" +
                      value_text(finish.values[j], arguments) + "\n";
        return result;
    }

    // "data[3 index[i] + j]"
    std::string indexed(const Access& data, const std::vector<Access>& indices,
                        const std::vector<int64_t>& strides, const std::vector<std::string>& outer,
                        const std::vector<std::string>& inner) const {
        std::vector<std::string> terms;
        for (size_t j = 0; j < indices.size(); ++j)
            terms.push_back(text(strides[j], " ", element(indices[j], outer)));
        std::string rest = address_text(data, inner);
        if (rest != "0" || terms.empty()) terms.push_back(rest);
        return buffer_name(data.buffer) + "[" + join(terms, " + ") + "]";
    }

    std::string body(const Gather& g) const {
        std::vector<std::string> outer = names_in({{'i', g.outer.size()}});
        std::vector<std::string> inner = names_in({{'j', g.inner.size()}});
        std::vector<std::string> all = names_in({{'i', g.outer.size()}, {'j', g.inner.size()}});
        return text("  ", loops_text(concatenate({g.outer, g.inner}), all), ":\n    ",
                    element(g.output, all), " = ",
                    indexed(g.data, g.indices, g.axis_strides, outer, inner), "\n");
    }

    std::string body(const Scatter& s) const {
        std::vector<std::string> outer = names_in({{'i', s.outer.size()}});
        std::vector<std::string> inner = names_in({{'j', s.inner.size()}});
        std::vector<std::string> all = names_in({{'i', s.outer.size()}, {'j', s.inner.size()}});
        return text("  ", loops_text(concatenate({s.outer, s.inner}), all), " in order:\n    ",
                    indexed(s.data, s.indices, s.axis_strides, outer, inner),
                    s.add ? " += " : " = ", element(s.update, all), "\n");
    }

    std::string body(const Fold& f) const {
        size_t o = f.outer.size(), p = f.positions.size();
        std::vector<std::string> out = names_in({{'o', o}, {'p', p}});
        std::vector<std::string> in = names_in({{'o', o}, {'q', p}, {'w', p}});
        std::vector<std::string> conditions;
        for (size_t d = 0; d < p; ++d)
            conditions.push_back(text(out[o + d], " = ", f.steps[d], " ", in[o + d], " + ",
                                      f.dilations[d], " ", in[o + p + d]));
        return text("  ", loops_text(concatenate({f.outer, f.positions}), out), ":\n    ",
                    element(f.output, out), " = sum ",
                    loops_text(concatenate({f.window, f.counts}), names_in({{'w', p}, {'q', p}})),
                    " where ", join(conditions), " of ", element(f.input, in), "\n");
    }

    std::string body(const Pack& p) const {
        std::vector<std::string> names =
            names_in({{p.is_left ? 'm' : 'n', p.across.size()}, {'k', p.depth.size()}});
        return text("  ", loops_text(concatenate({p.across, p.depth}), names), ":\n    ",
                    buffer_name(p.to.buffer), "[in the order of the ", p.is_left ? "left" : "right",
                    " operand] = ", element(p.from, names), "\n");
    }

    std::string body(const Fused& f) const {
        std::vector<std::string> pieces = names_in({{'p', f.pieces.size()}});
        std::string result = "  " + loops_text(f.pieces, pieces) + ", one after the other:\n";
        for (Member member : f.members) {
            auto moved = accesses(member.kernel.body);
            std::string places;
            for (size_t a = 0; a < moved.size(); ++a) {
                Access start{moved[a]->buffer, moved[a]->dtype, 0, member.steps[a]};
                std::string address = address_text(start, pieces);
                std::string place = text(buffer_name(start.buffer), " from ", address);
                if (address != "0" && places.find(place) == std::string::npos)
                    places += (places.empty() ? "  # " : ", ") + place;
            }
            result += "   " + member.kernel.name + places + "\n";
            std::string lines = text_of(member.kernel);
            for (size_t start = 0; start < lines.size();) {
                const size_t end = lines.find('\n', start);
                result += "  " + lines.substr(start, end - start) + "\n";
                start = end + 1;
            }
        }
        return result;
    }

    std::string body(const Repeat& r) const {
        const std::string counter =
            r.counter.buffer == Access::position ? "iteration" : buffer_name(r.counter.buffer);
        std::string result =
            text("  for ", counter, " from ", r.begin, " to ", r.end - 1, ", in order:\n");
        for (const Kernel& kernel : r.kernels) {
            const std::string lines = text(title(kernel), text_of(kernel));
            for (size_t start = 0; start < lines.size();) {
                const size_t end = lines.find('\n', start);
                result += "    " + lines.substr(start, end - start) + "\n";
                start = end + 1;
            }
        }
        return result;
    }

    // "u, s, vh"
    template <class Operand>
    std::string buffers_of(const std::vector<Operand>& operands) const {
        std::vector<std::string> names;
        for (const Operand& operand : operands) names.push_back(buffer_name(operand.access.buffer));
        return join(names);
    }

    // "  u, s, vh = lapack.svd(a; 1)"
    std::string body(const Foreign& f) const {
        return text("  ", buffers_of(f.outputs), " = ", f.function, "(", buffers_of(f.inputs),
                    f.options.empty() ? "" : "; ", join(f.options), ")\n");
    }

    // "  for i < 8: loss = squared_errors(x, y)"
    std::string body(const Call& c) const {
        const procedure::Callable* const callable = procedure::find_callable(c.procedure);
        const std::string name = callable ? callable->procedure().name : text(c.procedure);
        return text("  ", loops_text(c.batch, loop_names(c.batch.size())), ": ",
                    buffers_of(c.outputs), " = ", name, "(", buffers_of(c.inputs), ")\n");
    }

    // "kernel exp: Map  # exp; train.py:12"
    static std::string title(const Kernel& kernel) {
        std::string result = text("kernel ", kernel.name, ": ", kind_name(kernel));
        std::vector<std::string> notes;
        if (!kernel.comment.empty()) notes.push_back(kernel.comment);
        if (!kernel.device.empty() && kernel.device != "cpu")
            notes.push_back("on " + kernel.device);
        if (!kernel.lines.empty()) notes.push_back(join(kernel.lines));
        if (!notes.empty()) result += "  # " + join(notes, "; ");
        return result + "\n";
    }

    std::string text_of(const Kernel& kernel) const {
        return std::visit([&](const auto& b) { return body(b); }, kernel.body);
    }
};

}  // namespace

std::string print(const Kernel& kernel, const Program& program) {
    return Writer::title(kernel) + Writer(program).text_of(kernel);
}

std::string print(const Program& program) {
    Writer writer(program);
    std::string result = text("program ", program.name, "\n");
    for (size_t number = 0; number < program.buffers.size(); ++number) {
        const Buffer& buffer = program.buffers[number];
        result += text("  ", name(buffer.kind), " ", writer.buffer_name(static_cast<int>(number)),
                       ": ", buffer.dtype, "[", join(buffer.shape), "]");
        if (buffer.kind == BufferKind::temporary && buffer.arena_offset >= 0)
            result += text(" at ", buffer.arena_offset);
        if (buffer.starts_as >= 0)
            result += text(" starts as ", writer.buffer_name(buffer.starts_as));
        result += "\n";
    }
    if (program.arena_bytes > 0) result += text("  arena: ", program.arena_bytes, " bytes\n");
    for (const Kernel& kernel : program.kernels) result += print(kernel, program);
    return result;
}

}  // namespace composit::ir::kernel
