// Accelerations of bodies that attract each other: coordinates apart, so that loops are vectors.
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

struct Apart {
    std::vector<double> x, y, z;
    Apart(const double* from, int64_t n) : x(n), y(n), z(n) {
        for (int64_t i = 0; i < n; ++i) {
            x[i] = from[3 * i];
            y[i] = from[3 * i + 1];
            z[i] = from[3 * i + 2];
        }
    }
};

}  // namespace

extern "C" void accelerations(const double* x, const double* m, int64_t n, double* a) {
    const Apart at(x, n);
    const double *xs = at.x.data(), *ys = at.y.data(), *zs = at.z.data();
    for (int64_t i = 0; i < n; ++i) {
        double ax = 0, ay = 0, az = 0;
        const double xi = xs[i], yi = ys[i], zi = zs[i];
#pragma GCC ivdep
        for (int64_t j = 0; j < n; ++j) {
            const double dx = xs[j] - xi, dy = ys[j] - yi, dz = zs[j] - zi;
            const double squared = dx * dx + dy * dy + dz * dz;
            const double factor = j == i ? 0 : m[j] / (squared * std::sqrt(squared));
            ax += factor * dx;
            ay += factor * dy;
            az += factor * dz;
        }
        a[3 * i] = ax;
        a[3 * i + 1] = ay;
        a[3 * i + 2] = az;
    }
}

// Of each pair once: the force on i and the one on j are of the same distance.
extern "C" void accelerations_gradient(const double* x, const double* m, int64_t n,
                                       const double* received, double* dx_out, double* dm) {
    const Apart at(x, n), got(received, n);
    std::vector<double> gx(n), gy(n), gz(n);
    const double *xs = at.x.data(), *ys = at.y.data(), *zs = at.z.data();
    const double *rx = got.x.data(), *ry = got.y.data(), *rz = got.z.data();
    double *hx = gx.data(), *hy = gy.data(), *hz = gz.data();
    for (int64_t i = 0; i < n; ++i) dm[i] = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double xi = xs[i], yi = ys[i], zi = zs[i], mi = m[i];
        const double ri = rx[i], si = ry[i], ti = rz[i];
        double ox = 0, oy = 0, oz = 0, om = 0;
#pragma GCC ivdep
        for (int64_t j = 0; j < i; ++j) {
            const double dx = xs[j] - xi, dy = ys[j] - yi, dz = zs[j] - zi;
            const double squared = dx * dx + dy * dy + dz * dz, over = 1 / squared;
            const double factor = over / std::sqrt(squared);
            // a[i] receives r[i], with m[j]; a[j] receives r[j], with -m[i].
            const double along_i = ri * dx + si * dy + ti * dz;
            const double along_j = rx[j] * dx + ry[j] * dy + rz[j] * dz;
            dm[j] += factor * along_i;
            om -= factor * along_j;
            const double slope = -3 * factor * over * (m[j] * along_i - mi * along_j);
            const double px = factor * (m[j] * ri - mi * rx[j]) + slope * dx;
            const double py = factor * (m[j] * si - mi * ry[j]) + slope * dy;
            const double pz = factor * (m[j] * ti - mi * rz[j]) + slope * dz;
            hx[j] += px;
            hy[j] += py;
            hz[j] += pz;
            ox -= px;
            oy -= py;
            oz -= pz;
        }
        hx[i] += ox;
        hy[i] += oy;
        hz[i] += oz;
        dm[i] += om;
    }
    for (int64_t i = 0; i < n; ++i) {
        dx_out[3 * i] = hx[i];
        dx_out[3 * i + 1] = hy[i];
        dx_out[3 * i + 2] = hz[i];
    }
}
