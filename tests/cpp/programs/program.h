// One program over eager::Variable. The language is in tests/imperative_cpp_programs.py.
#pragma once

#include "composit/eager/variable.h"
#include "text.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace composit::tests {

// What a user would see if something were wrong: a test asks whether programs find it.
enum class Fault {
    none,
    views_copy,
    copies_share,
    swaps_keep_nothing,
    detached_have_gradients,
    results_are_bound,  // x += y binds x to something new
    numbers_are_late,   // a number changes with what it was read from
    steps_forget,       // a parameter that was stepped is another one
    taken_change,       // what was taken changes with what it was taken from
};
Fault fault_named(const std::string& name);

class Program {
  public:
    explicit Program(Fault fault) : fault_(fault) {}

    // Runs the lines, and returns what they print. Errors are printed, too, and the next line runs.
    std::string run(const std::vector<Line>& lines);

  private:
    using Value = std::variant<double, eager::Variable>;

    void run_block(const std::vector<Line>& lines);
    void run_line(const Line& line);
    void run_statement(const Line& line);
    void write_in_place(const std::string& operation, const std::string& target, Words& words);

    Value value_of(Words& words);
    Value result_of(const std::string& operation, Words& words);
    eager::Variable variable_of(Words& words);
    double number_of(Words& words);
    bool holds(Words& words);  // a comparison

    eager::Variable named(const std::string& text);  // x, x[0], x[1:,k2]
    numpy::Index index_of(const std::string& text);
    void bind(const std::string& name, eager::Variable variable);
    void print(const ir::Array& array);

    Fault fault_;
    std::map<std::string, eager::Variable> variables_;
    std::map<std::string, double> numbers_;
    std::map<std::string, eager::Variable> late_numbers_;
    std::map<std::string, int64_t> integers_;
    std::map<std::string, ir::Array> taken_;
    std::string printed_;
};

}  // namespace composit::tests
