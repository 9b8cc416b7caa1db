# COMPOSIT_NPYRANDOM: NumPy's distributions as a static library, of the NumPy that the build's
# Python has. They are linked into libcomposit.so; nothing of NumPy is needed to run it.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.11 QUIET COMPONENTS Interpreter)
if(NOT COMPOSIT_NPYRANDOM AND Python_EXECUTABLE)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "import numpy; print(numpy.__path__[0] + '/random/lib')"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_library(COMPOSIT_NPYRANDOM NAMES libnpyrandom.a PATHS ${folder} NO_DEFAULT_PATH)
endif()
if(NOT COMPOSIT_NPYRANDOM)
  message(FATAL_ERROR "NumPy's libnpyrandom.a is missing: `make setup`, or pip install numpy for "
                      "the Python that -DPython_EXECUTABLE names")
endif()
