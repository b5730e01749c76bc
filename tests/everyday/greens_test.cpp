// Bodies of Green's functions in scenes that come to mind first.
#include <gtest/gtest.h>

#include "everyday/everyday_scene.h"

namespace pliant {
namespace {

using test::EverydayScene, test::SeenBody;

}  // namespace
}  // namespace pliant
