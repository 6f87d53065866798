// The score board over the picture of a match, as on television. Put into a page by pages/scoreboard.py.
//
// In the live page the state comes as JSON in an element of the panel, which the viewer renews; in a replay the whole
// story lies in window.nutmegMatch, and the player's own clock says which moment is shown.
(() => {
  if (window.nutmegBoard) return;
  window.nutmegBoard = true;
  const make = (tag, name, parent) => {
    const node = document.createElement(tag);
    node.className = name;
    parent.append(node);
    return node;
  };
  const set = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const clockText = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s) % 60).padStart(2, "0")}`;

  // ---- the board
  let parts = null;
  function build() {
    const board = make("div", "nb-board", document.body);
    board.id = "nutmeg-board";
    board.setAttribute("role", "status");
    board.setAttribute("aria-label", "score board");
    const top = make("div", "nb-top", board);
    const clock = make("span", "nb-clock", top);
    const sides = [0, 1].map((i) => {
      const side = make("span", `nb-side nb-side${i}`, top);
      const label = make("span", "nb-label", side);
      const name = make("span", "nb-name", label);
      const note = make("span", "nb-note", label);
      const goals = make("span", "nb-goals", side);
      return { side, name, note, goals };
    });
    const half = make("span", "nb-half", top);
    const below = make("div", "nb-below", board);
    const mode = make("span", "nb-mode", below);
    const caption = make("div", "nb-caption", document.body);
    caption.id = "nutmeg-caption";
    return { board, clock, sides, half, mode, below, caption };
  }
  function show(state) {
    parts = parts || build();
    state.teams.forEach((name, i) => {
      const { side, name: label, note, goals } = parts.sides[i];
      set(label, name);
      set(note, state.subtitles[i]);
      set(goals, String(state.score[i]));
      side.style.setProperty("--team", state.colours[i]);
      side.classList.toggle("nb-ball", state.favoured === i);
    });
    set(parts.clock, state.clock);
    set(parts.half, state.half);
    set(parts.mode, state.mode);
    const told = state.caption;
    parts.caption.classList.toggle("nb-on", Boolean(told));
    if (told) {
      set(parts.caption, `${told.mark} ${told.text}`);
      parts.caption.classList.toggle("nb-goal", told.kind === "goal");
      parts.caption.style.setProperty("--team", told.about === null ? "#39424a" : state.colours[told.about]);
    }
  }

  // ---- the live page
  function live() {
    const source = document.querySelector("[data-nutmeg-match]");
    if (source && source.dataset.nutmegMatch) show(JSON.parse(source.dataset.nutmegMatch));
  }

  // ---- a replay
  const story = window.nutmegMatch;
  const CAPTION = 4;
  const field = () => [...document.querySelectorAll("input")].find((i) => i.inputMode === "decimal" || !i.readOnly);
  const LEAD = 2;
  function stateAt(time) {
    let found = story.states[0];
    for (const state of story.states) {
      if (state.t > time + 1e-6) break;
      found = state;
    }
    const clock = found.clock + (found.runs ? Math.max(time - found.t, 0) : 0);
    const past = story.events.filter((e) => e.t <= time && e.t > time - CAPTION);
    return {
      teams: story.teams, subtitles: story.subtitles, colours: story.colours, score: found.score, clock: clockText(clock), half: found.half,
      mode: found.mode, favoured: found.favoured, caption: past.length ? past[past.length - 1] : null,
    };
  }
  function seek(time) {
    const input = field();
    if (!input) return;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, time.toFixed(1));
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.blur();
    const play = input.closest(".mantine-Paper-root");
    window.setTimeout(() => {  // the player pauses when its clock is set; go on from there
      const button = play && play.querySelector("button");
      if (button && button.querySelector(".tabler-icon-player-play-filled")) button.click();
    }, 50);
  }
  function list() {
    const box = make("div", "nb-list", document.body);
    box.id = "nutmeg-events";
    const title = make("button", "nb-title", box);
    title.textContent = `Events (${story.events.length})`;
    title.setAttribute("aria-expanded", "true");
    const rows = make("div", "nb-rows", box);
    title.onclick = () => {
      const open = rows.hidden;
      rows.hidden = !open;
      title.setAttribute("aria-expanded", String(open));
    };
    return story.events.map((event) => {
      const row = make("button", "nb-event", rows);
      row.style.setProperty("--team", event.about === null ? "#8a949c" : story.colours[event.about]);
      make("span", "nb-when", row).textContent = event.clock;
      make("span", "nb-what", row).textContent = `${event.mark} ${event.text}`;
      row.classList.toggle("nb-goal", event.kind === "goal");
      row.onclick = () => seek(Math.max(event.t - LEAD, 0));
      return { row, event };
    });
  }
  let rows = null;
  let newest = null;
  function replay() {
    const input = field();
    if (!input) return;
    rows = rows || list();
    document.body.classList.add("nb-replay");
    const time = Number(input.value) || 0;
    show(stateAt(time));
    let last = null;
    for (const { row, event } of rows) {
      row.classList.toggle("nb-past", event.t <= time);
      if (event.t <= time) last = row;
    }
    if (last !== newest && last) last.scrollIntoView({ block: "nearest" });
    newest = last;
  }
  window.setInterval(() => (story ? replay() : live()), 100);
})();
