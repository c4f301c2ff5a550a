// Answers without a reload. Every form with data-live also works as a plain GET form; the address always
// holds the question, so that a link reproduces it.

const answer = document.getElementById("answer");
const said = document.getElementById("said");
let pending; // the request that is on its way

function show(html, key) {
  answer.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  answer.dataset.for = key;
  answer.classList.remove("pending");
  announce();
}

function announce() {
  const lines = [...answer.querySelectorAll("[data-verdict]")].map((each) => each.textContent.trim());
  said.textContent = lines.join("; ");
}

function complain(text) {
  const line = document.createElement("p");
  line.className = "refused";
  line.dataset.verdict = "";
  line.textContent = text;
  answer.replaceChildren(line);
  answer.classList.remove("pending");
  announce();
}

function question(form) {
  const given = [...new FormData(form)].filter(([, text]) => text.trim() !== "");
  return new URLSearchParams(given.map(([name, text]) => [name, text.trim()])).toString();
}

async function ask(form) {
  const asked = question(form);
  const address = form.getAttribute("action") + (asked && `?${asked}`);
  pending?.abort();
  pending = new AbortController();
  answer.classList.add("pending");
  try {
    const found = await fetch(address, { headers: { "X-Part": "answer" }, signal: pending.signal });
    const html = await found.text();
    if (found.ok) show(html, asked);
    else complain(html);
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name !== "AbortError") complain(String(error.message));
  }
}

function mirror(form) {
  for (const slider of form.querySelectorAll('input[type="range"]')) {
    form.querySelector(`output[for="${slider.id}"]`).textContent = slider.value;
  }
}

for (const form of document.querySelectorAll("form[data-live]")) {
  let wait;
  const soon = () => {
    mirror(form);
    clearTimeout(wait);
    wait = setTimeout(() => ask(form), 60);
  };
  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(wait);
    if (form.dataset.live === "reload") form.submit();
    else ask(form);
  });
  form.querySelector('[data-reload]')?.addEventListener("change", () => { clearTimeout(wait); form.submit(); });
}

// Dropped files

const drop = document.querySelector("form[data-drop]");

async function* within(entry, path) {
  if (entry.isFile) {
    yield [path + entry.name, await new Promise((done, failed) => entry.file(done, failed))];
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const each of some) yield* within(each, `${path}${entry.name}/`);
  }
}

async function send(files) {
  const body = new FormData();
  let size = 0;
  for (const [name, file] of files) {
    body.append("files", file, name);
    size += file.size;
  }
  if (!files.length) return;
  if (size > Number(drop.dataset.largest)) return complain(drop.dataset.tooLarge);
  const asked = question(drop);
  said.textContent = drop.dataset.busy;
  answer.classList.add("pending");
  answer.setAttribute("aria-busy", "true");
  try {
    const found = await fetch(`/drop${asked && `?${asked}`}`, { method: "POST", body });
    show(await found.text(), files.map(([name]) => name).join(" "));
  } catch {
    complain(drop.dataset.broken);
  } finally {
    answer.removeAttribute("aria-busy");
  }
}

if (drop) {
  const place = document.getElementById("drop");
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const event of ["dragenter", "dragover"]) {
    place.addEventListener(event, (it) => { it.preventDefault(); place.classList.add("over"); });
  }
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    place.classList.remove("over");
    // all of them now: what is dropped is gone after the first pause
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    const dropped = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
    const files = [];
    for (const each of dropped) {
      if (each instanceof File) files.push([each.name, each]);
      else for await (const found of within(each, "")) files.push(found);
    }
    send(files);
  });
  for (const input of drop.querySelectorAll('input[type="file"]')) {
    input.addEventListener("change", () => {
      send([...input.files].map((file) => [file.webkitRelativePath || file.name, file]));
      input.value = "";
    });
  }
}
