// Names for other arrays and their parts, `y = x`, `row = a[i]`. NumPy's share their elements,
// those of procedures are copies: what would show the difference is refused.
//
// When a name gets another array, the one that it stood for before may still have other names. It
// is the past array of that name: its elements do not change any more, except through its last
// name.
#pragma once

#include "composit/knossos/array.h"
#include "composit/knossos/code.h"
#include "composit/knossos/found.h"

#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// What copies stand for, along the statements.
class Sharing {
  public:
    Sharing(Code& code, Found& found) : code_(code), found_(found) {}

    // An array has got the elements of a value.
    void copy_of_parts(const Stored& stored, const Array& value);
    // Mismatch where an array is a part of one that has changed since.
    void check_current(int number) const;
    // Refuses to assign elements of an array that shares them with another one.
    void check_own(const Stored& stored) const;
    // Another array stands where this one did.
    void overwritten(int number);
    // The name of the array stands for another one.
    void let_go(int number);
    // Elements of an array were assigned.
    void has_changed(const Stored& stored);

    // ----- ways through the function

    // The number of a loop, and the state that its iterations begin with: that before it, and what
    // an iteration hands on, which an earlier translation has shown.
    std::pair<int, State> begin_of_loop();
    // `again`: the states that begin another iteration, `ends`: those that leave the loop.
    void end_of_loop(int number, const State& begin, const std::vector<State>& again,
                     const std::vector<State>& ends);

    State parts;
    Numbers fresh;  // arrays that have no name in the text
    Numbers ended;  // arrays that branches and loops before this place have made

  private:
    std::string name_of(int number) const;
    std::vector<int> others_of(int whole, int number) const;
    [[noreturn]] void refuse_shared(const Stored& stored, const std::string& whole) const;

    Code& code_;
    Found& found_;
    int count_of_loops_ = 0;
};

}  // namespace composit::knossos
