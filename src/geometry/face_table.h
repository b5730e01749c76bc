#pragma once

#include "geometry/element_tables.h"

namespace pliant {

/// Which elements of a volume mesh share faces, and which faces are left over as the outer ones.
/// A coarse face with a hanging node in its middle is shared with the up to four finer cells
/// there. Faces are numbered by element and side. Needs valid indices.
class FaceTable {
public:
    /// A coarse face cut by the hanging node in its middle.
    struct CutFace {
        int face;
        int centre;                      ///< the hanging vertex
        std::array<bool, 4> is_covered;  ///< the quarter at corner k has a finer cell on it
    };

    explicit FaceTable(const VolumeMesh& mesh);

    /// Pairs of elements that share a face or a quarter of one.
    [[nodiscard]] const std::vector<std::pair<int, int>>& neighbours() const noexcept {
        return neighbours_;
    }
    /// Faces with another element on them, entirely.
    [[nodiscard]] bool is_inner(int face) const noexcept { return is_inner_[face] != 0; }
    /// Ascending by face.
    [[nodiscard]] const std::vector<CutFace>& cut_faces() const noexcept { return cut_faces_; }
    /// Hanging vertex in the middle of an edge, or −1.
    [[nodiscard]] int middle(int a, int b) const noexcept;

    [[nodiscard]] std::array<int, 4> corners(int face) const noexcept {
        const int n = faces_per_element(mesh_.kind);
        return face_vertices(mesh_, face / n, face % n);
    }

private:
    struct Entry {
        std::array<int, 3> rest;  // the corners after the lowest one, ascending
        int face;
    };
    struct Middle {
        int a, b, vertex;
    };
    [[nodiscard]] int find_single(std::array<int, 4> corners) const noexcept;
    void match_hanging();

    const VolumeMesh& mesh_;
    std::vector<int> start_;  // of the entries with each lowest corner
    std::vector<Entry> entries_;
    std::vector<char> is_inner_;
    std::vector<std::pair<int, int>> neighbours_;
    std::vector<CutFace> cut_faces_;
    std::vector<Middle> middles_;
};

}  // namespace pliant
