// The lock of Python's interpreter: given up while work goes on, taken where Python is called.
#pragma once

#include <Python.h>
#include <unistd.h>

namespace composit::python {

// Where Python ends while a daemon thread works, Python up to 3.13 ends the thread, when it wants
// the lock, by unwinding it. Its destructors and threads' functions cannot be unwound, so the
// process would be terminated. The thread waits for the process's end instead, as from Python 3.14
// on.
template <class Take>
auto take_lock(const Take& take) {
    try {
        return take();
    } catch (...) {
        for (;;) pause();  // leaving the handler would end the process
    }
}

// Other Python threads run while this lives.
class Released {
  public:
    Released() : state_(PyEval_SaveThread()) {}
    ~Released() {
        take_lock([&] { PyEval_RestoreThread(state_); });
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

  private:
    PyThreadState* state_;
};

// Python may be called while this lives, from any thread.
class Acquired {
  public:
    Acquired() : state_(take_lock([] { return PyGILState_Ensure(); })) {}
    ~Acquired() { PyGILState_Release(state_); }
    Acquired(const Acquired&) = delete;
    Acquired& operator=(const Acquired&) = delete;

  private:
    PyGILState_STATE state_;
};

}  // namespace composit::python
