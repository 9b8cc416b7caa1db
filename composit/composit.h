// Everything that a C++ program needs: #include "composit/composit.h".
#pragma once

#include "composit/base/error.h"
#include "composit/functional/functional.h"
#include "composit/nn/layers.h"
#include "composit/nn/operations.h"
#include "composit/nn/training.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/functions.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/random.h"
#include "composit/numpy/reductions.h"
#include "composit/random/distributions.h"
#include "composit/random/keys.h"
