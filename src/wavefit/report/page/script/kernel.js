// The section of one kernel.

function section(kernel, advice) {
  const place = kernel.member ? `${kernel.file}[${kernel.member}]` : kernel.file;
  return [
    name(kernel.name, "h1", { tabindex: -1 }),
    el("p", { class: "quiet wide" }, name(place), `, ${kernel.target}`),
    kernel.notes.map((note) => el("p", { class: "note" }, say(note))),
    kernel.refused && el("p", { class: "refused" }, say("no answer: {why}", { why: say(kernel.refused.why) })),
    kernel.low && kernel.fit && [
      el("h2", {}, say("With the fewest waves: {amount} threads", { amount: kernel.low.threads })), answer(kernel, kernel.low),
      el("h2", {}, say("With the most waves: {amount} threads", { amount: kernel.fit.threads })),
    ],
    kernel.fit && answer(kernel, kernel.fit, advised(kernel, advice)),
    el("h2", {}, say("What it spends")), spends(kernel),
    kernel.fit && reasons(kernel.fit),
  ];
}

// `advice` stands behind the steps.
function answer(kernel, fit, advice = []) {
  return [
    verdict(fit),
    el("h2", {}, say("What limits")), limits(fit),
    el("div", { class: "ways" },
      el("div", {}, el("h2", {}, say("What gains waves")), gains(fit)),
      el("div", {}, el("h2", {}, say("What loses a workgroup")), steps(fit, fit.losses, say("no increase does")))),
    advice,
    fit.curves.length > 0 && [
      el("h2", {}, say("Waves a SIMD against each resource")),
      el("p", { class: "quiet" }, say("diamond: here; grey: the same waves; triangles: the nearest cliffs, more waves and fewer")),
      el("div", { class: "charts" }, fit.curves.map((curve) => figure(curve, fit.slots))),
    ],
  ];
}

// What the answer rests on, what others say, and the arithmetic with its sources.
function reasons(fit) {
  return [
    fit.assumptions.length > 0 && [
      el("h2", {}, say("What the answer rests on")), el("ul", {}, fit.assumptions.map((line) => el("li", {}, say(line)))),
    ],
    fit.views.length > 0 && [el("h2", {}, say("What others say")), views(fit)],
    el("h2", {}, say("The arithmetic")), derivation(fit),
  ];
}

function verdict(fit) {
  const on = fit.chip ? `${fit.chip} (${fit.target})` : fit.target;
  const mode = fit.mode ? say(", {mode} mode", { mode: fit.mode.toUpperCase() }) : "";
  const groups = counted(fit.workgroups, "workgroup");
  const own = Object.fromEntries(fit.beside.map((each) => [each.word, each.other]));
  return el("div", { class: "answer" },
    el("p", { class: "quiet" }, say("on {chip}: {size}", { chip: on + mode, size: say("{threads} threads = {waves} {word} of {lanes}",
      { threads: fit.threads, waves: fit.resident, word: named("waves", fit.beside), lanes: fit.wave }) })),
    el("p", { class: `verdict${fit.why ? " limit" : ""}` }, say(fit.verdict)), bar(fit.occupancy),
    el("p", {}, el("strong", {}, percent(fit.occupancy)), ": ", say("{waves} of {most} waves a {unit}, {each} a SIMD, {groups}",
      { waves: fit.waves, most: fit.max_waves, unit: fit.unit, each: amount(fit.waves_per_simd), groups })),
    fit.plain.map((each) => el("p", { class: "quiet" }, say("{name}: plain division gives {plain}", { name: named(each.resource), plain: each.gives }))),
    own.waves && el("p", { class: "quiet" }, `${say("waves")} = ${own.waves}, SIMD = ${own.SIMD}, ${say("workgroups")} = ${own.workgroups}, LDS = ${own.LDS}`),
    fit.carveouts && el("p", { class: "quiet" }, say("the ceiling: the driver may give less {lds} than this counts", { lds: named("lds", fit.beside) })));
}

function limits(fit) {
  const spare = new Map(fit.slack.map((each) => [each.resource, each.spare]));
  const shown = fit.limits.filter((limit) => limit.workgroups !== null
    || (limit.requested !== null && !["threads", "scratch"].includes(limit.resource)));
  const heads = [["resource"], ["asks", 1], ["charged", 1], ["granule", 1], ["of", 1], ["alone, waves a SIMD", 1], ["alone, workgroups", 1], ["spare", 1], ["known by"]];
  return table(say("What limits"), heads.map(([text, numeric]) => [say(text), numeric]), shown.map((limit) => {
    const binds = fit.binding.includes(limit.resource);
    const groups = limit.workgroups ?? (limit.status === "unknown" ? say("unknown") : say("no limit"));
    const cells = [limit.requested, limit.allocated, limit.granule, limit.budget, limit.waves_per_simd, groups, spare.get(limit.resource) ?? ""];
    return el("tr", { class: binds ? "binds" : null },
      el("th", { scope: "row" }, named(limit.resource, fit.beside), binds && el("span", { class: "tag" }, say("binds"))),
      cells.map((cell) => el("td", { class: "n" }, amount(cell))), el("td", { class: "quiet" }, say(limit.status)));
  }));
}

function gains(fit) {
  if (fit.next_steps.length) return steps(fit, fit.next_steps, "");
  const none = fit.workgroups === 0 ? say("nothing that is known")
    : fit.waves === fit.max_waves ? say("already at the hardware's maximum")
      : fit.unequal ? say("not searched for waves of unequal registers")
        : say("nothing alone gains a wave: {what} would have to change together", { what: both(fit.binding.map((each) => named(each))) });
  return el("p", {}, none);
}

function steps(fit, found, none) {
  if (!found.length) return el("p", {}, none);
  return el("ul", { class: "steps" }, found.map((step) => el("li", {}, el("strong", {}, changes(step)), ": ", result(step))));
}

function changes(step) {
  return both(step.changes.map((each) => `${named(each.resource)} ${each.from} → ${each.to}`));
}

function result(step) {
  if (!step.workgroups) return say("cannot launch");
  const groups = counted(step.workgroups, "workgroup");
  return say("{groups}, {waves} waves, {share}", { groups, waves: step.waves, share: percent(step.occupancy) });
}

function spends(kernel) {
  const kinds = kernel.agprs ? say(" ({regular} regular + {more} accumulator)", { regular: kernel.vgprs, more: kernel.agprs }) : "";
  const size = (bytes) => (bytes === null ? say("unknown") : say("{amount} bytes", { amount: bytes }));
  const rows = [
    ["VGPRs", kernel.total_vgprs === null ? null : kernel.total_vgprs + kinds], ["VGPRs allocated", kernel.allocated_vgprs],
    ["SGPRs", kernel.sgprs], ["SGPRs allocated", kernel.allocated_sgprs],
    ["LDS, static", size(kernel.lds)], ["LDS, dynamic", size(kernel.lds_dynamic)],
    ["scratch a work-item", kernel.scratch === null ? null : size(kernel.scratch) + (kernel.dynamic_stack ? say(" and a dynamic stack") : "")],
    ["VGPRs spilled", kernel.vgpr_spills], ["SGPRs spilled", kernel.sgpr_spills],
    ["largest workgroup", kernel.max_threads], ["required workgroup", kernel.required_size && kernel.required_size.join(" x ")],
    ["symbol", kernel.symbol && name(kernel.symbol)],
  ];
  return el("dl", { class: "spends" }, rows.filter(([, value]) => value !== null && value !== "")
    .map(([key, value]) => el("div", {}, el("dt", {}, say(key)), el("dd", {}, value.nodeType ? value : `${value}`))));
}

function advised(kernel, note) {
  const found = kernel.advised;
  if (!found) return note && [el("h2", {}, say("Advice")), el("p", { class: "quiet" }, say(note))];
  const use = found.utilisation !== null && el("p", {}, say("est. {share} of the matrix unit", { share: percent(found.utilisation) }));
  const list = found.advice.map((each) => el("li", {},
    el("strong", {}, say(each.what)), el("span", { class: "tag" }, say(each.confidence)),
    each.gain && el("span", { class: "good" }, say("gain: {gain}", { gain: say(each.gain) })),
    el("ul", {}, each.evidence.map((line) => el("li", {}, say("because {why}", { why: say(line) }))),
      el("li", {}, say("price: {price}", { price: say(each.price) })))));
  return [el("h2", {}, say("Advice")), use,
    list.length ? el("ol", { class: "advice" }, list) : el("p", {}, say("nothing to do")),
    found.not_judged && el("p", { class: "quiet" }, say("not judged: how the loop runs: {why}", { why: say(found.not_judged) }))];
}

function views(fit) {
  const heads = [["view"], ["waves a SIMD", 1], ["occupancy", 1], ["workgroups", 1], ["whose, and why it differs"]];
  return table(say("What others say"), heads.map(([text, numeric]) => [say(text), numeric]), fit.views.map((seen) => el("tr", {},
    el("th", { scope: "row" }, seen.view),
    [seen.waves_per_simd, seen.occupancy === null ? null : percent(seen.occupancy), seen.workgroups].map((cell) => el("td", { class: "n" }, amount(cell))),
    el("td", { class: "words" }, say(seen.authority), seen.differs.map((why) => el("div", { class: "quiet" }, say(why)))))));
}

function derivation(fit) {
  return el("ol", { class: "derivation" }, fit.derivation.map((line) => el("li", {},
    el("strong", {}, named(line.about)), line.text.split("; ").map((part) => el("code", {}, say(part))),
    line.facts.length > 0 && el("ul", {}, line.facts.map((fact) => el("li", {},
      el("code", {}, fact.path), ` = ${fact.value}${fact.unit ? ` ${say(fact.unit)}` : ""} `, el("span", { class: "tag" }, say(fact.status)), ` ${fact.source}`))))));
}
