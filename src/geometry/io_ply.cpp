#include "geometry/byte_reader.h"
#include "geometry/io_surface.h"
#include "geometry/text_scanner.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pliant {
namespace {

enum class Scalar { Int8, UInt8, Int16, UInt16, Int32, UInt32, Float32, Float64 };

constexpr std::pair<std::string_view, Scalar> kScalarNames[] = {
    {"char", Scalar::Int8},      {"int8", Scalar::Int8},       {"uchar", Scalar::UInt8},
    {"uint8", Scalar::UInt8},    {"short", Scalar::Int16},     {"int16", Scalar::Int16},
    {"ushort", Scalar::UInt16},  {"uint16", Scalar::UInt16},   {"int", Scalar::Int32},
    {"int32", Scalar::Int32},    {"uint", Scalar::UInt32},     {"uint32", Scalar::UInt32},
    {"float", Scalar::Float32},  {"float32", Scalar::Float32}, {"double", Scalar::Float64},
    {"float64", Scalar::Float64}};

constexpr bool is_integer(Scalar type) { return type < Scalar::Float32; }

constexpr std::size_t size_of(Scalar type) {
    switch (type) {
        case Scalar::Int8:
        case Scalar::UInt8: return 1;
        case Scalar::Int16:
        case Scalar::UInt16: return 2;
        case Scalar::Float64: return 8;
        default: return 4;
    }
}

struct Property {
    std::string_view name;
    Scalar type;                        // of the value, or of each list entry
    std::optional<Scalar> length_type;  // of lists only
};

struct Element {
    std::string_view name;
    int count = 0;
    std::vector<Property> properties;

    // Bytes of one item in a binary file, where all its lists are empty.
    [[nodiscard]] std::size_t min_size() const {
        std::size_t size = 0;
        for (const Property& p : properties) size += size_of(p.length_type.value_or(p.type));
        return size;
    }
};

enum class Format { Ascii, LittleEndian, BigEndian };

struct Header {
    Format format = Format::Ascii;
    std::vector<Element> elements;
};

// ---------------------------------------------------------------- header

Scalar to_type(const TextScanner& scanner, std::string_view token) {
    for (const auto& [name, type] : kScalarNames) {
        if (token == name) return type;
    }
    scanner.fail("property type", token, "char, uchar, short, ushort, int, uint, float or double");
}

std::string_view read_name(TextScanner& scanner, std::string_view what) {
    const std::string_view name = scanner.token_on_line();
    if (name.empty()) scanner.fail(what, "", "a name");
    return name;
}

Property read_property(TextScanner& scanner) {
    Property property{};
    std::string_view token = scanner.token_on_line();
    if (token == "list") {
        token = scanner.token_on_line();
        property.length_type = to_type(scanner, token);
        if (!is_integer(*property.length_type)) {
            scanner.fail("type of the list's length", token, "an integer type");
        }
        token = scanner.token_on_line();
    }
    property.type = to_type(scanner, token);
    property.name = read_name(scanner, "property name");
    return property;
}

Format read_format(TextScanner& scanner) {
    const std::string_view format = scanner.token_on_line();
    const std::string_view version = scanner.token_on_line();
    if (version != "1.0") scanner.fail("format version", version, "1.0");
    if (format == "ascii") return Format::Ascii;
    if (format == "binary_little_endian") return Format::LittleEndian;
    if (format == "binary_big_endian") return Format::BigEndian;
    scanner.fail("format", format, "ascii, binary_little_endian or binary_big_endian");
}

Element read_element(TextScanner& scanner) {
    Element element;
    element.name = read_name(scanner, "element name");
    if (element.name == "tristrips") {
        scanner.fail("element", element.name,
                     "faces; triangle strips are not read, convert the file to plain triangles");
    }
    element.count = static_cast<int>(
        scanner.to_integer(scanner.token_on_line(), "element count", 0, kMaxMeshItems));
    return element;
}

Header read_header(TextScanner& scanner) {
    if (!scanner.advance_line() || scanner.rest_of_line() != "ply") {
        scanner.fail("the file does not start with the line \"ply\"");
    }
    Header header;
    bool has_format = false;
    for (;;) {
        if (!scanner.next_line()) scanner.fail("the file ends before end_header");
        const std::string_view keyword = scanner.token_on_line();
        if (keyword == "end_header") break;
        if (keyword == "format") {
            header.format = read_format(scanner);
            has_format = true;
        } else if (keyword == "element") {
            header.elements.push_back(read_element(scanner));
        } else if (keyword == "property") {
            if (header.elements.empty()) scanner.fail("property", "", "an element line before it");
            header.elements.back().properties.push_back(read_property(scanner));
        } else if (keyword != "comment" && keyword != "obj_info") {
            scanner.fail("header keyword", keyword,
                         "format, comment, obj_info, element, property or end_header");
        }
    }
    if (!has_format) scanner.fail("the header has no format line");
    return header;
}

// ---------------------------------------------------------------- values, text or binary

class TextSource {
public:
    explicit TextSource(TextScanner scanner) : scanner_(std::move(scanner)) {}

    void begin_item(std::string_view item, std::int64_t) { item_ = item; }
    // Throws unless the items of `element` can fit in the rest of the file.
    void require_items(const Element& element) const {
        static_cast<void>(scanner_.to_count(std::to_string(element.count),
                                            std::string(element.name) + " count",
                                            2 * element.properties.size()));
    }
    void require_values(std::uint64_t, Scalar) const {}  // the tokens are counted as they come
    double real(Scalar, std::string_view what) { return scanner_.real(what); }
    std::int64_t integer(Scalar, std::string_view what, std::int64_t lo, std::int64_t hi) {
        return scanner_.integer(what, lo, hi);
    }
    void skip(std::uint64_t count, Scalar) {
        for (std::uint64_t k = 0; k < count; ++k) scanner_.token(item_);
    }
    [[noreturn]] void fail(std::string_view field, std::string_view value,
                           std::string_view expected) const {
        scanner_.fail(field, value, expected);
    }

private:
    TextScanner scanner_;
    std::string_view item_;
};

class BinarySource {
public:
    explicit BinarySource(ByteReader reader) : reader_(std::move(reader)) {}

    void begin_item(std::string_view item, std::int64_t index) { reader_.begin_item(item, index); }
    void require_items(const Element& element) {
        const std::uint64_t size = element.min_size();
        // the message names the item in which the file ends
        reader_.begin_item(element.name, static_cast<std::int64_t>(reader_.remaining() / size));
        reader_.require(static_cast<std::uint64_t>(element.count) * size);
    }
    void require_values(std::uint64_t count, Scalar type) const {
        reader_.require(count * size_of(type));
    }
    double real(Scalar type, std::string_view what) {
        switch (type) {
            case Scalar::Float32: return reader_.real<float>(what);
            case Scalar::Float64: return reader_.real<double>(what);
            default: return static_cast<double>(whole(type));
        }
    }
    std::int64_t integer(Scalar type, std::string_view what, std::int64_t lo, std::int64_t hi) {
        const std::int64_t value = whole(type);
        if (value < lo || value > hi) {
            reader_.fail(what, std::to_string(value),
                         std::to_string(lo) + " … " + std::to_string(hi));
        }
        return value;
    }
    void skip(std::uint64_t count, Scalar type) { reader_.skip(count * size_of(type)); }
    [[noreturn]] void fail(std::string_view field, std::string_view value,
                           std::string_view expected) const {
        reader_.fail(field, value, expected);
    }

private:
    std::int64_t whole(Scalar type) {
        switch (type) {
            case Scalar::Int8: return reader_.read<std::int8_t>();
            case Scalar::UInt8: return reader_.read<std::uint8_t>();
            case Scalar::Int16: return reader_.read<std::int16_t>();
            case Scalar::UInt16: return reader_.read<std::uint16_t>();
            case Scalar::Int32: return reader_.read<std::int32_t>();
            default: return reader_.read<std::uint32_t>();
        }
    }

    ByteReader reader_;
};

// ---------------------------------------------------------------- body

constexpr std::int64_t kMaxListLength = 4294967295;

template <class Source>
void skip_property(Source& source, const Property& property) {
    std::int64_t count = 1;
    if (property.length_type) {
        count = source.integer(*property.length_type, "length of the list", 0, kMaxListLength);
    }
    source.skip(static_cast<std::uint64_t>(count), property.type);
}

template <class Source>
void skip_element(Source& source, const Element& element) {
    // without properties there is nothing in the file, whatever the count
    if (element.properties.empty()) return;
    source.require_items(element);
    for (int i = 0; i < element.count; ++i) {
        source.begin_item(element.name, i);
        for (const Property& property : element.properties) skip_property(source, property);
    }
}

template <class Source>
void read_vertices(Source& source, const Element& element, SurfaceMesh& mesh) {
    source.require_items(element);
    mesh.vertices.resize(static_cast<std::size_t>(element.count));
    int index = 0;
    for (Eigen::Vector3d& vertex : mesh.vertices) {
        source.begin_item("vertex", index++);
        for (const Property& property : element.properties) {
            if (property.length_type) {
                skip_property(source, property);  // whatever its name
            } else if (property.name == "x") {
                vertex.x() = source.real(property.type, "vertex x");
            } else if (property.name == "y") {
                vertex.y() = source.real(property.type, "vertex y");
            } else if (property.name == "z") {
                vertex.z() = source.real(property.type, "vertex z");
            } else {
                skip_property(source, property);
            }
        }
    }
}

bool is_corner_list(const Property& property) {
    return property.name == "vertex_indices" || property.name == "vertex_index";
}

template <class Source>
void read_faces(Source& source, const Element& element, int num_vertices, SurfaceMesh& mesh,
                const std::string& name) {
    source.require_items(element);
    mesh.triangles.reserve(static_cast<std::size_t>(element.count));
    std::vector<int> corners;
    for (int f = 0; f < element.count; ++f) {
        source.begin_item("face", f);
        for (const Property& property : element.properties) {
            if (!is_corner_list(property)) {
                skip_property(source, property);
                continue;
            }
            const std::int64_t num_corners =
                source.integer(*property.length_type, "corners of the face", 0, kMaxListLength);
            if (num_corners < 3) {
                source.fail("corners of the face", std::to_string(num_corners), "3 or more");
            }
            source.require_values(static_cast<std::uint64_t>(num_corners), property.type);
            corners.clear();
            for (std::int64_t k = 0; k < num_corners; ++k) {
                corners.push_back(static_cast<int>(source.integer(property.type, "vertex index", 0,
                                                                  std::int64_t{num_vertices} - 1)));
            }
            add_polygon(mesh, corners, name);
        }
    }
}

const Element& find_element(const Header& header, std::string_view wanted,
                            const std::string& name) {
    const Element* found = nullptr;
    int num_found = 0;
    for (const Element& element : header.elements) {
        if (element.name != wanted) continue;
        found = &element;
        ++num_found;
    }
    if (num_found != 1) {
        throw InputError(name, "elements named " + std::string(wanted), std::to_string(num_found),
                         "1");
    }
    return *found;
}

void check_vertex_properties(const Element& vertex, const std::string& name) {
    for (const std::string_view axis : {"x", "y", "z"}) {
        const auto num =
            std::count_if(vertex.properties.begin(), vertex.properties.end(),
                          [&](const Property& p) { return p.name == axis && !p.length_type; });
        if (num != 1) {
            throw InputError(name, "scalar properties " + std::string(axis) + " of element vertex",
                             std::to_string(num), "1");
        }
    }
}

void check_face_properties(const Element& face, const std::string& name) {
    int num_lists = 0;
    for (const Property& property : face.properties) {
        if (!is_corner_list(property)) continue;
        if (!property.length_type || !is_integer(property.type)) {
            throw InputError(name, "property " + std::string(property.name), "",
                             "a list of integers");
        }
        ++num_lists;
    }
    if (num_lists != 1) {
        throw InputError(name, "lists vertex_indices or vertex_index of element face",
                         std::to_string(num_lists), "1");
    }
}

template <class Source>
SurfaceMesh read_body(Source source, const Header& header, const std::string& name) {
    const Element& vertex = find_element(header, "vertex", name);
    const Element& face = find_element(header, "face", name);
    check_vertex_properties(vertex, name);
    check_face_properties(face, name);

    SurfaceMesh mesh;
    for (const Element& element : header.elements) {
        if (&element == &vertex) {
            read_vertices(source, element, mesh);
        } else if (&element == &face) {
            read_faces(source, element, vertex.count, mesh, name);
        } else {
            skip_element(source, element);
        }
    }
    require_triangles(mesh, name);
    return mesh;
}

// Where the data starts. In a file whose lines end with a lone \r, a first data byte that happens
// to be \n does not belong to the header.
std::size_t body_offset(std::string_view bytes, const TextScanner& scanner) {
    const std::size_t offset = scanner.offset();
    const bool has_lone_returns = bytes.size() > 4 && bytes[3] == '\r' && bytes[4] != '\n';
    return has_lone_returns && bytes[offset - 1] == '\n' ? offset - 1 : offset;
}

}  // namespace

SurfaceMesh parse_ply(std::string_view bytes, const std::string& name) {
    TextScanner scanner(bytes, name, TextScanner::kNoComment);
    const Header header = read_header(scanner);
    if (header.format == Format::Ascii) return read_body(TextSource(scanner), header, name);
    const auto order =
        header.format == Format::LittleEndian ? std::endian::little : std::endian::big;
    return read_body(BinarySource(ByteReader(bytes, name, order, body_offset(bytes, scanner))),
                     header, name);
}

void write_ply(const SurfaceMesh& mesh, AtomicFile& file) {
    file.write(
        "ply\nformat binary_little_endian 1.0\n"
        "element vertex " +
        std::to_string(mesh.num_vertices()) +
        "\nproperty double x\nproperty double y\nproperty double z\n"
        "element face " +
        std::to_string(mesh.num_triangles()) +
        "\nproperty list uchar int vertex_indices\nend_header\n");
    for (const Eigen::Vector3d& x : mesh.vertices) {
        for (const double coordinate : x) write_little_endian(file, coordinate);
    }
    for (const Triangle& triangle : mesh.triangles) {
        write_little_endian(file, std::uint8_t{3});
        for (const int vertex : triangle) write_little_endian(file, std::int32_t{vertex});
    }
}

}  // namespace pliant
