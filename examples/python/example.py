"""What the examples share: `--quick` for small sizes, `-o FOLDER` for their pictures."""

import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#718096"
plt.rcParams.update({"figure.dpi": 110, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
                     "grid.alpha": 0.25, "font.size": 10, "legend.frameon": False})


def options(about):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="small sizes: a second or so")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."), help="folder of the picture")
    return parser.parse_args()


def save(figure, chosen, name):
    chosen.output.mkdir(parents=True, exist_ok=True)
    path = chosen.output / name
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")
