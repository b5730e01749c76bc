#include <cstdio>

#include "commands.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/picture.h"
#include "pliant/geometry/shapes.h"

namespace pliant::cli {
namespace {

const char* kind_name(ShapeKind kind) { return kind == ShapeKind::Closed ? "closed" : "soup"; }

Picture picture_of(const ShapeInfo& shape, const SurfaceMesh& mesh, int width, int height) {
    return render(
        mesh,
        {.width = width, .height = height, .azimuth = shape.azimuth, .elevation = shape.elevation});
}

int list_shapes(const Arguments& arguments) {
    Table table({"name", "size [m]", "resolution", "kind", "description"});
    for (const ShapeInfo& shape : shape_list()) {
        if (arguments.json())
            std::printf("%s\n", JsonWriter()
                                    .begin_object()
                                    .member("name", shape.name)
                                    .member("size_m", shape.size)
                                    .member("default_resolution", shape.default_resolution)
                                    .member("kind", kind_name(shape.kind))
                                    .member("description", shape.description)
                                    .end_object()
                                    .text()
                                    .c_str());
        else
            table.add({shape.name, format("%g", shape.size),
                       std::to_string(shape.default_resolution), kind_name(shape.kind),
                       shape.description});
    }
    if (!arguments.json()) table.print();
    return 0;
}

int sheet(const Arguments& arguments, Progress& progress) {
    const std::string out = arguments.required("-o");
    check_output(out, {".png"});
    std::vector<Picture> pictures;
    std::vector<std::string> captions;
    progress.stage("rendering shapes", shape_list().size());
    for (const ShapeInfo& shape : shape_list()) {
        pictures.push_back(picture_of(shape, make_shape(shape.name), 300, 240));
        captions.push_back(shape.name);
        progress.advance();
    }
    progress.finish();
    save_png(contact_sheet(pictures, captions, 5), out);
    if (arguments.json())
        std::printf("%s\n",
                    JsonWriter().begin_object().member("output", out).end_object().text().c_str());
    else
        std::printf("wrote %s\n", out.c_str());
    return 0;
}

int run_shape(const Arguments& arguments) {
    const std::string name = arguments.operands()[0];
    if (name == "list") return list_shapes(arguments);
    Progress progress(progress_style(arguments));
    if (name == "sheet") return sheet(arguments, progress);

    const ShapeInfo& shape = shape_info(name);
    const std::string out = arguments.required("-o");
    check_output(out, {".obj", ".ply", ".stl", ".vtu", ".png"});
    const bool picture = has_extension(out, ".png");
    const int resolution = arguments.integer("--resolution", shape.default_resolution, 4, 2048);
    const SurfaceMesh mesh = make_shape(name, resolution, progress);
    progress.finish();
    if (picture)
        save_png(picture_of(shape, mesh, 960, 720), out);
    else
        save_surface(mesh, out);

    if (arguments.json())
        std::printf("%s\n", JsonWriter()
                                .begin_object()
                                .member("output", out)
                                .member("num_vertices", mesh.num_vertices())
                                .member("num_triangles", mesh.num_triangles())
                                .end_object()
                                .text()
                                .c_str());
    else
        std::printf("%s: %s, %s; wrote %s\n", name.c_str(),
                    counted(mesh.num_vertices(), "vertex", "vertices").c_str(),
                    counted(mesh.num_triangles(), "triangle", "triangles").c_str(), out.c_str());
    return 0;
}

}  // namespace

Command shape_command() {
    return {
        .name = "shape",
        .summary =
            "Generates a built-in model; `shape list` names them, `shape sheet` draws them all.",
        .operands = "NAME | list | sheet",
        .example = "pliant shape bridge --resolution 128 -o bridge.ply",
        .min_operands = 1,
        .max_operands = 1,
        .options = {{"-o", "FILE", ".obj .ply .stl .vtu, or .png for a picture"},
                    {"--resolution", "N",
                     "cells along the longest side (default: the shape's own)"}},
        .run = run_shape};
}

}  // namespace pliant::cli
