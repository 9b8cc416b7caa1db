// Prints a Fused: a loop over the parts that calls the members' functions.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <map>

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::Fused;
using ir::kernel::Member;
using ir::kernel::Program;

// The access of a member to a buffer, as a place that moves with the parts.
Access start_in_part(const Member& member, int buffer) {
    ir::kernel::Body body = member.kernel.body;
    const auto moved = ir::kernel::accesses(body);
    size_t a = 0;
    while (moved[a]->buffer != buffer) ++a;
    return {buffer, moved[a]->dtype, 0, member.steps[a]};
}

// Whether anything moves with each loop over the parts.
std::vector<bool> used_loops(const Fused& fused) {
    std::vector<bool> is_used(fused.pieces.size(), false);
    for (const Member& member : fused.members)
        for (const auto& steps : member.steps)
            for (size_t d = 0; d < steps.size(); ++d)
                if (steps[d] != 0) is_used[d] = true;
    return is_used;
}

// Scratch memory of the function: the locals, then what the members need.
class Scratch {
  public:
    std::string take(const std::string& bytes) {
        const std::string at = text_;
        text_ = text_ == "0" ? bytes : text_ + " + " + bytes;
        return at == "0" ? "static_cast<char*>(scratch)" : "static_cast<char*>(scratch) + " + at;
    }
    const std::string& bytes() const { return text_; }

  private:
    std::string text_ = "0";
};

}  // namespace

void print_fused(KernelText& writer, const Fused& fused, const Program& program,
                 const std::vector<PrintedKernel>& members) {
    for (const char* name : {"begin", "end", "scratch"}) writer.names.taken().insert(name);
    const int64_t count = ir::element_count(fused.pieces);
    writer.printed.tasks = count;
    Scratch scratch;
    std::map<int, std::string> local_names;
    for (int local : fused.locals) {
        const auto& buffer = program.buffers[static_cast<size_t>(local)];
        const std::string name = writer.names.claim(buffer.name);
        const std::string type = type_name(buffer.dtype);
        const std::string memory = scratch.take(text((buffer.bytes + 63) / 64 * 64));
        writer.code.add(
            text(type, "* const ", name, " = reinterpret_cast<", type, "*>(", memory, ");"));
        local_names[local] = name;
    }
    std::map<std::string, std::string> member_scratch;  // by its bytes
    for (const PrintedKernel& member : members)
        if (!member.scratch_bytes.empty() && !member_scratch.contains(member.scratch_bytes))
            member_scratch[member.scratch_bytes] = scratch.take(member.scratch_bytes);

    const std::string piece = writer.names.claim("piece");
    std::vector<std::string> indices;
    writer.code.open(text("for (int64_t ", piece, " = ", count > 1 ? "begin" : "0", "; ", piece,
                          " < ", count > 1 ? "end" : "1", "; ++", piece, ")"));
    const std::vector<bool> is_used = used_loops(fused);
    int64_t inner = count;
    for (size_t d = 0; d < fused.pieces.size(); ++d) {
        inner /= fused.pieces[d];
        if (fused.pieces.size() == 1) {
            indices.push_back(piece);
            continue;
        }
        indices.push_back(writer.names.claim(text("p", d)));
        std::string value = inner == 1 ? piece : text(piece, " / ", inner);
        if (d > 0) value += text(" % ", fused.pieces[d]);
        if (is_used[d]) writer.code.add(text("const int64_t ", indices.back(), " = ", value, ";"));
    }
    for (size_t m = 0; m < members.size(); ++m) {
        const PrintedKernel& member = members[m];
        if (member.tasks == 0) continue;
        std::vector<std::string> arguments;
        if (member.tasks > 1) arguments = {"0", text(member.tasks)};
        for (const Parameter& parameter : member.parameters) {
            const int buffer = parameter.buffers[0];
            const auto local = local_names.find(buffer);
            arguments.push_back(local != local_names.end()
                                    ? local->second
                                    : writer.place(start_in_part(fused.members[m], buffer), indices,
                                                   type_name(parameter.dtype),
                                                   parameter.is_written));
        }
        if (!member.scratch_bytes.empty())
            arguments.push_back(member_scratch.at(member.scratch_bytes));
        writer.code.add(text(member.function, "(", join(arguments), ");"));
        writer.printed.is_any_order |= member.is_any_order;
        writer.printed.needs_vectors |= member.needs_vectors;
        writer.printed.prelude.insert(writer.printed.prelude.end(), member.prelude.begin(),
                                      member.prelude.end());
        writer.printed.readings.insert(writer.printed.readings.end(), member.readings.begin(),
                                       member.readings.end());
    }
    writer.code.close();
    if (scratch.bytes() != "0") writer.printed.scratch_bytes = scratch.bytes();
}

}  // namespace composit::c_family
