#include "catalogue.h"

namespace pliant::reproduce {

/// [Zhuang2000]; ids A and D as in our list of its claims and demos.
PublishedWork published_fem() {
    using enum Sense;
    return {
        "zhuang",
        "Nonlinear finite elements in real time (Zhuang 2000)",
        {
            {"A2",
             "Explicit steps with lumped mass in real time",
             "more than 600 elements (Pentium II, 400 MHz)",
             {cell("fem/realtime", "limits", "elements", "explicit", MoreIsBetter, 600)}},
            {"A1 D7",
             "Implicit steps in real time, Newton's method to convergence",
             "fewer than 6 elements",
             {cell("fem/realtime", "limits", "elements",
                   "implicit, step of the explicit scheme, converged", MoreIsBetter, 6)}},
            {"A7",
             "Extra cost of contact as a constraint",
             "nominal (judged by a tenth, 1.1), and no shorter steps",
             {within("fem/penalty", "constraint step over step without contact"),
              // nominal: a tenth
              cell("fem/realtime", "contact", "ratio", "512", LessIsBetter, 1.1),
              cell("fem/realtime", "contact", "ratio", "8,000", LessIsBetter, 1.1)},
             "Steps are as long as without contact, but not as cheap: elements are computed eight "
             "at a time, contacts one by one, so that what was little beside slow elements is not "
             "little beside fast ones. On the whole the share falls as bodies grow."},
            {"A3",
             "Accuracy of 600 graded elements",
             "that of more than 1000 uniform ones",
             {within("fem/graded", "uniform elements as accurate as")},
             "One layer of each size is not enough: under a load of 0.12 of the side 545 graded "
             "elements have the surface error of about 500 uniform ones, under 0.3 of the side of "
             "about 115. With two layers of each size the surface differs by about 2 % from the "
             "uniform one."},
            {"A4 A5 D8",
             "Time of a step, graded over uniform mesh of 10 × 10 × 10",
             "0.06 s / 0.11 s = 0.545",
             {cell("fem/graded", "costs", "time_ratio", "10", LessIsBetter, 0.545)},
             "Elements are in the published ratio, 545 of 1000. SIMD kernels handle eight "
             "congruent "
             "cells of one size at once and gain less from graded meshes; with scalar loops the "
             "ratio "
             "of times is 0.55."},
            {"A8",
             "Size of graded meshes",
             "O(n²) of O(n³) elements",
             {within("fem/graded", "graded cubes: power of n"),
              within("fem/graded-tets", "power of n")}},
            {"D9",
             "Graded tetrahedra",
             "conforming, no constrained nodes",
             {within("fem/graded-tets")}},
            {"A6 D6",
             "Largest stable step with penalty springs",
             "hundreds of times (judged by 100) below that without collision",
             {cell(
                 "fem/penalty", "findings", "value",
                 "step ratio for springs that let nodes as deep as the constraint does in its one "
                 "step",
                 MoreIsBetter, 100)},
             "The ratio grows in inverse proportion to the depth that springs allow: 45 for the "
             "depth "
             "of the constraint's one step, 100 for a thousandth of an element's edge, 245 for "
             "0.011 "
             "mm. The published hundreds are those of springs that tight."},
            {"A10",
             "Stability limit of central differences, order of the schemes",
             "dt ≤ 2/ω_max, second order",
             {within("fem/stability", "of the limit"), within("fem/stability", "limit of the cube"),
              within("fem/stability", "order")}},
            {"A24",
             "Lumped mass and stability",
             "improves stability, no number",
             {within("fem/stability", "stable step, lumped over consistent mass")}},
            {"A24",
             "Lumped mass and dissipation",
             "some dissipation in transients, no number",
             {within("fem/stability", "energy that lumping takes out")},
             "A diagonal mass matrix has kinetic energy as any other has, and neither central "
             "differences nor the trapezoidal rule take it away. Lumped nodes are slower than the "
             "body that they stand for, and short waves lag behind: seen at one place, a sharp "
             "transient spreads."},
            {"A11 D11",
             "Coupled steps from a set T, T/2, T/4, viscoelastic damping",
             "three step sizes are enough",
             {within("fem/viscoelastic")}},
            {"A12 A15 A-fills D10",
             "Table of fills: 18 systems, random, minimum degree, simple and regular dissection",
             "192 to 4356 unknowns, 6,348 to 266,004 non-zeros, fills to 1,687,527 (random orders "
             "are shown, not judged)",
             {within("fem/orderings")}},
            {"A-time",
             "Table of factor times, 18 systems",
             "0.04 to 275 s on an HP 9000/715",
             {column("fem/orderings", "times", "ms_minimum_degree", "published_s_minimum_degree",
                     LessIsBetter, 1e3),
              column("fem/orderings", "times", "ms_simple", "published_s_simple", LessIsBetter,
                     1e3),
              column("fem/orderings", "times", "ms_regular", "published_s_regular", LessIsBetter,
                     1e3)}},
            {"A19",
             "Factor time of simple dissection over regular dissection",
             "30 % to 50 % more in the text, 28 % to 74 % in its table, in the median 1.59 times",
             {cell("fem/orderings", "findings", "measured",
                   "factor time of simple over regular ND, median of these", Same, 1.588)},
             "Times of a few milliseconds scatter from run to run; fills, which do not, are "
             "within their tolerances."},
            {"A13 A14",
             "Time to find orders; size of separators",
             "O(n log n) simple, O(n² log n) cover; covers about half of simple separators",
             {},
             "Not counted by themselves; the fills and factor times that they are for are in the "
             "rows around."},
            {"A17 A18",
             "Vertex-cover dissection against regular dissection and METIS",
             "about equal to regular dissection, better than METIS 3.0.3 in all 18, no numbers",
             {within("fem/orderings", "cover fill / published regular fill"),
              cell("fem/orderings", "findings", "measured",
                   "cover modified ND has less fill than METIS", MoreIsBetter, 18)},
             "METIS is version 5 here, not 3.0.3; the table of fills shows where it has less."},
            {"A16",
             "Simple dissection against minimum degree: systems with less fill, and factored "
             "faster",
             "17 and 18 of 18 in the text, 14 and 17 in its own tables",
             {cell("fem/orderings", "findings", "measured",
                   "simple modified ND has less fill than minimum degree", MoreIsBetter, 14),
              cell("fem/orderings", "findings", "measured",
                   "simple modified ND factors faster than minimum degree", MoreIsBetter, 17)},
             "Our minimum degree has less fill than the published one in most systems, our simple "
             "dissection more in most; both are within the tolerances of the table of fills. Times "
             "follow fills."},
            {"A23 D4",
             "Bodies that drop, slide, stick and strike a wall, energy in contact",
             "one rule, no shorter steps, small loss that vanishes with refinement",
             {within("fem/bounce"), within("fem/impact")}},
            {"D5",
             "Two soft bodies collide at several points",
             "the same rule",
             {within("fem/collision")}},
            {"D1 D2",
             "Cantilever and twisted block, linear and quadratic strain",
             "linear strain grows in volume and length, quadratic does not",
             {within("fem/strain")}},
            {"D3",
             "Rigid rotation of a free body",
             "zero strain, zero force",
             {within("fem/statics", "rotation by")}},
            {"D13",
             "Static solves of hexes and tetrahedra",
             "Newton's method converges",
             {within("fem/statics", "Newton's method")}},
            {"A20 A21 A22 D12",
             "A virtual hand on a soft cantilever, felt at 1 kHz",
             "continuous force, one step late, several hundred vertices",
             {within("haptics/virtual-hand")}},
            {"A25",
             "Softer bodies tolerate longer delay",
             "experience, no numbers",
             {within("haptics/delay")}},
            {"A9",
             "Cost of boundary elements of earlier work",
             "O(s³ + n² s) for each update, a comparison by operations",
             {},
             "An estimate of another method's cost; costs of our Green's functions are measured in "
             "the tables of James and Pai below."},
        }};
}

}  // namespace pliant::reproduce
