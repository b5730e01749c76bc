#include "greens/shifted_columns.h"

#include <algorithm>

#include <Eigen/Geometry>

#include "core/numbers.h"

namespace pliant {

using Eigen::Vector3d;

ShiftedColumns::ShiftedColumns(const SurfaceMesh& mesh)
    : mesh_(mesh), topology_(mesh), walk_(mesh), normals_(vertex_normals(mesh)) {}

std::vector<int> ShiftedColumns::near(int vertex, int rings) const {
    std::vector<int> found{vertex};
    std::size_t begin = 0;
    for (int ring = 0; ring < rings; ++ring) {
        const std::size_t end = found.size();
        for (; begin < end; ++begin)
            for (const int t : topology_.triangles_at(found[begin]))
                for (const int v : mesh_.triangles[at(t)])
                    if (std::find(found.begin(), found.end(), v) == found.end()) found.push_back(v);
    }
    return found;
}

Vector3d ShiftedColumns::flattened(const Vector3d& x, int vertex) const {
    const Vector3d& n = normals_[at(vertex)];
    const Vector3d flat = x - x.dot(n) * n;
    const double length = flat.norm();
    return length > 0 ? Vector3d(flat * (x.norm() / length)) : flat;
}

SurfaceWalk::Place ShiftedColumns::shifted(int row, int to, int from) const {
    // the way in the tangent plane at `to`, turned into that at `from`
    const auto turn = Eigen::Quaterniond::FromTwoVectors(normals_[at(to)], normals_[at(from)]);
    const Vector3d way = turn * flattened(mesh_.vertices[at(row)] - mesh_.vertices[at(to)], to);

    // the triangle at `from` whose flattened sides it lies between
    const Vector3d& n = normals_[at(from)];
    SurfaceWalk::Place best{topology_.triangles_at(from).front(), Vector3d::Zero()};
    double best_share = -kInfinity, ahead = 0, beside = 0;
    int best_corner = 0;
    for (const int t : topology_.triangles_at(from)) {
        const Triangle& corners = mesh_.triangles[at(t)];
        const int k =
            static_cast<int>(std::find(corners.begin(), corners.end(), from) - corners.begin());
        const Vector3d a = flattened(mesh_.corner(t, (k + 1) % 3) - mesh_.corner(t, k), from),
                       b = flattened(mesh_.corner(t, (k + 2) % 3) - mesh_.corner(t, k), from);
        const double area = n.dot(a.cross(b));
        if (!(area > 0)) continue;
        const double alpha = n.dot(way.cross(b)) / area, beta = n.dot(a.cross(way)) / area;
        if (std::min(alpha, beta) <= best_share) continue;
        best_share = std::min(alpha, beta);
        best.triangle = t;
        best_corner = k;
        ahead = std::max(alpha, 0.0);
        beside = std::max(beta, 0.0);
    }
    Vector3d& weights = best.barycentric;
    if (ahead + beside <= 1) {
        weights[best_corner] = 1 - ahead - beside;
        weights[(best_corner + 1) % 3] = ahead;
        weights[(best_corner + 2) % 3] = beside;
        return best;
    }
    weights[best_corner] = 1;
    const int t = best.triangle;
    const Vector3d x = mesh_.corner(t, best_corner);
    return walk_.walk(best, ahead * (mesh_.corner(t, (best_corner + 1) % 3) - x) +
                                beside * (mesh_.corner(t, (best_corner + 2) % 3) - x));
}

}  // namespace pliant
