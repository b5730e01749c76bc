#pragma once

#include <Eigen/Core>
#include <string>
#include <variant>
#include <vector>

namespace pliant {

/// Vertices picked by place. Built by the functions below or from text, evaluated on any vertex
/// list.
struct Selection {
    struct InBox {
        Eigen::Vector3d low, high;
    };
    struct InSphere {
        Eigen::Vector3d centre;
        double radius;
    };
    /// normal · x < offset
    struct BelowPlane {
        Eigen::Vector3d normal;
        double offset;
    };
    /// The lowest (or highest) fraction of the extent along an axis: x ≤ low + fraction · (high −
    /// low), give or take 1e-9 of the extent, so that a vertex exactly on the limit counts.
    struct Lowest {
        int axis;
        double fraction;
    };
    struct Highest {
        int axis;
        double fraction;
    };
    struct List {
        std::vector<int> vertices;
    };

    std::variant<InBox, InSphere, BelowPlane, Lowest, Highest, List> shape;
};

// These throw InputError for non-finite numbers, inverted boxes, negative radii, zero normals,
// fractions outside [0, 1] and negative indices.
[[nodiscard]] Selection in_box(const Eigen::Vector3d& low, const Eigen::Vector3d& high);
[[nodiscard]] Selection in_sphere(const Eigen::Vector3d& centre, double radius);
[[nodiscard]] Selection below_plane(const Eigen::Vector3d& normal, double offset);
[[nodiscard]] Selection lowest(double fraction, int axis = 2);
[[nodiscard]] Selection highest(double fraction, int axis = 2);
[[nodiscard]] Selection vertex_list(std::vector<int> vertices);

/// Reads `z < 5 %`, `z > 95 %`, `x < 0.02` (metres), `lowest 5 %`, `highest 10 % x`,
/// `box x0 y0 z0 x1 y1 z1`, `sphere x y z r`, `plane nx ny nz offset`, `list 1,2,7-9`; spaces and
/// commas are free. Throws InputError with examples when it cannot.
[[nodiscard]] Selection parse_selection(const std::string& text);

/// What is selected, as messages call one and several of it.
struct SelectionNoun {
    const char *one = "vertex", *many = "vertices";
};

/// Indices of the selected points, ascending. Throws InputError for list entries out of range.
[[nodiscard]] std::vector<int> select(const Selection& selection,
                                      const std::vector<Eigen::Vector3d>& points,
                                      SelectionNoun noun = {});
/// As `select` of `parse_selection(text)`, but an empty result is an InputError that says where the
/// points are and what to try. `option` names the source of the text in messages: `--fix`.
[[nodiscard]] std::vector<int> select_some(const std::string& text,
                                           const std::vector<Eigen::Vector3d>& points,
                                           const std::string& option, SelectionNoun noun = {});

}  // namespace pliant
