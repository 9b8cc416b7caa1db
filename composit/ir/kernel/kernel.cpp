// Questions about one kernel: names, buffers, bodies, work, structure.
#include "composit/ir/kernel/kernel.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"

#include <algorithm>

namespace composit::ir::kernel {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::vector<int> numbers_of(const std::vector<Access>& accesses) {
    std::vector<int> result;
    for (const Access& access : accesses) {
        bool is_new = std::find(result.begin(), result.end(), access.buffer) == result.end();
        if (access.buffer != Access::position && is_new) result.push_back(access.buffer);
    }
    return result;
}

double operations_in(const std::vector<scalar::Expr>& results) {
    double count = 0;
    for (const scalar::Expr& expr : scalar::all_expressions(results))
        if (scalar::arity_of(expr.op()) != 0) ++count;
    return count;
}

double size(const Extents& extents) { return static_cast<double>(element_count(extents)); }

// Elements of memory that an access touches, each once.
double distinct_elements(const Access& access, const Extents& extents) {
    if (access.buffer == Access::position) return 0;
    double count = 1;
    for (size_t d = 0; d < extents.size(); ++d)
        if (access.strides[d] != 0 || extents[d] == 0) count *= static_cast<double>(extents[d]);
    return count;
}

// Feeds everything that decides what a kernel computes into one hash; buffers are numbered as they
// appear.
struct Fingerprint {
    uint64_t hash = 0;
    std::vector<int> seen = {};

    void add(uint64_t value) { hash = hash_combine(hash, value); }
    void add(const std::vector<int64_t>& values) {
        add(uint64_t{values.size()});
        for (int64_t value : values) add(static_cast<uint64_t>(value));
    }
    void add(const Access& access) {
        auto place = std::find(seen.begin(), seen.end(), access.buffer);
        add(static_cast<uint64_t>(place - seen.begin()));
        if (place == seen.end()) seen.push_back(access.buffer);
        add(uint64_t{access.buffer == Access::position});
        add(static_cast<uint64_t>(access.dtype));
        add(static_cast<uint64_t>(access.offset));
        add(access.strides);
    }
    void add(const std::vector<Access>& accesses) {
        add(uint64_t{accesses.size()});
        for (const Access& access : accesses) add(access);
    }
    void add(const std::vector<scalar::Expr>& values) { add(scalar::structural_hash(values)); }
    template <class... Parts>
    void all(const Parts&... parts) {
        (add(parts), ...);
    }

    void add(const Kernel& kernel);
};

void Fingerprint::add(const Kernel& kernel) {
    add(uint64_t{kernel.body.index()});
    const auto feed = Overloaded{
        [&](const Map& m) { all(m.extents, m.inputs, m.values, m.outputs); },
        [&](const Reduce& r) {
            all(r.kept, r.reduced, r.inputs, std::vector{r.value}, r.output);
            add(static_cast<uint64_t>(r.combiner));
        },
        [&](const Scan& s) {
            all(s.extents, s.inputs, std::vector{s.value}, s.output);
            add(static_cast<uint64_t>(s.combiner));
        },
        [&](const Contract& c) {
            all(c.batch, c.rows, c.columns, c.depth, c.left, c.right, c.output);
            all(uint64_t{c.left_is_packed}, uint64_t{c.right_is_packed});
            all(c.finish.inputs, c.finish.values, c.finish.outputs);
        },
        [&](const Gather& g) {
            all(g.outer, g.inner, g.data, g.indices, g.output);
            all(g.axis_strides, g.axis_lengths, g.axis_numbers);
        },
        [&](const Scatter& s) {
            all(s.outer, s.inner, s.update, s.indices, s.data);
            all(s.axis_strides, s.axis_lengths, s.axis_numbers, uint64_t{s.add});
        },
        [&](const Fold& f) {
            all(f.outer, f.positions, f.counts, f.window, f.steps, f.dilations);
            all(f.input, f.output);
        },
        [&](const Sort& s) {
            all(s.extents, s.input, s.output, s.spare, uint64_t{s.gives_values});
        },
        [&](const Search& s) {
            all(s.extents, s.row, s.sorted, s.values, s.output, uint64_t{s.is_right});
        },
        [&](const Pack& p) {
            all(p.across, p.depth, uint64_t{p.is_left}, p.from, p.to, uint64_t{p.is_of_constant});
            add(static_cast<uint64_t>(p.panel_width));
        },
        [&](const Fused& f) {
            add(f.pieces);
            for (const Member& member : f.members) {
                add(member.kernel);
                for (const auto& steps : member.steps) add(steps);
            }
            for (int local : f.locals)
                add(static_cast<uint64_t>(std::find(seen.begin(), seen.end(), local) -
                                          seen.begin()));
        },
        [&](const Repeat& r) {
            all(static_cast<uint64_t>(r.begin), static_cast<uint64_t>(r.end), r.counter);
            for (const Kernel& inner : r.kernels) add(inner);
        },
        [&](const Foreign& f) {
            all(hash_text(f.function), f.options, uint64_t{f.inputs.size()});
            for (const auto& operands : {f.inputs, f.outputs})
                for (const Foreign::Operand& operand : operands)
                    all(operand.access, operand.extents, uint64_t{operand.is_real_part});
        },
        [&](const DecodedContract& c) {
            all(c.rows, c.columns, c.depth, static_cast<uint64_t>(c.last_columns));
            all(uint64_t{c.is_packed}, c.left, c.inputs, std::vector{c.value}, c.output);
        },
    };
    std::visit(feed, kernel.body);
}

}  // namespace

std::string_view name(Combiner combiner) {
    switch (combiner) {
        case Combiner::sum: return "sum";
        case Combiner::product: return "product";
        case Combiner::maximum: return "maximum";
        case Combiner::minimum: return "minimum";
        case Combiner::any: return "any";
        case Combiner::all: return "all";
        case Combiner::argmax: return "argmax";
        case Combiner::argmin: return "argmin";
    }
    return "?";
}

std::string_view name(BufferKind kind) {
    switch (kind) {
        case BufferKind::input: return "input";
        case BufferKind::constant: return "constant";
        case BufferKind::temporary: return "temporary";
        case BufferKind::output: return "output";
        case BufferKind::local: return "local";
        case BufferKind::packed: return "packed";
    }
    return "?";
}

std::string_view kind_name(const Kernel& kernel) {
    static constexpr std::string_view names[] = {
        "Map",  "Reduce", "Scan", "Contract", "Gather", "Scatter", "Fold",
        "Sort", "Search", "Pack", "Fused",    "Repeat", "Foreign", "DecodedContract"};
    return names[kernel.body.index()];
}

Extents concatenate(const std::vector<Extents>& parts) {
    Extents result;
    for (const Extents& part : parts) result.insert(result.end(), part.begin(), part.end());
    return result;
}

namespace {

double iterations(const Repeat& repeat) { return static_cast<double>(repeat.end - repeat.begin); }

// What the kernels of a Repeat read or write, over all iterations.
void put_repeated(std::vector<AccessInLoops>& result, const Repeat& repeat, bool is_read) {
    for (const Kernel& kernel : repeat.kernels)
        for (AccessInLoops& moved : is_read ? accesses_read(kernel) : accesses_written(kernel)) {
            moved.repeats *= iterations(repeat);
            result.push_back(std::move(moved));
        }
}

// What the members of a Fused read or write outside it, over all parts.
void put_members(std::vector<AccessInLoops>& result, const Fused& fused, bool is_read) {
    for (const Member& member : fused.members) {
        const auto reads = accesses_read(member.kernel);
        const auto moved = is_read ? reads : accesses_written(member.kernel);
        for (size_t a = 0; a < moved.size(); ++a) {
            AccessInLoops whole = moved[a];
            const auto& locals = fused.locals;
            if (std::find(locals.begin(), locals.end(), whole.access.buffer) != locals.end())
                continue;
            const auto& steps = member.steps[a + (is_read ? 0 : reads.size())];
            whole.access.strides.insert(whole.access.strides.begin(), steps.begin(), steps.end());
            whole.extents = concatenate({fused.pieces, whole.extents});
            result.push_back(std::move(whole));
        }
    }
}

}  // namespace

std::vector<AccessInLoops> accesses_read(const Kernel& kernel) {
    std::vector<AccessInLoops> result;
    auto put = [&](const std::vector<Access>& accesses, const Extents& extents) {
        for (const Access& access : accesses) result.push_back({access, extents});
    };
    std::visit(
        Overloaded{
            [&](const Map& map) { put(map.inputs, map.extents); },
            [&](const Reduce& reduce) {
                put(reduce.inputs, concatenate({reduce.kept, reduce.reduced}));
            },
            [&](const Scan& scan) { put(scan.inputs, scan.extents); },
            [&](const Contract& c) {
                put({c.left}, concatenate({c.batch, c.rows, c.depth}));
                put({c.right}, concatenate({c.batch, c.depth, c.columns}));
                put(c.finish.inputs, concatenate({c.batch, c.rows, c.columns}));
            },
            [&](const Gather& gather) {
                result.push_back({gather.data, gather.inner, size(gather.outer)});
                put(gather.indices, gather.outer);
            },
            [&](const Scatter& scatter) {
                put({scatter.update}, concatenate({scatter.outer, scatter.inner}));
                put(scatter.indices, scatter.outer);
                result.push_back({scatter.data, scatter.inner, size(scatter.outer)});
            },
            [&](const Fold& fold) {
                put({fold.input}, concatenate({fold.outer, fold.counts, fold.window}));
            },
            [&](const Sort& sort) { put({sort.input}, sort.extents); },
            [&](const Search& search) {
                put({search.sorted}, concatenate({search.extents, search.row}));
                put({search.values}, search.extents);
            },
            [&](const Pack& pack) { put({pack.from}, concatenate({pack.across, pack.depth})); },
            [&](const Fused& fused) { put_members(result, fused, true); },
            [&](const Repeat& repeat) { put_repeated(result, repeat, true); },
            [&](const Foreign& foreign) {
                for (const auto& input : foreign.inputs) put({input.access}, input.extents);
            },
            [&](const DecodedContract& c) {
                put({c.left}, concatenate({c.rows, c.depth}));
                put(c.inputs, concatenate({c.depth, c.columns}));
            },
        },
        kernel.body);
    return result;
}

std::vector<AccessInLoops> accesses_written(const Kernel& kernel) {
    std::vector<AccessInLoops> result;
    std::visit(
        Overloaded{
            [&](const Map& map) {
                for (const Access& output : map.outputs) result.push_back({output, map.extents});
            },
            [&](const Reduce& reduce) { result.push_back({reduce.output, reduce.kept}); },
            [&](const Scan& scan) { result.push_back({scan.output, scan.extents}); },
            [&](const Contract& c) {
                const Extents extents = concatenate({c.batch, c.rows, c.columns});
                result.push_back({c.output, extents});
                for (const Access& output : c.finish.outputs) result.push_back({output, extents});
            },
            [&](const Gather& g) { result.push_back({g.output, concatenate({g.outer, g.inner})}); },
            [&](const Scatter& s) { result.push_back({s.data, s.inner, size(s.outer)}); },
            [&](const Fold& f) {
                result.push_back({f.output, concatenate({f.outer, f.positions})});
            },
            [&](const Sort& s) {
                result.push_back({s.output, s.extents});
                result.push_back({s.spare, s.extents});
            },
            [&](const Search& s) { result.push_back({s.output, s.extents}); },
            [&](const Pack& p) {
                // Tiles have up to 32 columns; the last one of rows has at most three too many.
                const int64_t count = element_count(p.across);
                const int64_t width = p.panel_width > 0 ? p.panel_width : 64;
                const int64_t across = p.is_left ? count + 3 : (count + width - 1) / width * width;
                result.push_back({p.to, {across, element_count(p.depth)}});
            },
            [&](const Fused& fused) { put_members(result, fused, false); },
            [&](const Repeat& repeat) {
                if (repeat.counter.buffer != Access::position)
                    result.push_back({repeat.counter, {}, iterations(repeat)});
                put_repeated(result, repeat, false);
            },
            [&](const Foreign& foreign) {
                for (const auto& output : foreign.outputs)
                    result.push_back({output.access, output.extents});
            },
            [&](const DecodedContract& c) {
                result.push_back({c.output, concatenate({c.rows, c.columns})});
            },
        },
        kernel.body);
    return result;
}

std::vector<Access*> accesses(Body& body) {
    std::vector<Access*> found;
    const auto one = [&](Access& access) { found.push_back(&access); };
    const auto all = [&](std::vector<Access>& several) {
        for (Access& access : several) one(access);
    };
    std::visit(Overloaded{
                   [&](Map& k) { all(k.inputs), all(k.outputs); },
                   [&](Reduce& k) { all(k.inputs), one(k.output); },
                   [&](Scan& k) { all(k.inputs), one(k.output); },
                   [&](Contract& k) {
                       one(k.left), one(k.right), all(k.finish.inputs);
                       one(k.output), all(k.finish.outputs);
                   },
                   [&](Gather& k) { one(k.data), all(k.indices), one(k.output); },
                   [&](Scatter& k) { one(k.update), all(k.indices), one(k.data); },
                   [&](Fold& k) { one(k.input), one(k.output); },
                   [&](Sort& k) { one(k.input), one(k.output), one(k.spare); },
                   [&](Search& k) { one(k.sorted), one(k.values), one(k.output); },
                   [&](Pack& k) { one(k.from), one(k.to); },
                   [&](Fused& k) {
                       for (Member& member : k.members)
                           for (Access* access : accesses(member.kernel.body)) one(*access);
                   },
                   [&](Repeat& k) {
                       one(k.counter);
                       for (Kernel& kernel : k.kernels)
                           for (Access* access : accesses(kernel.body)) one(*access);
                   },
                   [&](Foreign& k) {
                       for (auto* operands : {&k.inputs, &k.outputs})
                           for (Foreign::Operand& operand : *operands) one(operand.access);
                   },
                   [&](DecodedContract& k) { one(k.left), all(k.inputs), one(k.output); },
               },
               body);
    return found;
}

std::vector<int> buffers_read(const Kernel& kernel) {
    std::vector<Access> accesses;
    for (const AccessInLoops& read : accesses_read(kernel)) accesses.push_back(read.access);
    return numbers_of(accesses);
}

std::vector<int> buffers_written(const Kernel& kernel) {
    std::vector<Access> accesses;
    for (const AccessInLoops& written : accesses_written(kernel))
        accesses.push_back(written.access);
    return numbers_of(accesses);
}

std::vector<scalar::Expr> bodies(const Kernel& kernel) {
    if (const auto* map = std::get_if<Map>(&kernel.body)) return map->values;
    if (const auto* reduce = std::get_if<Reduce>(&kernel.body)) return {reduce->value};
    if (const auto* scan = std::get_if<Scan>(&kernel.body)) return {scan->value};
    if (const auto* c = std::get_if<Contract>(&kernel.body)) return c->finish.values;
    if (const auto* c = std::get_if<DecodedContract>(&kernel.body)) return {c->value};
    std::vector<scalar::Expr> all;
    if (const auto* fused = std::get_if<Fused>(&kernel.body))
        for (const Member& member : fused->members)
            for (const scalar::Expr& value : bodies(member.kernel)) all.push_back(value);
    if (const auto* repeat = std::get_if<Repeat>(&kernel.body))
        for (const Kernel& inner : repeat->kernels)
            for (const scalar::Expr& value : bodies(inner)) all.push_back(value);
    return all;
}

void for_each_step(const Kernel& kernel, const std::function<void(const Kernel&)>& visit) {
    const auto* repeat = std::get_if<Repeat>(&kernel.body);
    if (repeat == nullptr) return visit(kernel);
    for (const Kernel& inner : repeat->kernels) for_each_step(inner, visit);
}

std::vector<bool> touched_outside(const Program& program, size_t kernel) {
    std::vector<bool> is_touched(program.buffers.size(), false);
    for (size_t b = 0; b < program.buffers.size(); ++b)
        is_touched[b] = program.buffers[b].kind != BufferKind::temporary;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        if (k == kernel) continue;
        for (const auto& buffers :
             {buffers_read(program.kernels[k]), buffers_written(program.kernels[k])})
            for (int buffer : buffers) is_touched[static_cast<size_t>(buffer)] = true;
    }
    return is_touched;
}

double flops(const Kernel& kernel) {
    auto loops = Overloaded{
        [](const Map& map) { return size(map.extents) * operations_in(map.values); },
        [](const Reduce& reduce) {
            return size(reduce.kept) * size(reduce.reduced) * (operations_in({reduce.value}) + 1);
        },
        [](const Scan& scan) { return size(scan.extents) * (operations_in({scan.value}) + 1); },
        [](const Contract& c) {
            return size(c.batch) * size(c.rows) * size(c.columns) *
                   (2 * size(c.depth) + operations_in(c.finish.values));
        },
        [](const Gather&) { return 0.0; },
        [](const Scatter& s) { return s.add ? size(s.outer) * size(s.inner) : 0.0; },
        [](const Fold& f) { return size(f.outer) * size(f.counts) * size(f.window); },
        [](const Sort&) { return 0.0; },
        [](const Search&) { return 0.0; },
        [](const Pack&) { return 0.0; },
        [](const Fused& f) {
            double count = 0;
            for (const Member& member : f.members) count += flops(member.kernel);
            return count * size(f.pieces);
        },
        [](const Repeat& r) {
            double count = 0;
            for (const Kernel& inner : r.kernels) count += flops(inner);
            return count * iterations(r);
        },
        [](const Foreign&) { return 0.0; },  // unknown
        [](const DecodedContract& c) {
            return size(c.columns) * size(c.depth) * (2 * size(c.rows) + operations_in({c.value}));
        },
    };
    return std::visit(loops, kernel.body);
}

double bytes_moved(const Kernel& kernel, const Program&) {
    double bytes = 0;
    auto count = [&](const AccessInLoops& moved) {
        double elements = distinct_elements(moved.access, moved.extents) * moved.repeats;
        bytes += elements * size_of(moved.access.dtype);
    };
    for (const AccessInLoops& read : accesses_read(kernel)) count(read);
    for (const AccessInLoops& written : accesses_written(kernel)) count(written);
    return bytes;
}

Map finishing_map(const Contract& c) {
    Map map{concatenate({c.batch, c.rows, c.columns}), {c.output}, c.finish.values, {c.output}};
    map.inputs.insert(map.inputs.end(), c.finish.inputs.begin(), c.finish.inputs.end());
    map.outputs.insert(map.outputs.end(), c.finish.outputs.begin(), c.finish.outputs.end());
    return map;
}

uint64_t structural_hash(const Kernel& kernel) {
    Fingerprint print;
    print.add(kernel);
    return print.hash;
}

}  // namespace composit::ir::kernel
