import pytest

import pliant as pl


@pytest.fixture(scope="session")
def beam_model():
    """A small beam along x, held at its left end."""
    return pl.build_reduced(pl.Box((0.2, 0.04, 0.04)).surface, material="rubber", fixed="x < 5 %", resolution=10,
                            num_modes=4, rank=6, cache=None)


@pytest.fixture
def beam(beam_model):
    return beam_model.body()


@pytest.fixture(scope="session")
def tip(beam_model):
    """The vertex of the surface farthest along x."""
    return int(beam_model.surface.vertices[:, 0].argmax())
