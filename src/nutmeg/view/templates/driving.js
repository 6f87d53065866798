// Drives a robot with the keys and the buttons of the page. Put into a page by drive_pad.py.
//
// The viewer has no events for keys, so the state of the keys is written into a text field of the page, which is hidden
// here and which the viewer reads as any other. Each message says everything (what is held, how often stop and restart
// were asked for), is sent ten times a second while something is held and a few times afterwards: a lost one is no harm.
(() => {
  if (window.nutmegDriving) return;
  window.nutmegDriving = true;
  const MARK = "nutmeg-drive ";
  const WAYS = { ahead: [1, 0, 0], back: [-1, 0, 0], left: [0, 1, 0], right: [0, -1, 0], ccw: [0, 0, 1], cw: [0, 0, -1] };
  const KEYS = {
    KeyW: "ahead", ArrowUp: "ahead", KeyS: "back", ArrowDown: "back", KeyA: "left", ArrowLeft: "left",
    KeyD: "right", ArrowRight: "right", KeyQ: "ccw", KeyE: "cw", Space: "stop", KeyR: "restart",
    Digit1: "set0", Digit2: "set1", Digit3: "set2",
  };
  const page = Math.floor(Math.random() * 1e9);
  const held = new Map();
  const told = { n: 0, stops: 0, restarts: 0, picks: 0, set: 0 };
  let again = 0;

  const field = () => [...document.querySelectorAll("input")].find((input) => input.value.startsWith(MARK));
  const total = () => {
    const sum = [0, 0, 0];
    for (const way of new Set(held.values())) WAYS[way].forEach((value, i) => (sum[i] += value));
    return sum;
  };

  function hide(input) {
    const row = input.closest(".mantine-Flex-root");
    if (row && row.parentElement) row.parentElement.style.display = "none";
  }
  function send() {
    const input = field();
    if (!input) return;
    hide(input);
    told.n += 1;
    const value = MARK + JSON.stringify({ ...told, page, held: total() });
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }
  function show() {
    const active = new Set(held.values());
    for (const cell of document.querySelectorAll("[data-drive]")) {
      cell.toggleAttribute("data-on", active.has(cell.dataset.drive));
    }
  }
  function changed() {
    again = 4;
    show();
    send();
  }
  function act(what, source) {
    if (what in WAYS) {
      held.set(source, what);
    } else if (what === "stop") {
      held.clear();
      told.stops += 1;
    } else if (what === "restart") {
      held.clear();
      told.restarts += 1;
    } else {
      told.picks += 1;
      told.set = Number(what.slice(3));
    }
    changed();
  }
  function release(source) {
    if (held.delete(source)) changed();
  }
  function releaseAll() {
    if (held.size === 0) return;
    held.clear();
    changed();
  }
  // Somebody who types into a field does not drive; the arrow keys of a slider are its own.
  function typing(event) {
    const at = event.target;
    if (!(at instanceof HTMLElement)) return false;
    if (at.getAttribute("role") === "slider") return event.code.startsWith("Arrow");
    return at.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName);
  }

  window.addEventListener("keydown", (event) => {
    const what = KEYS[event.code];
    if (!what || event.ctrlKey || event.metaKey || event.altKey || typing(event) || !field()) return;
    event.preventDefault();
    event.stopPropagation();  // the viewer would move the camera with the same keys
    if (!event.repeat) act(what, event.code);
  }, true);
  window.addEventListener("keyup", (event) => {
    if (!KEYS[event.code] || typing(event)) {
      release(event.code);
      return;
    }
    event.preventDefault();  // a space let go would press the button that was clicked last
    event.stopPropagation();
    release(event.code);
  }, true);
  window.addEventListener("pointerdown", (event) => {
    const cell = event.target instanceof Element ? event.target.closest("[data-drive]") : null;
    if (cell && event.button === 0) {
      event.preventDefault();
      act(cell.dataset.drive, `pointer ${event.pointerId}`);
    } else if (event.target instanceof HTMLCanvasElement && document.activeElement instanceof HTMLElement) {
      document.activeElement.blur();  // a click into the picture gives the keys back to the robot
    }
  }, true);
  for (const name of ["pointerup", "pointercancel"]) {
    window.addEventListener(name, (event) => release(`pointer ${event.pointerId}`), true);
  }
  window.addEventListener("blur", releaseAll);
  document.addEventListener("visibilitychange", () => document.hidden && releaseAll());
  window.setInterval(() => {
    const input = field();
    if (input) hide(input);
    if (held.size > 0 || again > 0) {
      again = Math.max(again - 1, 0);
      send();
    }
  }, 100);
})();
