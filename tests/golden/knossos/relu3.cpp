// Like ReLu, but smoother
// Like GeLu, but cheaper
double relu3(double x) {
    if (x < 0.0) {  // kernels.py:27
        return 0.0;  // kernels.py:28
    } else if (x < 1.0) {  // kernels.py:29
        return 0.3333333333333333 * cube_float64(x);  // kernels.py:30
    } else {
        return x - 0.6666666666666666;  // kernels.py:32
    }
}

double relu3_vjp(double x, double dy) {
    if (x < 0.0) {  // kernels.py:27
        return 0.0;  // kernels.py:28
    } else if (x < 1.0) {  // kernels.py:29
        return dy * (0.3333333333333333 * (3.0 * (x * x)));  // kernels.py:30
    } else {
        return dy;  // kernels.py:32
    }
}

double relu3_jvp(double x, double dx) {
    if (x < 0.0) {  // kernels.py:27
        return 0.0;  // kernels.py:28
    } else if (x < 1.0) {  // kernels.py:29
        return 0.3333333333333333 * (dx * (3.0 * (x * x)));  // kernels.py:30
    } else {
        return dx;  // kernels.py:32
    }
}
