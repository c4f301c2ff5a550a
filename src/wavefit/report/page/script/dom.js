// Elements. All text goes in as text: nothing that a file says is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// A name out of a file: by itself, in its own direction.
function name(text, tag = "span", attributes = {}) {
  return el(tag, { class: "name", dir: "ltr", ...attributes }, text ?? "");
}

function bar(share) {
  return svg("svg", { class: "bar", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "all", width: 1, height: 1 }), svg("rect", { class: "part", width: share, height: 1 }));
}

function table(caption, heads, rows) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, heads.map(([text, numeric]) => el("th", { scope: "col", class: numeric ? "n" : null }, text)))),
      el("tbody", {}, rows)));
}
