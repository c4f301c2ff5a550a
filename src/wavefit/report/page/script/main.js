// The table of all kernels: sorted, filtered, a page at a time; and the kernel that the address names.

const ROWS = 100;
const NUMERIC = new Set(["vgprs", "sgprs", "lds", "spills", "threads", "waves", "occupancy"]);
const VALUES = {
  name: (kernel) => kernel.name, on: (kernel) => kernel.fit?.chip ?? kernel.target,
  vgprs: (kernel) => kernel.total_vgprs, sgprs: (kernel) => kernel.sgprs,
  lds: (kernel) => (kernel.fit?.limits ?? []).find((limit) => limit.resource === "lds")?.requested ?? kernel.lds,
  spills: (kernel) => kernel.vgpr_spills, threads: (kernel) => kernel.fit?.threads ?? null,
  waves: (kernel) => kernel.fit?.waves_per_simd ?? null, occupancy: (kernel) => kernel.fit?.occupancy ?? null,
  binds: (kernel) => kernel.fit?.binding.join("+") ?? "",
};
const ONLY = {
  all: () => true, spills: (kernel) => kernel.vgpr_spills > 0 || kernel.sgpr_spills > 0,
  launch: (kernel) => kernel.fit?.workgroups === 0, refused: (kernel) => !kernel.fit,
  gains: (kernel) => kernel.fit?.next_steps.length > 0 && kernel.fit.workgroups > 0,
  alone: (kernel) => kernel.fit?.workgroups > 0 && kernel.fit.next_steps.some((step) => step.changes.length === 1),
};
const at = (id) => document.getElementById(id);
const state = { kernels: [], shown: [], sort: null, down: false, page: 0, note: null };

function filtered() {
  const text = at("search").value.toLowerCase();
  const [target, binds, only] = ["target", "binds", "only"].map((id) => at(id).value);
  state.shown = state.kernels.filter((kernel) =>
    (!text || `${kernel.name}\n${kernel.symbol}\n${kernel.file}\n${kernel.member ?? ""}`.toLowerCase().includes(text))
    && (!target || kernel.target === target)
    && (!binds || (kernel.fit?.binding ?? []).includes(binds)) && ONLY[only](kernel));
  if (state.sort) state.shown.sort(compared(VALUES[state.sort], state.down));
  state.page = Math.min(state.page, Math.max(0, Math.ceil(state.shown.length / ROWS) - 1));
}

// Unknown values come last both ways.
function compared(value, down) {
  return (one, other) => {
    const [a, b] = [value(one) ?? null, value(other) ?? null];
    if (a === null || b === null) return (a === null) - (b === null);
    const order = a < b ? -1 : a > b ? 1 : 0;
    return down ? -order : order;
  };
}

function page() {
  return state.shown.slice(state.page * ROWS, (state.page + 1) * ROWS);
}

function draw() {
  filtered();
  at("count").textContent = counted(state.kernels.length, "kernel");
  at("rows").replaceChildren(...page().map(line));
  const pages = Math.max(1, Math.ceil(state.shown.length / ROWS));
  at("found").textContent = say("{shown} of {all} kernels", { shown: state.shown.length, all: state.kernels.length });
  at("page").textContent = say("page {page} of {pages}", { page: state.page + 1, pages });
  at("pages").hidden = pages === 1;
  at("back").disabled = state.page === 0;
  at("on").disabled = state.page + 1 >= pages;
  for (const button of document.querySelectorAll("button.sort")) {
    const sorted = button.value === state.sort;
    button.closest("th").setAttribute("aria-sort", sorted ? (state.down ? "descending" : "ascending") : "none");
  }
}

function line(kernel) {
  const step = kernel.fit?.next_steps[0];
  const cell = (id) => el("td", { class: "n" }, amount(VALUES[id](kernel)));
  return el("tr", {},
    el("th", { scope: "row" }, name(kernel.name, "a", { href: `#k-${kernel.key}` })),
    el("td", {}, VALUES.on(kernel)), ["vgprs", "sgprs", "lds", "spills", "threads", "waves"].map(cell),
    el("td", { class: "n" }, kernel.fit ? [percent(kernel.fit.occupancy), bar(kernel.fit.occupancy)] : "-"),
    el("td", {}, kernel.fit ? kernel.fit.binding.map((each) => named(each)).join(" + ") : say("no answer")),
    el("td", { class: "next" }, step ? `${changes(step)}: ${result(step)}` : ""));
}

// The kernel that the address names, else the table.
function route(focus = true) {
  const key = decodeURIComponent(location.hash).replace(/^#k-/, "");
  const kernel = location.hash.startsWith("#k-") && state.kernels.find((each) => each.key === key);
  at("overview").hidden = Boolean(kernel);
  at("kernel").hidden = !kernel;
  document.title = kernel ? `${kernel.name.slice(0, 80)} - wavefit` : at("count").textContent;
  if (!kernel) {
    at("kernel").replaceChildren();
    return;
  }
  const order = state.shown.includes(kernel) ? state.shown : state.kernels;
  const here = order.indexOf(kernel);
  const way = (other, text) => other && el("a", { href: `#k-${other.key}` }, say(text));
  at("kernel").replaceChildren(
    el("nav", { class: "ways-on", "aria-label": say("Kernels") }, el("a", { href: "#overview" }, say("All kernels")),
      way(order[here - 1], "Previous"), way(order[here + 1], "Next")),
    ...section(kernel, state.note).flat(Infinity).filter(Boolean));
  if (focus) {
    at("kernel").querySelector("h1").focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

// On paper: the table, and the sections of the kernels on its page.
function printed() {
  if (at("overview").hidden) return;
  at("paper").replaceChildren(...page().map((kernel) => el("article", {}, section(kernel, state.note))));
}

function speak(language) {
  words.language = language;
  at("language").value = language;
  retell();
  draw();
  route(false);
}

function listen() {
  const again = () => { state.page = 0; draw(); };
  for (const id of ["search", "target", "binds", "only"]) at(id).addEventListener("input", again);
  at("filter").addEventListener("submit", (event) => event.preventDefault());
  at("back").addEventListener("click", () => { state.page -= 1; draw(); });
  at("on").addEventListener("click", () => { state.page += 1; draw(); });
  at("switch").hidden = false;
  at("language").addEventListener("change", (event) => speak(event.target.value));
  for (const button of document.querySelectorAll("button.sort")) {
    button.disabled = false;
    button.addEventListener("click", () => {
      state.down = state.sort === button.value ? !state.down : NUMERIC.has(button.value);
      state.sort = button.value;
      again();
    });
  }
  addEventListener("hashchange", () => route());
  addEventListener("beforeprint", printed);
  addEventListener("afterprint", () => at("paper").replaceChildren());
}

async function start() {
  const found = unpacked(await inflated(at("data").textContent));
  words.chinese = new Map(found.said.map((each) => [each.en, each.zh]));
  state.kernels = found.kernels;
  state.note = found.advice;
  listen();
  at("filter").hidden = false;
  speak(preferred());
  document.documentElement.dataset.ready = "";
}

start().catch((error) => {
  at("found").textContent = say("the script of this page failed: {why}", { why: error.message });
  throw error;
});
