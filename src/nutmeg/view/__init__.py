"""Seeing: recordings in the browser, as a page that plays offline, as a video, as pictures.

Everything here reads recordings; a match is watched live by replaying the recording while it grows.

    with start_viewer_process(Path("match.nutmeg"), live=True) as viewer:   # http://127.0.0.1:8080
        ...
    replay_html(Path("match.nutmeg"), Path("match.html"))
    video(Path("match.nutmeg"), Path("match.mp4"), camera="follow:nao1")
    image = picture(model, qpos, camera="eyes:nao1", size=(320, 240), quality=QUICK)
    probe_renderers()                    # which of the off-screen renderers works here

The parts, from the bottom: `shapes`, `colours` and `glb` make meshes of geoms; `bodies` cuts a model into
moving pieces; `posture` and `film` turn recordings into positions; `viewpoints` and `camera_names` place
cameras; `stage`, `playback`, `page`, `spectator`, `event_list`, `server` and `process` are the web viewer;
`replay`, `backdrop`, `pictures` and `video` make files.
"""

from nutmeg.engine.renderers import RendererProbe, probe_renderers, working_renderer
from nutmeg.view.film import Film
from nutmeg.view.pictures import FINE, QUICK, Photographer, Quality, picture
from nutmeg.view.process import ViewerProcess, start_viewer_process
from nutmeg.view.replay import replay_html
from nutmeg.view.server import serve_recording
from nutmeg.view.video import video
from nutmeg.view.viewpoints import Viewpoint

__all__ = [
    "FINE",
    "QUICK",
    "Film",
    "Photographer",
    "Quality",
    "RendererProbe",
    "ViewerProcess",
    "Viewpoint",
    "picture",
    "probe_renderers",
    "replay_html",
    "serve_recording",
    "start_viewer_process",
    "video",
    "working_renderer",
]
