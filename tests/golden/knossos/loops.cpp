double loops(double x, int64_t n) {
    double s = 0.0;  // kernels.py:95
    int64_t i = 0;  // kernels.py:96
    for (int64_t next_i = 0; next_i < n; ++next_i) {
        i = next_i;
        for (int64_t j = i; j > 0; --j) {  // kernels.py:97
            if (remainder_int64(j, 3) == 1)  // kernels.py:98
                continue;  // kernels.py:99
            s += x / double(j);  // kernels.py:100
            if (s > 100.0)  // kernels.py:101
                return -s;  // kernels.py:102
        }
        if ((s > 50.0) & (i > 2))  // kernels.py:103
            break;  // kernels.py:104
    }
    i = 7;  // kernels.py:105
    while (true) {  // kernels.py:106
        i = int64_t(uint64_t(i) - 1ull);  // kernels.py:107
        if (i < 3)  // kernels.py:108
            break;  // kernels.py:109
        s += remainder_float64(square_plus_one_kernel_float64(x), 2.5);  // kernels.py:110
    }
    return s + double(i);  // kernels.py:111
}

double loops_vjp(double x, int64_t n, double dy) {
    double s = 0.0, ds_dx = 0.0;  // kernels.py:95
    int64_t i = 0;  // kernels.py:96
    for (int64_t next_i = 0; next_i < n; ++next_i) {
        i = next_i;
        for (int64_t j = i; j > 0; --j) {  // kernels.py:97
            if (remainder_int64(j, 3) == 1) continue;  // kernels.py:98
            ds_dx += 1.0 / double(j);  // kernels.py:100
            s += x / double(j);
            if (s > 100.0) return dy * -ds_dx;  // kernels.py:101
        }
        if ((s > 50.0) & (i > 2)) break;  // kernels.py:103
    }
    i = 7;  // kernels.py:105
    while (true) {  // kernels.py:106
        i = int64_t(uint64_t(i) - 1ull);  // kernels.py:107
        if (i < 3) break;  // kernels.py:108
        ds_dx += square_plus_one_kernel_vjp_x_float64(x, 1.0);  // kernels.py:110
        s += remainder_float64(square_plus_one_kernel_float64(x), 2.5);
    }
    return dy * ds_dx;  // kernels.py:111
}

double loops_jvp(double x, int64_t n, double dx) {
    double s = 0.0, ds = 0.0;  // kernels.py:95
    int64_t i = 0;  // kernels.py:96
    for (int64_t next_i = 0; next_i < n; ++next_i) {
        i = next_i;
        for (int64_t j = i; j > 0; --j) {  // kernels.py:97
            if (remainder_int64(j, 3) == 1) continue;  // kernels.py:98
            ds += dx / double(j);  // kernels.py:100
            s += x / double(j);
            if (s > 100.0) return -ds;  // kernels.py:101
        }
        if ((s > 50.0) & (i > 2)) break;  // kernels.py:103
    }
    i = 7;  // kernels.py:105
    while (true) {  // kernels.py:106
        i = int64_t(uint64_t(i) - 1ull);  // kernels.py:107
        if (i < 3) break;  // kernels.py:108
        ds += square_plus_one_kernel_vjp_x_float64(x, dx);  // kernels.py:110
        s += remainder_float64(square_plus_one_kernel_float64(x), 2.5);
    }
    return ds;  // kernels.py:111
}
