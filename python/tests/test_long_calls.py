"""Builds: progress, Ctrl-C, other threads meanwhile, and errors with the words of the library."""

import signal
import threading
import time

import pytest

import pliant as pl


def build(progress=None, **options):
    options = {"fixed": "x < 5 %", "resolution": 8, "num_modes": 3, "rank": 4, "cache": None, **options}
    return pl.build_reduced(pl.Box((0.2, 0.04, 0.04)).surface, **options, progress=progress)


def test_progress_names_the_stages():
    told = []
    build(lambda stage, fraction, seconds: told.append((stage, fraction, seconds)))
    assert len({stage for stage, _, _ in told}) >= 3
    assert all(0 <= fraction <= 1 for _, fraction, _ in told)
    assert told[-1][1] == 1


def test_progress_bar_goes_to_python(capsys):
    build(pl.show_progress())
    assert "100 %" in capsys.readouterr().err


def test_false_cancels():
    with pytest.raises(pl.Cancelled):
        build(lambda *_: False)


def test_what_the_callback_throws_comes_through():
    def fail(*_):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        build(fail)


def test_interrupt_ends_a_build_soon():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        # would take minutes
        build(resolution=60, num_modes=40, rank=200)
    timer.join()
    assert time.monotonic() - start < 20


def test_interrupt_ends_many_steps(beam):
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        beam.run(1_000_000_000, 1e-3)
    timer.join()


def test_other_threads_run_meanwhile():
    ticks = []
    stop = threading.Event()

    def count():
        while not stop.wait(0.001):
            ticks.append(1)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        pl.make_shape("heart")
        build(resolution=24)
    finally:
        stop.set()
        thread.join()
    assert len(ticks) > 5


def test_errors_have_text_and_fields():
    with pytest.raises(pl.InputError) as caught:
        pl.Material(1e5, 0.62, 1000)
    error = caught.value
    assert "0.62" in str(error) and error.value == "0.62" and "0.5" in error.expected
    with pytest.raises(pl.InputError, match="missing.obj"):
        pl.load_surface("missing.obj")
    with pytest.raises(pl.InputError, match='did you mean "heart"|heart'):
        pl.make_shape("haert")
    with pytest.raises(pl.InputError, match="selects no vertex"):
        build(fixed="z < -3")
