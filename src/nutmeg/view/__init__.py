"""Viewing recordings: in the browser, as a page that plays offline, as a video, as pictures, and as reports.

`stage` turns a model and a recording into a 3-D scene, `pages` shows it in the browser, `files` writes replays,
videos and pictures, `reports` writes HTML reports and figures. Everything here reads recordings: a running simulation
is watched by replaying its recording while it grows (`live`). This package itself imports nothing.
"""
