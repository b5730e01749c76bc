"""The page in the browser."""

import os
import pathlib
import re
import sys
import threading
import time
import warnings
import weakref
import webbrowser

from pliant import _core

_BROWSER_PATIENCE = 8  # s from the start of a browser to its page


def _start(what, **options):
    if isinstance(what, _core.Scene):
        return _core.view_scene(what, **options)
    if isinstance(what, _core.Recording):
        return _core.view_recording(what, **options)
    bodies = [what] if isinstance(what, _core.Body) else list(what)
    return _core.view_bodies(bodies, **options)


def _is_viewed(viewer):
    """Whether a page shows it now, as its line of status says."""
    counted = re.search(r"(\d+) viewers?\b", viewer.status)
    return counted is not None and counted[1] != "0"


def _say_no_browser():
    """Some browsers may not read the file that leads to the page, and show an error."""
    print("The browser did not come; open the address above.", file=sys.stderr, flush=True)


def _await_browser(viewer, end):
    """Says that no browser came until `end`; a viewer that is closed or let go before needs none."""
    while True:
        shown = viewer()
        try:
            if shown is None or not shown.is_open or _is_viewed(shown):
                return
        except _core.InputError:  # closed meanwhile
            return
        if time.monotonic() > end:
            return _say_no_browser()
        del shown
        time.sleep(0.05)


def view(what, *, block=None, browser=None, duration=None, **options):
    """Shows a body, several bodies, a scene or a recording on a page; returns the Viewer.

    Bodies are copied as they are: what happens on the page does not happen to them. `block`: serve until Ctrl-C, or
    for `duration` seconds; by default outside of notebooks and interactive sessions. `browser`: open one; by default
    where there is a desktop. Further options go to view_bodies, view_scene or view_recording: port, address, rate [Hz],
    gravity [m/s²], speed.
    """
    viewer = _start(what, **options)
    if viewer.network_urls:
        warnings.warn("the page is open to other machines: the token in its address is the only protection, and nothing "
                      "is encrypted", stacklevel=2)
    print("Open ", "\n  or ".join(viewer.network_urls or [viewer.url]), flush=True)
    if browser is None:
        browser = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if browser and viewer.leading_page and webbrowser.open(pathlib.Path(viewer.leading_page).as_uri()) is not False:
        threading.Thread(target=_await_browser, args=(weakref.ref(viewer), time.monotonic() + _BROWSER_PATIENCE),
                         name="pliant browser", daemon=True).start()
    elif browser:
        _say_no_browser()
    if block is None:
        block = duration is not None or not (hasattr(sys, "ps1") or "ipykernel" in sys.modules)
    if block:
        end = None if duration is None else time.monotonic() + duration
        try:
            while end is None or time.monotonic() < end:
                time.sleep(0.05 if end is None else min(0.05, max(0.0, end - time.monotonic())))
        except KeyboardInterrupt:
            pass
        finally:
            viewer.close()
    return viewer


def _view_scene(self, **options):
    """Shows the scene from its start in real time on a page; see pliant.view."""
    return view(self, **options)


def _view_body(self, **options):
    """Shows a copy of the body as it is on a page; see pliant.view."""
    return view(self, **options)


_core.Scene.view = _view_scene
_core.Recording.view = _view_scene
_core.Body.view = _view_body
