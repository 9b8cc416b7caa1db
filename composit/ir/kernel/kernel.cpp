// Questions about one kernel: names, buffers, bodies, work, structure.
#include "composit/ir/kernel/kernel.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/kernel/fields.h"

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
    void add(const scalar::Expr& value) { add(std::vector{value}); }
    void add(int64_t value) { add(static_cast<uint64_t>(value)); }
    void add(bool value) { add(uint64_t{value}); }
    void add(Combiner combiner) { add(static_cast<uint64_t>(combiner)); }
    template <class... Parts>
    void all(const Parts&... parts) {
        (add(parts), ...);
    }

    // What describe says: fields, whatever their names.
    void loops(std::string_view, const Extents& extents, LoopRole) { add(extents); }
    void reads(std::string_view, const auto& accesses, const auto&...) { add(accesses); }
    void reads_again(std::string_view, const Access& access, const auto&...) { add(access); }
    void updates(std::string_view, const Access& access, const auto&...) { add(access); }
    void writes(std::string_view, const auto& accesses, const auto&...) { add(accesses); }
    void values(std::string_view, const auto& values, const auto&...) { add(values); }
    void says(std::string_view, const auto& value) { add(value); }

    void add(const Kernel& kernel);
    void add(const Fused& fused) {
        add(fused.pieces);
        for (const Member& member : fused.members) {
            add(member.kernel);
            for (const auto& steps : member.steps) add(steps);
        }
        for (int local : fused.locals)
            add(static_cast<uint64_t>(std::find(seen.begin(), seen.end(), local) - seen.begin()));
    }
    void add(const Repeat& repeat) {
        all(repeat.begin, repeat.end, repeat.counter);
        for (const Kernel& inner : repeat.kernels) add(inner);
    }
    void add(const Foreign& foreign) {
        all(hash_text(foreign.function), foreign.options, uint64_t{foreign.inputs.size()});
        for (const auto& operands : {foreign.inputs, foreign.outputs})
            for (const Foreign::Operand& operand : operands)
                all(operand.access, operand.extents, operand.is_real_part);
    }
};

void Fingerprint::add(const Kernel& kernel) {
    add(uint64_t{kernel.body.index()});
    std::visit(
        [&](const auto& body) {
            if constexpr (IsDescribed<std::remove_reference_t<decltype(body)>>)
                describe(body, *this);
            else
                add(body);
        },
        kernel.body);
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

std::string_view kind_name(const Body& body) {
    return std::visit([](const auto& kind) { return kind.kind; }, body);
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

namespace {

// What describe says of accesses, with the loops that they move along.
struct AccessesInLoops : NoFields {
    std::vector<AccessInLoops> read = {}, written = {};

    static void put(std::vector<AccessInLoops>& to, const auto& accesses, const Extents& extents,
                    double repeats = 1) {
        for (const Access& access : several(accesses)) to.push_back({access, extents, repeats});
    }
    template <class Accesses, class... Loops>
    void reads(std::string_view, const Accesses& accesses, const Loops&... loops) {
        put(read, accesses, concatenate({loops...}));
    }
    template <class... Loops>
    void reads_again(std::string_view, const Access& access, const Extents& times,
                     const Loops&... loops) {
        put(read, access, concatenate({loops...}), count_of(times));
    }
    template <class... Loops>
    void updates(std::string_view, const Access& access, const Extents& times,
                 const Loops&... loops) {
        put(read, access, concatenate({loops...}), count_of(times));
        put(written, access, concatenate({loops...}), count_of(times));
    }
    template <class Accesses, class... Loops>
    void writes(std::string_view, const Accesses& accesses, const Loops&... loops) {
        put(written, accesses, concatenate({loops...}));
    }
};

std::vector<AccessInLoops> accesses_of(const Kernel& kernel, bool is_read) {
    AccessesInLoops found;
    std::vector<AccessInLoops>& result = is_read ? found.read : found.written;
    std::visit(Overloaded{
                   [&](const Fused& fused) { put_members(result, fused, is_read); },
                   [&](const Repeat& repeat) {
                       if (!is_read && repeat.counter.buffer != Access::position)
                           result.push_back({repeat.counter, {}, iterations(repeat)});
                       put_repeated(result, repeat, is_read);
                   },
                   [&](const Foreign& foreign) {
                       for (const auto& operand : is_read ? foreign.inputs : foreign.outputs)
                           result.push_back({operand.access, operand.extents});
                   },
                   [&](const auto& body) { describe(body, found); },
               },
               kernel.body);
    return std::move(result);
}

}  // namespace

std::vector<AccessInLoops> accesses_read(const Kernel& kernel) { return accesses_of(kernel, true); }
std::vector<AccessInLoops> accesses_written(const Kernel& kernel) {
    return accesses_of(kernel, false);
}

namespace {

// Reads first, then writes; what is updated once, behind the reads.
struct EveryAccess : NoFields {
    std::vector<Access*> read = {}, written = {};

    static void put(std::vector<Access*>& to, Access& access) { to.push_back(&access); }
    static void put(std::vector<Access*>& to, std::vector<Access>& accesses) {
        for (Access& access : accesses) to.push_back(&access);
    }
    void reads(std::string_view, auto& accesses, const auto&...) { put(read, accesses); }
    void reads_again(std::string_view, Access& access, const auto&...) { put(read, access); }
    void updates(std::string_view, Access& access, const auto&...) { put(written, access); }
    void writes(std::string_view, auto& accesses, const auto&...) { put(written, accesses); }
};

}  // namespace

std::vector<Access*> accesses(Body& body) {
    EveryAccess found;
    std::visit(Overloaded{
                   [&](Fused& fused) {
                       for (Member& member : fused.members)
                           for (Access* access : accesses(member.kernel.body))
                               found.read.push_back(access);
                   },
                   [&](Repeat& repeat) {
                       found.read.push_back(&repeat.counter);
                       for (Kernel& kernel : repeat.kernels)
                           for (Access* access : accesses(kernel.body))
                               found.read.push_back(access);
                   },
                   [&](Foreign& foreign) {
                       for (auto* operands : {&foreign.inputs, &foreign.outputs})
                           for (Foreign::Operand& operand : *operands)
                               found.read.push_back(&operand.access);
                   },
                   [&](auto& described) { describe(described, found); },
               },
               body);
    found.read.insert(found.read.end(), found.written.begin(), found.written.end());
    return std::move(found.read);
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

namespace {

struct Bodies : NoFields {
    std::vector<scalar::Expr> all = {};

    void values(std::string_view, const auto& values, const auto&...) {
        for (const scalar::Expr& value : several(values)) all.push_back(value);
    }
};

}  // namespace

std::vector<scalar::Expr> bodies(const Kernel& kernel) {
    Bodies found;
    const auto put = [&](const Kernel& inner) { found.values("", bodies(inner)); };
    std::visit(Overloaded{
                   [&](const Fused& fused) {
                       for (const Member& member : fused.members) put(member.kernel);
                   },
                   [&](const Repeat& repeat) {
                       for (const Kernel& inner : repeat.kernels) put(inner);
                   },
                   [](const Foreign&) {},
                   [&](const auto& body) { describe(body, found); },
               },
               kernel.body);
    return std::move(found.all);
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

namespace {

// The operations of scalar bodies.
struct Operations : NoFields {
    double count = 0;

    void values(std::string_view, const auto& values, const auto&... loops) {
        count += operations_in(several(values)) * count_of(concatenate({loops...}));
    }
};

}  // namespace

double flops(const Kernel& kernel) {
    auto loops = Overloaded{
        [](const Fused& f) {
            double count = 0;
            for (const Member& member : f.members) count += flops(member.kernel);
            return count * count_of(f.pieces);
        },
        [](const Repeat& r) {
            double count = 0;
            for (const Kernel& inner : r.kernels) count += flops(inner);
            return count * iterations(r);
        },
        [](const Foreign&) { return 0.0; },  // it is unknown
        [](const auto& body) {
            Operations values;
            describe(body, values);
            const Work more = work(body);
            return values.count + more.combined + more.products;
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

namespace {

template <class To, class From>
To same_product(const From& c) {
    return {c.batch, c.rows,   c.columns,        c.depth,           c.left,
            c.right, c.output, c.left_is_packed, c.right_is_packed, c.finish};
}

}  // namespace

std::optional<Product> product_in(const Body& body) {
    if (const auto* c = std::get_if<Contract>(&body)) return Product{*c, c->output.dtype};
    if (const auto* c = std::get_if<ByteContract>(&body))
        return Product{same_product<Contract>(*c), DType::int32};
    return std::nullopt;
}

void put_product(Body& body, Contract contract) {
    if (std::holds_alternative<ByteContract>(body))
        body = same_product<ByteContract>(contract);
    else
        body = std::move(contract);
}

uint64_t structural_hash(const Kernel& kernel) {
    Fingerprint print;
    print.add(kernel);
    return print.hash;
}

}  // namespace composit::ir::kernel
