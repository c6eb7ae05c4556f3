// --- the window over time ------------------------------------------------

const layers = [['prefix', 'fixed prefix'], ['rest', 'messages and answers'], ['results', 'results'], ['cut', 'cut away'], ['cleared', 'cleared away']];

// drawWindow draws the prompts of a session as stacked areas, and above them what is not in them any more. moved is called with the
// call under the cursor.
function drawWindow(w, at, moved) {
  const box = $('window'), c = w.columns, n = c.prompt.length, W = Math.max(280, box.clientWidth), H = 240, left = 46, bottom = 34;
  box.replaceChildren();
  $('window-legend').replaceChildren(...layers.flatMap(([name, says]) => [el('i', { class: name }), says + ' ']));
  if (!n) return box.append('no model call yet');
  const columns = Math.min(n, Math.floor(W - left)), of = (x) => Math.min(n - 1, Math.floor(x * n / columns));
  const stack = (i, upTo) => layers.slice(0, upTo).reduce((sum, [name]) => sum + c[name][i], 0);
  let most = 1;
  for (let i = 0; i < n; i++) most = Math.max(most, stack(i, layers.length));
  const x = (col) => left + (W - left) * col / columns, y = (v) => (H - bottom) * (1 - v / (most * 1.04));
  const chart = svg('svg', { class: 'chart', viewBox: `0 0 ${W} ${H}`, 'aria-hidden': 'true' });
  for (const share of [0, .5, 1]) {
    const v = y(most * share);
    chart.append(svg('line', { x1: left, x2: W, y1: v, y2: v }), svg('text', { x: left - 6, y: v + 4, 'text-anchor': 'end' }, short(Math.round(most * share))));
  }
  layers.forEach(([name], l) => {
    const top = [], low = [];
    for (let col = 0; col < columns; col++) {
      const i = of(col), a = y(stack(i, l + 1)).toFixed(1), b = y(stack(i, l)).toFixed(1), from = x(col).toFixed(1), to = x(col + 1).toFixed(1);
      top.push(`${from},${a} ${to},${a}`);
      low.push(`${to},${b} ${from},${b}`);
    }
    chart.append(svg('polygon', { class: 'area ' + name, points: top.join(' ') + ' ' + low.reverse().join(' ') }));
  });
  const marks = { cut: 9, cleared: 17, again: 25 }, seen = new Set();
  for (const e of w.events) {
    const col = Math.floor(Math.min(e.call, n - 1) * columns / n), key = e.kind + col;
    if (seen.has(key)) continue;
    seen.add(key);
    if (e.kind === 'compacted') chart.append(svg('line', { class: 'compacted', x1: x(col), x2: x(col), y1: 0, y2: H - bottom }));
    else chart.append(svg('circle', { class: 'mark ' + e.kind, cx: x(col + .5), cy: H - bottom + marks[e.kind] - 2, r: 3 }));
  }
  const line = svg('line', { class: 'cursor', y1: 0, y2: H - bottom });
  chart.append(line);
  box.append(chart);

  let now = Math.min(Math.max(at, 0), n - 1);
  function move(i, tell) {
    now = Math.min(Math.max(i, 0), n - 1);
    const mid = x((now + .5) * columns / n);
    line.setAttribute('x1', mid);
    line.setAttribute('x2', mid);
    const text = `Call ${count(now + 1)} of ${count(n)}` + (c.at[now] ? `, after ${span(c.at[now] * 1000)}` : '') + `: prompt ${count(c.prompt[now])} tokens, of them ` +
      layers.slice(0, 3).map(([name, says]) => `${says} ${count(c[name][now])}`).join(', ') + `; not in it: cut ${count(c.cut[now])}, cleared ${count(c.cleared[now])}.`;
    $('window-at').textContent = text;
    for (const [k, v] of [['aria-valuenow', now + 1], ['aria-valuetext', text]]) box.setAttribute(k, v);
    if (tell) moved(now);
  }
  box.setAttribute('aria-valuemin', 1);
  box.setAttribute('aria-valuemax', n);
  const under = (e) => { const r = chart.getBoundingClientRect(); return of(Math.floor(((e.clientX - r.left) * W / r.width - left) / (W - left) * columns)); };
  chart.addEventListener('mousemove', (e) => move(under(e), false));
  chart.addEventListener('click', (e) => move(under(e), true));
  box.onkeydown = (e) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -1e9, End: 1e9 }[e.key];
    if (step === undefined) return;
    e.preventDefault();
    move(now + step, true);
  };
  move(now, false);
}
