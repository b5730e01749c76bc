#include "contact/point_tree_data.h"
#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/core/version.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3f;
using Extents = std::vector<std::uint64_t>;

// Three contiguous floats each, so that a shell is written and read without a copy in between.
static_assert(sizeof(Vector3f) == 3 * sizeof(float));

const std::string kPointTreeKind = "point-tree";
constexpr int kNodeColumns = 3;

/// Chunks of a tree, with checks that name file and chunk.
class TreeReader {
public:
    TreeReader(const Archive& archive, const std::string& name) : archive_(archive), name_(name) {}

    /// A chunk of `rows` × `columns` numbers.
    template <class T>
    [[nodiscard]] std::span<const T> get(const std::string& chunk, std::uint64_t rows,
                                         std::uint64_t columns) const {
        const std::span<const T> values = archive_.get<T>(chunk);
        if (archive_.info(chunk).shape != Extents{rows, columns})
            fail(chunk + ", shape", shape_text(archive_.info(chunk).shape),
                 shape_text({rows, columns}));
        return values;
    }
    template <class T>
    [[nodiscard]] std::span<const T> list(const std::string& chunk) const {
        return archive_.get<T>(chunk);
    }
    /// Number of rows of a chunk with `columns`.
    [[nodiscard]] std::uint64_t rows(const std::string& chunk, std::uint64_t columns) const {
        const Extents& shape = archive_.info(chunk).shape;
        if (shape.size() != 2 || shape[1] != columns || shape[0] > 2147483647u)
            fail(chunk + ", shape", shape_text(shape),
                 "[n, " + std::to_string(columns) + "] with n below 2147483648");
        return shape[0];
    }
    [[noreturn]] void fail(const std::string& field, const std::string& value,
                           const std::string& expected) const {
        throw InputError(name_, field, value, expected);
    }

private:
    static std::string shape_text(const Extents& shape) {
        std::string text = "[";
        for (const std::uint64_t extent : shape)
            text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
        return text + "]";
    }
    const Archive& archive_;
    const std::string& name_;
};

std::vector<Vector3f> vectors(std::span<const float> values) {
    std::vector<Vector3f> all;
    all.reserve(values.size() / 3);
    for (std::size_t i = 0; i < values.size(); i += 3)
        all.emplace_back(values[i], values[i + 1], values[i + 2]);
    return all;
}

Pointshell read_shell(const TreeReader& in, const std::string& name) {
    const std::uint64_t n = in.rows("shell/points", 3);
    Pointshell shell;
    shell.points = vectors(in.get<float>("shell/points", n, 3));
    shell.normals = vectors(in.get<float>("shell/normals", n, 3));
    const auto start = in.list<int>("shell/level_start");
    shell.level_start.assign(start.begin(), start.end());
    const auto lengths = in.list<double>("shell/lengths");
    if (lengths.size() != 2) in.fail("shell/lengths, length", std::to_string(lengths.size()), "2");
    shell.spacing = lengths[0];
    shell.offset = lengths[1];
    try {
        check_pointshell(shell);
    } catch (const InputError& error) {
        throw InputError(name, error.what());
    }
    return shell;
}

std::string node_field(int node, const char* what) {
    return "tree/nodes[" + std::to_string(node) + "]" + what;
}

/// Level starts follow from the shell: level i has all points of its levels 0 … i.
std::vector<int> node_level_starts(const TreeReader& in, const Pointshell& shell) {
    std::vector<int> start{0};
    std::int64_t count = 0;
    for (int level = 0; level < shell.num_levels(); ++level) {
        count += shell.level_start[level + 1];
        if (count > std::numeric_limits<int>::max())
            in.fail("nodes of the point-tree", std::to_string(count), "at most 2147483647");
        start.push_back(static_cast<int>(count));
    }
    return start;
}

/// Each level has its points once, and children are those of the next level in order: nothing that
/// follows an index of such a tree can leave it.
void check_nodes(const TreeReader& in, const PointTreeData& tree) {
    const int num_levels = tree.shell.num_levels();
    std::vector<int> last_level(tree.shell.points.size(), -1);  // on which a point was seen
    for (int level = 0; level < num_levels; ++level) {
        const int num_points = tree.shell.level_start[level + 1];
        const bool is_last = level + 1 == num_levels;
        int next = is_last ? 0 : tree.level_start[level + 1];
        const int end_next = is_last ? 0 : tree.level_start[level + 2];
        for (int n = tree.level_start[level]; n < tree.level_start[level + 1]; ++n) {
            const PointTree::Node& node = tree.nodes[n];
            if (node.point < 0 || node.point >= num_points)
                in.fail(node_field(n, ".point"), std::to_string(node.point),
                        "0 … " + std::to_string(num_points - 1));
            if (std::exchange(last_level[node.point], level) == level)
                in.fail(node_field(n, ".point"), std::to_string(node.point),
                        "each point once on a level");
            const int most = is_last ? 0 : end_next - next;
            if (node.first_child != next || node.num_children < (is_last ? 0 : 1) ||
                node.num_children > most)
                in.fail(
                    node_field(n, ", first child and children"),
                    std::to_string(node.first_child) + ", " + std::to_string(node.num_children),
                    std::to_string(next) + ", " + (is_last ? "0" : "1 … " + std::to_string(most)));
            if (is_last) continue;
            if (tree.nodes[next].point != node.point)
                in.fail(node_field(next, ".point"), std::to_string(tree.nodes[next].point),
                        std::to_string(node.point) + ", the copy of its parent");
            next += node.num_children;
        }
        if (next != end_next)
            in.fail("tree/nodes, children of level " + std::to_string(level),
                    std::to_string(next - tree.level_start[level + 1]),
                    std::to_string(end_next - tree.level_start[level + 1]));
    }
}

/// Numbers that stay finite in products; every fourth is a radius, or the 0 beside a normal.
void check_rows(const TreeReader& in, const std::string& chunk, std::span<const float> rows,
                std::size_t stride) {
    parallel_for(rows.size() / stride, 1024, [&](std::size_t i) {
        for (std::size_t k = 0; k < stride; ++k) {
            const float value = rows[i * stride + k];
            const bool is_radius = k % 4 == 3;
            if (std::abs(value) <= kLargestPointEntry && (!is_radius || value >= 0)) continue;
            in.fail(chunk + "[" + std::to_string(i) + ", " + std::to_string(k) + "]",
                    std::to_string(value),
                    is_radius ? "0 … 1e15" : "a finite number, at most 1e15");
        }
    });
}

/// The vector at the end of row i is `expected`.
void check_vectors(const TreeReader& in, const std::string& chunk, const float* row, int r, int i,
                   const Vector3f& expected) {
    if (std::equal(expected.data(), expected.data() + 3, row + 4 * r)) return;
    in.fail(chunk + "[" + std::to_string(i) + "]", "another vector", "that of its point");
}

}  // namespace

PointTree PointTree::load(const std::filesystem::path& path) {
    return from_archive(Archive::verified(path), path.string());
}

PointTree PointTree::from_archive(const Archive& archive, const std::string& name) {
    archive.require_kind(kPointTreeKind);
    const TreeReader in(archive, name);
    const auto tree = std::make_shared<PointTreeData>();
    tree->shell = read_shell(in, name);
    tree->level_start = node_level_starts(in, tree->shell);

    // sizes
    const auto rank = in.list<int>("tree/rank");
    constexpr int kLargestRank = 1 << 20;
    if (rank.size() != 1 || rank[0] < 0 || rank[0] > kLargestRank)
        in.fail("tree/rank", rank.size() == 1 ? std::to_string(rank[0]) : "not one number",
                "0 … " + std::to_string(kLargestRank));
    tree->r = rank[0];
    const std::size_t stride = tree->stride();
    const auto num_nodes = static_cast<std::uint64_t>(tree->level_start.back());
    const auto links = in.get<int>("tree/nodes", num_nodes, kNodeColumns);
    const auto b = in.get<float>("tree/b", num_nodes, 1);
    const auto rows = in.get<float>("tree/rows", num_nodes, stride);
    const auto normal_rows = in.get<float>("tree/normal_rows", tree->shell.points.size(), stride);

    tree->nodes.reserve(b.size());
    for (std::size_t n = 0; n < b.size(); ++n)
        tree->nodes.push_back({links[3 * n], links[3 * n + 1], links[3 * n + 2], b[n]});
    check_nodes(in, *tree);
    check_rows(in, "tree/rows", rows, stride);
    check_rows(in, "tree/normal_rows", normal_rows, stride);
    for (std::size_t n = 0; n < b.size(); ++n)
        if (!(b[n] >= 0 && b[n] <= kLargestPointEntry))
            in.fail("tree/b[" + std::to_string(n) + "]", std::to_string(b[n]), "0 … 1e15");
    tree->archive = archive;
    tree->rows = rows.data();
    tree->normal_rows = normal_rows.data();
    for (int n = 0; n < static_cast<int>(tree->nodes.size()); ++n)
        check_vectors(in, "tree/rows", tree->row(n), tree->r, n,
                      tree->shell.points[tree->nodes[n].point]);
    for (int p = 0; p < tree->shell.num_points(); ++p)
        check_vectors(in, "tree/normal_rows", tree->normal_rows + at(p) * stride, tree->r, p,
                      tree->shell.normals[p]);
    tree->measure();
    return PointTree(std::shared_ptr<const PointTreeData>(tree));
}

void PointTree::save(const std::filesystem::path& path, const Provenance& provenance) const {
    const Pointshell& shell = data_->shell;
    const std::uint64_t n = shell.points.size(), num_nodes = data_->nodes.size();
    const std::uint64_t stride = data_->stride();
    ArchiveWriter writer(kPointTreeKind);
    for (const auto& [key, value] : provenance) writer.set_provenance(key, value);
    writer.set_provenance("version", kVersion);

    const std::array<double, 2> lengths{shell.spacing, shell.offset};
    writer.add<float>("shell/points", {shell.points[0].data(), 3 * n}, {n, 3});
    writer.add<float>("shell/normals", {shell.normals[0].data(), 3 * n}, {n, 3});
    writer.add<int>("shell/level_start", shell.level_start);
    writer.add<double>("shell/lengths", lengths);

    const std::array<int, 1> rank{data_->r};
    std::vector<int> links;
    std::vector<float> b;
    links.reserve(kNodeColumns * num_nodes);
    b.reserve(num_nodes);
    for (const Node& node : data_->nodes) {
        links.insert(links.end(), {node.point, node.first_child, node.num_children});
        b.push_back(node.b);
    }
    writer.add<int>("tree/rank", rank);
    writer.add<int>("tree/nodes", links, {num_nodes, kNodeColumns});
    writer.add<float>("tree/b", b, {num_nodes, 1});
    writer.add<float>("tree/rows", {data_->rows, num_nodes * stride}, {num_nodes, stride});
    writer.add<float>("tree/normal_rows", {data_->normal_rows, n * stride}, {n, stride});
    writer.save(path);
}

}  // namespace pliant
