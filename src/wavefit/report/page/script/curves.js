// Waves against one resource as stairs: where the kernel stands, what it may spend for nothing, the cliffs.

const BOX = { width: 290, height: 180, left: 26, right: 12, top: 12, bottom: 30 };
const CURVES = {
  vgpr: ["VGPR", "VGPRs a lane"], sgpr: ["SGPR", "SGPRs a wave"], lds: ["LDS", "LDS a workgroup, KiB"],
  threads: ["workgroup size", "threads a workgroup"],
};

function figure(curve, slots) {
  const [head, unit] = CURVES[curve.resource];
  const title = curve.limits ? say("{what} limits", { what: say(head) }) : say(head);
  return el("figure", {},
    el("figcaption", {}, el("strong", { class: curve.limits ? "limit" : null }, title), spoken(curve)),
    picture(curve, slots, `${title}: ${spoken(curve)}`),
    el("figcaption", { class: "axis" }, say(unit)));
}

// What the picture shows, in words.
function spoken(curve) {
  const parts = [say("here {amount}", { amount: curve.here })];
  if (curve.fewer) parts.push(say("up to {amount}: {waves} waves", curve.fewer));
  else if (curve.limits && curve.waves) parts.push(say("less alone gains nothing"));
  if (curve.more) parts.push(curve.more.waves ? say("from {amount}: {waves} waves", curve.more) : say("from {amount}: none", curve.more));
  return parts.join(say(", "));
}

function picture(curve, slots, label) {
  const found = pairs(curve.stairs);
  const most = found.at(-1)[0];
  const x = (at) => BOX.left + (at / most) * (BOX.width - BOX.left - BOX.right);
  const y = (waves) => BOX.height - BOX.bottom - (waves / slots) * (BOX.height - BOX.top - BOX.bottom);
  const end = (at) => (at + 1 < found.length ? found[at + 1][0] : most);
  const on = found.findLastIndex(([low]) => low <= curve.here);
  return svg("svg", { class: "chart", viewBox: `0 0 ${BOX.width} ${BOX.height}`, role: "img", "aria-label": label },
    axes(curve, slots, most, x, y),
    on < 0 ? null : svg("line", { class: "slack", x1: x(found[on][0]), x2: x(end(on)), y1: y(curve.waves), y2: y(curve.waves) }),
    svg("path", { class: `curve${curve.limits ? " limits" : ""}`, d: found.map(([low, waves], at) =>
      `${at ? "L" : "M"}${x(low)} ${y(waves)}H${x(end(at))}`).join("") }),
    curve.fewer && svg("path", { class: "gain", d: mark(x(curve.fewer.amount), y(curve.fewer.waves), "0 -6L6 5H-6Z") }),
    curve.more && svg("path", { class: "loss", d: mark(x(curve.more.amount), y(curve.more.waves), "0 6L6 -5H-6Z") }),
    svg("path", { class: "here", d: mark(x(curve.here), y(curve.waves), "0 -8L8 0L0 8L-8 0Z") }));
}

function pairs(flat) {
  return flat.flatMap((low, at) => (at % 2 ? [] : [[low, flat[at + 1]]]));
}

// A small outline, moved to its place.
function mark(dx, dy, outline) {
  const moved = outline.replace(/(-?\d+) (-?\d+)/g, (_, px, py) => `${dx + +px} ${dy + +py}`);
  return `M${moved.replace(/H(-?\d+)/g, (_, px) => `H${dx + +px}`)}`;
}

function axes(curve, slots, most, x, y) {
  const parts = [];
  for (let waves = 0; waves <= slots; waves += Math.max(1, Math.floor(slots / 4))) {
    parts.push(svg("line", { class: waves ? "rule" : "base", x1: BOX.left, x2: BOX.width - BOX.right, y1: y(waves), y2: y(waves) }),
      svg("text", { x: BOX.left - 8, y: y(waves) + 4, "text-anchor": "end" }, `${waves}`));
  }
  const scale = curve.resource === "lds" ? 1024 : 1;
  for (let at = 0, step = stride(most / scale); at <= most / scale; at += step) {
    parts.push(svg("text", { x: x(at * scale), y: BOX.height - BOX.bottom + 18, "text-anchor": "middle" }, `${at}`));
  }
  return parts;
}

// Some five labels: a step of 1, 2 or 5, or of a power of two where sizes are such.
function stride(most) {
  return [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].find((step) => most / step <= 5) ?? 1024;
}
