// What lies over the picture of a page: score board, list of events, time bar and the cursors of plots; and the keys.
// Put into a page by pages/overlay.py.
//
// In a page with a server, the state comes as JSON in elements of a panel, which the viewer renews; what a user does
// goes back in a text field of that panel, which the style sheet hides. In a replay without a server the whole story lies in
// window.nutmegStory, and viser's player, whose own bar is hidden, shows the moments that this script asks for.
(() => {
  if (window.nutmegPage) return;
  window.nutmegPage = true;
  const story = window.nutmegStory;
  const TICK = 80;
  const CAPTION = 4;
  const make = (tag, name, parent, text = "") => {
    const node = document.createElement(tag);
    node.className = name;
    node.textContent = text;
    parent.append(node);
    return node;
  };
  const button = (name, parent, text, label, act) => {
    const node = make("button", name, parent, text);
    node.type = "button";
    node.setAttribute("aria-label", label);
    node.title = label;
    node.onclick = () => { act(); node.blur(); };
    return node;
  };
  const set = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const two = (n) => String(n).padStart(2, "0");
  const clockText = (s) => `${Math.floor(s / 60)}:${two(Math.floor(s) % 60)}`;
  const fineClockText = (s) => {
    const whole = Math.round(100 * Math.max(s, 0));
    return `${Math.floor(whole / 6000)}:${two(Math.floor(whole / 100) % 60)}.${two(whole % 100)}`;
  };
  const setValue = (input, value) => {  // as if somebody had typed it: React listens to its own property
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const canvas = () => [...document.querySelectorAll("canvas:not(#nutmeg-map)")].sort((a, b) => b.clientWidth * b.clientHeight - a.clientWidth * a.clientHeight)[0];

  // ---- the score board
  let board = null;
  function buildBoard() {
    const box = make("div", "nb-board", document.body);
    box.id = "nutmeg-board";
    box.setAttribute("role", "status");
    box.setAttribute("aria-label", "score board");
    const top = make("div", "nb-top", box);
    const clock = make("span", "nb-clock", top);
    const sides = [0, 1].map((i) => {
      const side = make("span", `nb-side nb-side${i}`, top);
      const label = make("span", "nb-label", side);
      return { side, name: make("span", "nb-name", label), note: make("span", "nb-note", label), goals: make("span", "nb-goals", side) };
    });
    const half = make("span", "nb-half", top);
    const mode = make("span", "nb-mode", make("div", "nb-below", box));
    const caption = make("div", "nb-caption", document.body);
    caption.id = "nutmeg-caption";
    return { box, clock, sides, half, mode, caption };
  }
  function showBoard(state) {
    board = board || buildBoard();
    state.teams.forEach((name, i) => {
      const { side, name: label, note, goals } = board.sides[i];
      set(label, name);
      set(note, state.subtitles[i]);
      set(goals, String(state.score[i]));
      side.style.setProperty("--team", state.colours[i]);
      side.classList.toggle("nb-ball", state.favoured === i);
    });
    set(board.clock, state.clock);
    set(board.half, state.half);
    set(board.mode, state.mode);
    const told = state.caption;
    board.caption.classList.toggle("nb-on", Boolean(told));
    if (told) {
      set(board.caption, `${told.mark} ${told.text}`);
      board.caption.classList.toggle("nb-goal", told.kind === "goal");
      board.caption.style.setProperty("--team", told.about === null ? "#39424a" : state.colours[told.about]);
    }
  }

  // ---- the small map of the pitch
  let map = null;
  function showMap(state, colours) {
    if (!map) {
      map = make("canvas", "", document.body);
      map.id = "nutmeg-map";
      map.title = "The pitch: who is where";
      map.width = 168;
      map.height = Math.round(168 * state.half[1] / state.half[0]);
    }
    const draw = map.getContext("2d");
    const scale = map.width / 2 / (1.06 * state.half[0]);
    const at = ([x, y]) => [map.width / 2 + scale * x, map.height / 2 - scale * y];
    draw.fillStyle = "#1f6b35";
    draw.fillRect(0, 0, map.width, map.height);
    draw.strokeStyle = "#fff9";
    draw.strokeRect(...at([-state.half[0], state.half[1]]), 2 * scale * state.half[0], 2 * scale * state.half[1]);
    draw.strokeRect(map.width / 2, at([0, state.half[1]])[1], 0, 2 * scale * state.half[1]);
    const dot = (place, radius, colour, ring) => {
      draw.beginPath();
      draw.arc(...at(place), radius, 0, 2 * Math.PI);
      draw.fillStyle = colour;
      draw.fill();
      draw.strokeStyle = ring;
      draw.stroke();
    };
    for (const [x, y, team, chosen] of state.robots) dot([x, y], chosen ? 5 : 3.5, colours[team], chosen ? "#ff0" : "#fff");
    if (state.ball) dot(state.ball, 2.5, "#fff", "#000");
  }

  // ---- the list of events: one row is one event for as long as it is there, whatever else is added
  let list = null;
  function buildList(parent, seek) {
    const box = make("div", "nb-list", parent);
    box.id = "nutmeg-events";
    const title = button("nb-title", box, "", "Events", () => {
      body.hidden = !body.hidden;
      title.setAttribute("aria-expanded", String(!body.hidden));
    });
    const body = make("div", "nb-body", box);
    body.hidden = window.innerWidth < 700;
    title.setAttribute("aria-expanded", String(!body.hidden));
    return { box, title, body, chips: make("div", "nb-chips", body), rows: make("div", "nb-rows", body), hidden: new Set(), made: new Map(), groups: new Set(), seek, newest: null };
  }
  function addEvent(event, colours) {
    const row = button("nb-event", list.rows, "", `${event.clock} ${event.text}`, () => list.seek(Math.max(event.t - event.lead, 0)));
    row.style.setProperty("--team", event.about === null ? "#8a949c" : colours[event.about]);
    make("span", "nb-when", row, event.clock);
    make("span", "nb-what", row, `${event.mark} ${event.text}`.trim());
    row.classList.toggle("nb-goal", event.kind === "goal");
    const next = [...list.made.values()].find((made) => made.event.t > event.t);  // one that was found late
    if (next) list.rows.insertBefore(row, next.row);
    list.made.set(event.id, { row, event });
    if (!list.groups.has(event.group)) {
      list.groups.add(event.group);
      const chip = button("nb-chip", list.chips, event.group, `Show ${event.group}`, () => {
        const off = !list.hidden.delete(event.group) && Boolean(list.hidden.add(event.group));
        chip.setAttribute("aria-pressed", String(!off));
        for (const made of list.made.values()) made.row.hidden = list.hidden.has(made.event.group);
      });
      chip.setAttribute("aria-pressed", "true");
    }
    row.hidden = list.hidden.has(event.group);
  }
  function showEvents(events, colours, time, seek) {
    const parent = story ? document.body : document.querySelector("[data-nutmeg-list]");
    if (!parent || (!events.length && !list)) return;
    if (!list || !list.box.isConnected) list = buildList(parent, seek);  // a panel that was folded has forgotten it
    const known = new Set(events.map((event) => event.id));
    for (const [id, made] of list.made) if (!known.has(id)) { made.row.remove(); list.made.delete(id); }
    for (const event of events) if (!list.made.has(event.id)) addEvent(event, colours);
    set(list.title, `Events (${events.length})`);
    let last = null;
    let newest = -1;
    for (const { row, event } of list.made.values()) {
      row.classList.toggle("nb-past", event.t <= time);
      if (event.t <= time && event.t >= newest && !row.hidden) [last, newest] = [row, event.t];
    }
    if (last !== list.newest && last && !list.rows.matches(":hover")) {  // the list follows, the panel around it stays
      list.rows.scrollTop = last.offsetTop - list.rows.offsetTop - list.rows.clientHeight / 2;
    }
    list.newest = last;
  }

  // ---- messages to the viewer: each is repeated until the state says that it was read
  const MARK = "nutmeg-page ";
  const page = Math.floor(Math.random() * 1e9);
  let waiting = [];
  let count = 0;
  let sent = 0;
  const field = () => [...document.querySelectorAll("input")].find((input) => input.value.startsWith(MARK));
  function send() {
    const input = field();
    if (!input || !waiting.length) return;
    sent = performance.now();
    setValue(input, MARK + JSON.stringify({ page, did: waiting }));
  }
  function tell(what, value = null) {
    if (story) { (ACTIONS[what] || (() => {}))(value); return; }
    const last = waiting[waiting.length - 1];
    if (last && last.what === what && what === "seek") waiting.pop();  // of a drag, only the newest place counts
    waiting.push({ n: ++count, what, value });
    waiting = waiting.slice(-8);
    send();
  }
  const seek = (time) => tell("seek", time);

  // ---- the time bar
  let bar = null;
  let dragging = 0;
  function buildBar(state) {
    const box = make("div", "nb-bar", document.body);
    box.id = "nutmeg-bar";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "time");
    button("nb-key", box, "‹", "One row back (comma)", () => tell("step", -1));
    const play = button("nb-key nb-play", box, "", "Play", () => tell("toggle"));
    button("nb-key", box, "›", "One row ahead (point)", () => tell("step", 1));
    const time = make("input", "nb-time", box);
    time.setAttribute("aria-label", "Clock");
    time.title = "Type a time of the clock, such as 1:29 or 89";
    time.onchange = () => { tell("clock", time.value); time.blur(); };
    time.onkeydown = (event) => { if (event.key === "Enter") time.blur(); };
    const total = make("span", "nb-total", box);
    const track = make("div", "nb-track", box);
    const marks = make("div", "nb-marks", track);
    const slider = make("input", "nb-slider", track);
    slider.type = "range";
    slider.min = "0";
    slider.step = "0.01";
    slider.setAttribute("aria-label", "Time");
    slider.oninput = () => { dragging = performance.now(); seek(Number(slider.value)); };
    slider.onchange = () => { slider.blur(); };
    const speed = make("select", "nb-speed", box);
    speed.setAttribute("aria-label", "Speed");
    for (const choice of state.speeds) make("option", "", speed, choice).value = choice;
    speed.onchange = () => { tell("speed", speed.value); speed.blur(); };
    const live = button("nb-key nb-live", box, "● live", "Show the newest moment (L)", () => tell("live"));
    const loop = button("nb-key", box, "loop", "Repeat from the start at the end", () => tell("loop"));
    const clip = button("nb-key", box, "clip", "Save a clip of the picture", record);
    button("nb-key", box, "full", "Full screen (F)", fullScreen);
    const note = make("span", "nb-status", box);
    return { box, play, time, total, slider, marks, speed, live, loop, clip, note, marked: "" };
  }
  function showBar(state, events) {
    bar = bar || buildBar(state);
    set(bar.play, state.playing ? "❚❚" : "▶");
    bar.play.setAttribute("aria-label", state.playing ? "Pause" : "Play");
    bar.play.title = `${state.playing ? "Pause" : "Play"} (space)`;
    if (document.activeElement !== bar.time) bar.time.value = state.clock;
    set(bar.total, `/ ${state.total}`);
    bar.slider.max = String(state.length);
    if (performance.now() - dragging > 600) bar.slider.value = String(state.t);
    if (document.activeElement !== bar.speed && bar.speed.value !== state.speed) bar.speed.value = state.speed;
    bar.live.hidden = state.finished;
    bar.live.setAttribute("aria-pressed", String(state.live));
    bar.loop.setAttribute("aria-pressed", String(state.loop));
    set(bar.note, state.note);
    const key = `${events.length} ${state.length.toFixed(1)}`;
    if (bar.marked !== key) {
      bar.marked = key;
      mark(bar.marks, events, state.length, state.colours);
    }
  }
  function mark(box, events, length, colours) {  // events on a slider
    box.replaceChildren(...events.filter((e) => e.marked).map((e) => {
      const one = document.createElement("i");
      one.style.left = `${100 * e.t / Math.max(length, 0.01)}%`;
      one.style.background = e.about === null || !colours ? "#8a949c" : colours[e.about];
      one.title = `${e.clock} ${e.text}`;
      return one;
    }));
  }
  function fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
  }
  let recorder = null;
  function record() {
    if (recorder) { recorder.stop(); return; }
    const parts = [];
    recorder = new MediaRecorder(canvas().captureStream(30), { mimeType: "video/webm" });
    recorder.ondataavailable = (event) => parts.push(event.data);
    recorder.onstop = () => {
      recorder = null;
      bar.clip.setAttribute("aria-pressed", "false");
      const link = make("a", "", document.body);
      link.href = URL.createObjectURL(new Blob(parts, { type: "video/webm" }));
      link.download = "nutmeg-clip.webm";
      link.click();
      link.remove();
    };
    recorder.start();
    bar.clip.setAttribute("aria-pressed", "true");
  }

  // ---- cursors of plots: a line at the moment shown that can be dragged; a click into a plot goes there
  const charts = () => Object.values((window.__viserTestpoints || {}).uplots || {}).map((one) => one.chart);
  let start = 0;  // clock time minus time on the slider
  function showCursors(state) {
    start = state.seconds - state.t;
    for (const chart of charts()) {
      let line = chart.over.querySelector(".nb-cursor");
      if (!line) {
        line = make("div", "nb-cursor", chart.over);
        line.title = "The moment shown: drag it";
        line.onpointerdown = (event) => {
          event.stopPropagation();
          line.setPointerCapture(event.pointerId);
          line.onpointermove = (move) => {
            const left = move.clientX - chart.over.getBoundingClientRect().left;
            seek(Math.max(chart.posToVal(left, "x") - start, 0));
          };
        };
        line.onpointerup = () => { line.onpointermove = null; };
        line.onmousedown = (event) => event.stopPropagation();  // or the plot would zoom
        let down = 0;
        chart.over.addEventListener("mousedown", (event) => { down = event.clientX; });
        chart.over.addEventListener("click", (event) => {
          if (event.target === line || Math.abs(event.clientX - down) > 3) return;
          seek(Math.max(chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, "x") - start, 0));
        });
      }
      const at = chart.valToPos(state.seconds, "x");
      line.hidden = !(at >= 0 && at <= chart.over.clientWidth);
      line.style.left = `${at}px`;
    }
  }

  // ---- keys
  const KEYS = {
    Space: () => tell("toggle"), ArrowLeft: () => tell("skip", -5), ArrowRight: () => tell("skip", 5),
    Comma: () => tell("step", -1), Period: () => tell("step", 1), KeyL: () => tell("live"), KeyF: fullScreen,
  };
  for (let n = 1; n <= 9; n++) KEYS[`Digit${n}`] = () => tell("pick", n);
  window.addEventListener("keydown", (event) => {
    const at = event.target;
    if (!bar || !KEYS[event.code] || event.ctrlKey || event.metaKey || event.altKey) return;
    if (at instanceof HTMLElement && (at.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName))) return;
    if (document.querySelector("[data-drive]") && !["Comma", "Period", "KeyL", "KeyF"].includes(event.code)) return;
    event.preventDefault();
    event.stopPropagation();  // the viewer would move the camera with the same keys
    KEYS[event.code]();
  }, true);

  // ---- a page with a server
  let events = [];
  let eventsText = "";
  let asked = new URLSearchParams(location.search).get("t");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => tell("dark", dark.matches));
  if (dark.matches && !story) tell("dark", true);
  function live() {
    const source = document.querySelector("[data-nutmeg-state]");
    const input = field();
    if (!source || !source.dataset.nutmegState || !input) return;
    const state = JSON.parse(source.dataset.nutmegState);
    const listed = document.querySelector("[data-nutmeg-events]");
    if (listed && listed.dataset.nutmegEvents !== eventsText) {
      eventsText = listed.dataset.nutmegEvents;
      events = JSON.parse(eventsText);
    }
    if (asked !== null) {
      tell("clock", asked);
      asked = null;
    }
    waiting = waiting.filter((message) => state.page !== page || message.n > state.read);
    if (waiting.length && performance.now() - sent > 400) send();
    if (document.title !== state.title) document.title = state.title;
    if (state.board) showBoard(state.board);
    if (state.map) showMap(state.map, state.colours);
    showEvents(events, state.colours, state.t, seek);
    showBar(state, events);
    showCursors(state);
    foldSheet(source);
    place();
  }
  let sheet = null;
  function foldSheet(source) {  // on a phone the panel is a sheet at the lower edge: it begins folded, and a tap opens it
    if (sheet && sheet.isConnected) return;
    sheet = source.closest(".mantine-Paper-root");
    if (!sheet || getComputedStyle(sheet).position !== "fixed") { sheet = null; return; }
    sheet.classList.add("nb-sheet");
    const handle = [...sheet.querySelectorAll("div")].find((node) => node.style.cursor === "pointer");
    if (handle) handle.click();
  }
  function place() {  // keep clear of panels that are docked beside the picture
    const drawn = canvas();
    if (!drawn) return;
    const box = drawn.getBoundingClientRect();
    document.body.style.setProperty("--nb-left", `${Math.max(box.left, 0)}px`);
    if (board) board.box.style.transform = `scale(${Math.min(1, (box.width - 32) / Math.max(board.box.offsetWidth, 1))})`;
    if (bar) document.body.style.setProperty("--nb-bar", `${bar.box.offsetHeight}px`);
    document.body.style.setProperty("--nb-sheet", `${sheet && sheet.isConnected ? sheet.offsetHeight : 0}px`);
    document.body.style.setProperty("--nb-right", `${Math.max(window.innerWidth - box.right, 0)}px`);
  }

  // ---- a replay without a server
  const clockField = () => document.querySelector(".mantine-NumberInput-input");  // of viser's player
  const MAX_FRAME = 2;  // seconds: a page in the background is not drawn, and its time stands still
  const SPEEDS = ["0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x"];
  const player = { time: 0, playing: true, speed: "1x", loop: false, shown: -1, looked: performance.now() };
  const goTo = (time) => { if (Number.isFinite(time)) player.time = Math.min(Math.max(time, 0), story.length); };
  const ACTIONS = {
    toggle: () => {
      if (player.time < story.length) player.playing = !player.playing;
      else Object.assign(player, { time: 0, playing: true });
    },
    seek: goTo,
    clock: (text) => goTo(timeOf(seconds(text))),
    skip: (time) => goTo(player.time + time),
    step: (rows) => { player.playing = false; goTo((Math.round(player.time * story.fps) + rows) / story.fps); },
    speed: (speed) => { player.speed = speed; },
    loop: () => { player.loop = !player.loop; },
    pick: (number) => { if (cameras && cameras.thing.options[number - 1]) cameras.thing.value = String(number - 1); },
  };
  function play() {  // let time pass, and tell viser's player which moment to show
    requestAnimationFrame(play);
    const passed = Math.min((performance.now() - player.looked) / 1000, MAX_FRAME);
    player.looked = performance.now();
    const input = clockField();
    if (!input) return;
    if (player.playing) player.time += passed * parseFloat(player.speed);
    if (player.time >= story.length) {
      player.time = player.loop && player.playing ? 0 : story.length;
      player.playing = player.playing && player.loop;
    }
    const pause = input.closest(".mantine-Paper-root").querySelector("button:has(.tabler-icon-player-pause-filled)");
    if (pause) pause.click();  // its own clock must not run
    // At the very end it would start again from the beginning.
    const moment = Math.max(Math.min(player.time, story.length - 0.002), 0);
    if (Math.abs(moment - player.shown) < 1e-3) return;
    player.shown = moment;
    setValue(input, moment.toFixed(3));
  }
  function stateAt(time) {
    let found = story.states[0];
    for (const state of story.states) {
      if (state.t > time + 1e-6) break;
      found = state;
    }
    const past = story.events.filter((e) => e.t <= time && e.t > time - CAPTION);
    return {
      ...story, ...found, clock: clockText(found.clock + (found.runs ? Math.max(time - found.t, 0) : 0)),
      caption: past.length ? past[past.length - 1] : null,
    };
  }
  function timeOf(clock) {  // the first moment at which the clock shows this
    for (const [i, state] of (story.states || []).entries()) {
      const next = story.states[i + 1];
      const end = next ? next.clock : Infinity;
      if (clock <= end) return state.t + (state.runs ? Math.max(clock - state.clock, 0) : 0);
    }
    return clock;
  }
  // ---- the cameras of a replay: viser's player hands out its scene and its camera for tests, and we use them
  let cameras = null;
  let taken = "";  // the view that the camera has been put to
  let seen = null;  // where the thing that is followed was seen first
  let looked = 0;
  const FOLLOW_TIME = 250;
  const nodeAt = (path) => {
    const node = viewer() && viewer().nodeRefFromName[path];
    return node && node.getWorldPosition(viewer().camera.position.clone());
  };
  const viewer = () => window.__viserMutable && window.__viserMutable.camera && window.__viserMutable.cameraControl && window.__viserMutable;
  function buildCameras() {
    const box = make("div", "", document.body);
    box.id = "nutmeg-cameras";
    const choice = (label, names) => {
      const node = make("select", "", box);
      node.setAttribute("aria-label", label);
      names.forEach((name, i) => { make("option", "", node, name).value = String(i); });
      node.onchange = () => { taken = ""; seen = null; node.blur(); };
      return node;
    };
    const camera = choice("Camera", story.cameras.choices);
    const thing = choice("Robot", story.cameras.things.map((one) => one.name));
    camera.value = String(story.cameras.choices.indexOf(story.cameras.first));
    thing.hidden = story.cameras.things.length < 2;
    return { camera, thing };
  }
  const named = () => story.cameras.choices[Number(cameras.camera.value)];
  const chosen = () => story.cameras.things[Number(cameras.thing.value) || 0];
  function take(path, { always }) {  // stand where the frames of a camera are
    const { camera, cameraControl: control, requestRender } = viewer();
    const [place, target, top] = ["place", "target", "top"].map((name) => nodeAt(`${path}/${name}`));
    if (!place || !target || !top || place.distanceTo(target) < 0.1) return;  // the player has not placed them yet
    const key = `${path} ${[...place, ...target, ...top].map((v) => v.toFixed(4))}`;
    if (key === taken || (!always && taken.startsWith(`${path} `))) return;
    taken = key;
    const up = top.clone().sub(target);
    const slope = up.length() / target.distanceTo(place) / Math.min(camera.aspect, 1);  // see fitted_fov in stage/cameras.py
    camera.fov = Math.min(2 * Math.atan(slope) * 180 / Math.PI, 110);
    camera.up.copy(up.normalize());
    camera.updateProjectionMatrix();
    control.updateCameraUp();
    control.setLookAt(...place, ...target, false);
    requestRender();
  }
  function follow(path, distance) {  // shift camera and target with a thing; its user may still turn and zoom
    const { camera, cameraControl: control, requestRender } = viewer();
    const now = nodeAt(path);
    if (!now) return;
    const place = control.getPosition(camera.position.clone());
    const target = control.getTarget(camera.position.clone());
    if (!seen) {
      const [from, to] = ["place", "target"].map((name) => nodeAt(`${story.cameras.paths["Whole pitch"]}/${name}`));
      if (!from || !to || from.distanceTo(to) < 0.1) return;  // the player has not placed its frames yet
      const away = from.sub(to);
      camera.fov = 45;
      camera.updateProjectionMatrix();
      seen = now;
      looked = performance.now();
      control.setLookAt(...now.clone().add(away.setLength(distance)), ...now, false);
    } else {
      const share = 1 - Math.exp((looked - performance.now()) / FOLLOW_TIME);  // smoothly: steps do not shake the picture
      const goal = target.clone().lerp(now, share);
      looked = performance.now();
      if (goal.distanceTo(target) < 1e-4) return;
      control.setLookAt(...place.add(goal).sub(target), ...goal, false);
    }
    taken = "";
    requestRender();
  }
  function aim() {
    requestAnimationFrame(aim);
    if (!viewer() || !clockField()) return;
    cameras = cameras || buildCameras();
    const choice = named();
    cameras.thing.hidden = story.cameras.things.length < 2 || !["Follow robot", "Robot's eyes"].includes(choice);
    if (story.cameras.paths[choice]) take(story.cameras.paths[choice], { always: choice === "Broadcast" });
    else if (choice === "Follow ball") follow(story.cameras.ball, 2.2);
    else if (choice === "Follow robot") follow(chosen().path, chosen().distance);
    else if (choice === "Robot's eyes" && chosen().eyes) take(chosen().eyes, { always: true });
  }
  function mapState() {
    const root = viewer() && viewer().nodePoseData;
    if (!root) return null;
    const at = (path) => (root[path] ? root[path].position : [0, 0, 0]);
    return {
      half: story.cameras.half,
      robots: story.cameras.things.map((one) => [one, at(one.path)]).filter(([, p]) => p[2] > story.cameras.underground)
        .map(([one, p]) => [p[0], p[1], one.team, Boolean(cameras) && !cameras.thing.hidden && one === chosen()]),
      ball: story.cameras.ball && at(story.cameras.ball).slice(0, 2),
    };
  }
  const clockAt = (time) => {  // what the clock shows then, in seconds
    if (!story.states) return time;
    const { clock, runs, t } = story.states.reduce((found, state) => (state.t <= time + 1e-6 ? state : found));
    return clock + (runs ? Math.max(time - t, 0) : 0);
  };
  const seconds = (text) => text.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
  function replay() {
    const input = clockField();
    if (!input) return;
    document.body.classList.add("nb-replay");
    if (asked !== null) tell("clock", asked);
    asked = null;
    const time = player.time;
    if (story.states) {
      showBoard(stateAt(time));
      const places = mapState();
      if (places) showMap(places, story.colours);
    }
    showEvents(story.events, story.colours, time, seek);
    showBar({
      t: time, length: story.length, clock: fineClockText(clockAt(time)), total: fineClockText(clockAt(story.length)),
      playing: player.playing, live: false, finished: true, loop: player.loop, speed: player.speed, speeds: SPEEDS,
      colours: story.colours, note: "",
    }, story.events);
    place();
  }
  const NOTICE_TIME = 8000;
  function dismissNotice() {  // viser's remark about slow drawing lies on the score board: take it away once it was read
    const notice = [...document.querySelectorAll(".mantine-Notification-root")].find((one) => one.textContent.includes("WebGL"));
    if (!notice) return;
    if (!notice.dataset.seen) notice.dataset.seen = String(performance.now());
    const close = notice.querySelector("button");
    if (close && performance.now() - Number(notice.dataset.seen) > NOTICE_TIME) close.click();
  }
  window.setInterval(dismissNotice, 1000);
  window.setInterval(() => (story ? replay() : live()), TICK);
  if (story) {
    requestAnimationFrame(aim);
    requestAnimationFrame(play);
    window.nutmegReplay = { make, button, clockAt, clockText: (time) => fineClockText(clockAt(time)), time: () => player.time, seek, ready: () => cameras };  // for replay_plots.js
  }
})();
