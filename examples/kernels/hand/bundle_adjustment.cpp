// The bundle adjustment of bundle_adjustment.py and its sparse Jacobian, written by hand.
#include <cmath>
#include <cstdint>

namespace {

struct Vector {
    double x, y, z;
};

Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A rotation of a point, with what its derivative needs.
struct Rotation {
    Vector w, p, c, result;
    double angle, sine, cosine, along;
    bool is_small;

    Rotation(Vector rotation, Vector point) : p(point) {
        const double square = dot(rotation, rotation);
        is_small = square == 0;
        if (is_small) {
            w = rotation;
            result = p + cross(w, p);
            return;
        }
        angle = std::sqrt(square);
        w = (1 / angle) * rotation;
        sine = std::sin(angle);
        cosine = std::cos(angle);
        c = cross(w, p);
        along = dot(w, p);
        result = cosine * p + sine * c + (along * (1 - cosine)) * w;
    }

    // What the rotation and the point receive of the gradient of the result.
    void back(Vector g, Vector& dr, Vector& dp) const {
        if (is_small) {
            dr = cross(p, g);
            dp = g + cross(g, w);
            return;
        }
        const double gw = dot(g, w), versine = 1 - cosine;
        dp = cosine * g + sine * cross(g, w) + (gw * versine) * w;
        const Vector dw = sine * cross(p, g) + versine * (gw * p + along * g);
        const double dangle = cosine * dot(g, c) + sine * (along * gw - dot(g, p));
        // w is the rotation over its length.
        dr = (1 / angle) * (dw - dot(w, dw) * w) + dangle * w;
    }
};

struct Seen {
    Rotation rotation;
    double x, y, square, inner, scale;

    Seen(const double* camera, const double* point)
        : rotation({camera[0], camera[1], camera[2]},
                   {point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]}) {
        const double inverse = 1 / rotation.result.z;
        x = rotation.result.x * inverse;
        y = rotation.result.y * inverse;
        square = x * x + y * y;
        inner = 1 + square * (camera[9] + square * camera[10]);
        scale = inner * camera[6];
    }
};

}  // namespace

extern "C" void bundle_adjustment(const double* cameras, const double* points,
                                  const double* weights, const int64_t* seen,
                                  const double* features, int64_t count, double* errors,
                                  double* regularity) {
    for (int64_t i = 0; i < count; ++i) {
        const double* camera = cameras + 11 * seen[2 * i];
        const Seen s(camera, points + 3 * seen[2 * i + 1]);
        errors[2 * i] = weights[i] * (s.x * s.scale + camera[7] - features[2 * i]);
        errors[2 * i + 1] = weights[i] * (s.y * s.scale + camera[8] - features[2 * i + 1]);
        regularity[i] = 1 - weights[i] * weights[i];
    }
}

extern "C" void bundle_adjustment_jacobian(const double* cameras, const double* points,
                                           const double* weights, const int64_t* seen,
                                           const double* features, int64_t count, double* values) {
    for (int64_t i = 0; i < count; ++i) {
        const double* camera = cameras + 11 * seen[2 * i];
        const Seen s(camera, points + 3 * seen[2 * i + 1]);
        const double weight = weights[i], inverse = 1 / s.rotation.result.z;
        const double slope = weight * camera[6] * (camera[9] + 2 * s.square * camera[10]);
        for (int64_t axis = 0; axis < 2; ++axis) {
            double* row = values + 31 * i + 15 * axis;
            const double own = axis == 0 ? s.x : s.y;
            // By x and y: through the factor, whose argument is their square, and directly.
            const double gx = 2 * own * slope * s.x + (axis == 0 ? weight * s.scale : 0);
            const double gy = 2 * own * slope * s.y + (axis == 1 ? weight * s.scale : 0);
            const Vector g{gx * inverse, gy * inverse, -(gx * s.x + gy * s.y) * inverse};
            Vector dr, dp;
            s.rotation.back(g, dr, dp);
            row[0] = dr.x;
            row[1] = dr.y;
            row[2] = dr.z;
            row[3] = -dp.x;
            row[4] = -dp.y;
            row[5] = -dp.z;
            row[6] = weight * own * s.inner;
            row[7] = axis == 0 ? weight : 0;
            row[8] = axis == 1 ? weight : 0;
            row[9] = weight * own * camera[6] * s.square;
            row[10] = row[9] * s.square;
            row[11] = dp.x;
            row[12] = dp.y;
            row[13] = dp.z;
            row[14] = own * s.scale + camera[7 + axis] - features[2 * i + axis];
        }
        values[31 * i + 30] = -2 * weight;
    }
}
