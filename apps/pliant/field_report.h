#pragma once

#include "pliant/contact/point_tree.h"
#include "pliant/core/json_writer.h"
#include "pliant/field/distance_grid.h"

namespace pliant::cli {

class Arguments;

/// What is in a distance field and in a pointshell's tree: lines for people, members for programs.
void print_field(const DistanceGrid& field);
void write_field(const DistanceGrid& field, JsonWriter& json);
void print_shell(const PointTree& tree);
void write_shell(const PointTree& tree, JsonWriter& json);

/// Of `--slice z=0.1 -o slice.png`: says what it drew, to people or as a member.
void save_slice(const Arguments& arguments, const DistanceGrid& field, JsonWriter& json);

}  // namespace pliant::cli
