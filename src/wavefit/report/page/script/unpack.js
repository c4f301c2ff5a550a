// The other half of pack.py: tables, pools and rows back into objects, each made when it is first asked for.

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function unpacked({ root, texts, lists, tables }) {
  for (const table of tables) {
    table.made = [];
    table.columns = table.columns.map((column, at) => (table.kinds[at] ? summed(column) : column));
  }
  for (const pool of lists) pool.made = [];

  function value(kind, cell) {
    if (cell === null || !kind) return cell;
    if (kind[0] === "t") return texts[kind[1]][cell];
    return kind[0] === "r" ? row(kind[1], cell) : list(kind[1], cell);
  }
  function row(number, at) {
    const table = tables[number];
    table.made[at] ??= Object.fromEntries(
      table.keys.map((key, column) => [key, value(table.kinds[column], table.columns[column][at])]),
    );
    return table.made[at];
  }
  function list(number, at) {
    const pool = lists[number];
    pool.made[at] ??= pool.items[at].map((cell) => value(pool.kind, cell));
    return pool.made[at];
  }
  return row(...root);
}

function summed(steps) {
  let before = 0;
  return steps.map((step) => (step === null ? null : (before += step)));
}
