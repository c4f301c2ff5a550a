// Texts in English and Chinese: the English is the key. What the catalogue lacks is said in English.

const words = { chinese: new Map(), language: "en" };

function say(template, values = {}) {
  const told = words.language === "zh" ? (words.chinese.get(template) ?? template) : template;
  return told.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}

// 1 workgroup, 2 workgroups; the catalogue's keys are "{amount} workgroup".
function counted(amount, word) {
  return words.language === "en" ? `${amount} ${word}${amount === 1 ? "" : "s"}` : say(`{amount} ${word}`, { amount });
}

function both(parts) {
  return parts.length < 2
    ? parts.join("")
    : parts.slice(0, -1).join(say(", ")) + say(" and ") + parts.at(-1);
}

function percent(share) {
  return `${+(share * 100).toPrecision(4)} %`;
}

function amount(number) {
  if (number === null || number === undefined) return "-";
  return Number.isInteger(number) || typeof number !== "number" ? `${number}` : `${+number.toPrecision(6)}`;
}

const NAMES = {
  vgpr: "VGPR", sgpr: "SGPR", lds: "LDS", slots: "wave slots", workgroups: "workgroups",
  scratch: "scratch", threads: "threads", workgroup: "workgroup", minimum: "minimum", waves: "waves",
};

// A resource with the vendor's own word beside it where that is another.
function named(resource, beside = []) {
  const name = NAMES[resource] ?? resource;
  const own = beside.find((each) => each.word === name);
  return own ? `${say(name)} (${say(own.other)})` : say(name);
}

// The language that the page was made in, else the browser's.
function preferred() {
  return document.documentElement.dataset.language
    || (navigator.languages.find((each) => /^(zh|en)/i.test(each)) ?? "en").slice(0, 2).toLowerCase();
}

// Every element of the page that carries a key says it in the language in use.
function retell() {
  document.documentElement.lang = words.language === "zh" ? "zh-Hans" : "en";
  for (const element of document.querySelectorAll("[data-say]")) {
    element.textContent = say(element.dataset.say);
  }
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", say(element.dataset.label));
  }
}
