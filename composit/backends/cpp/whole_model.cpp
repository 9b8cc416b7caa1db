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

class ModelWriter {
  public:
    explicit ModelWriter(const std::vector<c_family::PrintedKernel>* functions)
        : functions_(functions) {}

    // Functions that run the steps, in parts of bounded size; the call of them all.
    std::string parts(const std::vector<ModelStep>& steps) {
        std::string calls;
        for (size_t begin = 0; begin < steps.size(); begin += steps_per_function) {
            const size_t end = std::min(steps.size(), begin + steps_per_function);
            std::string body;
            for (size_t s = begin; s < end; ++s)
                body += steps[s].is_repeat ? repeat_text(steps[s]) : step_text(steps[s]);
            const size_t part = count_++;
            text_ += text("static bool run_part_", part, "(", parameters, ") {\n", body,
                          "    return true;\n}\n\n");
            calls += text(calls.empty() ? "" : " &&\n           ", "run_part_", part, "(",
                          arguments, ")");
        }
        return calls.empty() ? "true" : calls;
    }

    const std::string& text_of_parts() const { return text_; }

  private:
    // "    {  // exp_add
    //         void* const at[] = {inputs[0], arena + 64, outputs[0]};
    //         run_exp_add(0, 1, at, scratch, nullptr);
    //     }"
    std::string step_text(const ModelStep& step) const {
        const std::string head = text("    {  // ", step.name, "\n        void* const at[] = {",
                                      join(step.pointers), "};\n        ");
        if (!step.is_direct)
            return text(head, "if (!host->run_step(host->state, ", step.number,
                        ", at)) return false;\n    }\n");
        const std::string function =
            functions_ ? "run_" + (*functions_)[step.function].function
                       : text("kernels[", step.module, "][", step.function, "].run");
        const auto call = [&](const std::string& fault) {
            return text(function, "(0, ", step.tasks, ", at, scratch, ", fault, ");\n");
        };
        if (!step.can_fault) return head + call("nullptr") + "    }\n";
        return text(head, "Fault fault = {-1, 0, 0};\n        ", call("&fault"),
                    "        if (fault.outer >= 0 && !host->accepts(host->state, ", step.number,
                    ", &fault))\n            return false;\n    }\n");
    }

    std::string repeat_text(const ModelStep& step) {
        const std::string calls = parts(step.repeated);
        std::string result = text("    for (int64_t iteration = ", step.begin, "; iteration < ",
                                  step.end, "; ++iteration) {  // ", step.name, "\n");
        for (const std::string& counter : step.pointers)
            result += text("        *static_cast<int64_t*>(static_cast<void*>(", counter,
                           ")) = iteration;\n");
        result += text("        if (!(", calls, ")) return false;\n");
        result += text("        if (iteration % ", step.patience, " == 0 && ",
                       "!host->may_go_on(host->state)) return false;\n    }\n");
        return result;
    }

    const std::vector<c_family::PrintedKernel>* functions_;
    std::string text_;
    size_t count_ = 0;
};

}  // namespace

std::string model_text(const std::vector<ModelStep>& steps,
                       const std::vector<c_family::PrintedKernel>* functions) {
    ModelWriter writer(functions);
    const std::string calls = writer.parts(steps);
    const std::string head = text("extern \"C\" bool ", model_symbol, "(", parameters, ")");
    return R"(// ----- the whole model: every kernel in turn

struct Host {
    void* state;
    // Large steps: shared out to threads, and where Ctrl-C is looked for. False: return at once.
    bool (*run_step)(void* state, int64_t number, void* const* at);
    bool (*may_go_on)(void* state);
    bool (*accepts)(void* state, int64_t number, const Fault* fault);
};

)" + writer.text_of_parts() +
           text(head, ";\n", head, " {\n    return ", calls, ";\n}\n");
}

}  // namespace composit::cpp
