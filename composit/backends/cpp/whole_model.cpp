// Writes the function that runs a whole program, in parts of bounded size.
#include "composit/backends/cpp/whole_model.h"

#include "composit/base/text.h"

#include <algorithm>

namespace composit::cpp {
namespace {

constexpr const char* parameters =
    "[[maybe_unused]] const Entry* const* kernels,\n"
    "    [[maybe_unused]] void* const* inputs, [[maybe_unused]] void* const* constants,\n"
    "    [[maybe_unused]] void* const* outputs, [[maybe_unused]] char* arena,\n"
    "    [[maybe_unused]] char* scratch, [[maybe_unused]] const Host* host";
constexpr const char* arguments = "kernels, inputs, constants, outputs, arena, scratch, host";

// "    {  // exp_add
//         void* const at[] = {inputs[0], arena + 64, outputs[0]};
//         run_exp_add(0, 1, at, scratch, nullptr);
//     }"
std::string step_text(const ModelStep& step, size_t number,
                      const std::vector<c_family::PrintedKernel>* functions) {
    std::string call;
    if (!step.is_direct)
        call = text("if (!host->run_step(host->state, ", number, ", at)) return false;");
    else if (functions)
        call = text("run_", (*functions)[step.function].function, "(0, ", step.tasks,
                    ", at, scratch, nullptr);");
    else
        call = text("kernels[", step.module, "][", step.function, "].run(0, ", step.tasks,
                    ", at, scratch, nullptr);");
    return text("    {  // ", step.name, "\n        void* const at[] = {", join(step.pointers),
                "};\n        ", call, "\n    }\n");
}

}  // namespace

std::string model_text(const std::vector<ModelStep>& steps, size_t first,
                       const std::vector<c_family::PrintedKernel>* functions) {
    std::string result = R"(// ----- the whole model: every kernel in turn

struct Host {
    void* state;
    // Large steps: shared out to threads, and where Ctrl-C is looked for. False: return at once.
    bool (*run_step)(void* state, int64_t number, void* const* at);
};

)";
    std::string calls;
    for (size_t begin = 0, part = 0; begin < steps.size(); begin += steps_per_function, ++part) {
        const size_t end = std::min(steps.size(), begin + steps_per_function);
        result += text("static bool run_part_", part, "(", parameters, ") {\n");
        for (size_t s = begin; s < end; ++s) result += step_text(steps[s], first + s, functions);
        result += "    return true;\n}\n\n";
        calls +=
            text(calls.empty() ? "" : " &&\n           ", "run_part_", part, "(", arguments, ")");
    }
    const std::string head = text("extern \"C\" bool ", model_symbol, "(", parameters, ")");
    result += text(head, ";\n", head, " {\n    return ", calls.empty() ? "true" : calls, ";\n}\n");
    return result;
}

}  // namespace composit::cpp
