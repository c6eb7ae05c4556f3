// --- the fixed prefix ----------------------------------------------------

function drawPrefix(byClient) {
  const clients = Object.keys(byClient || {});
  if (!clients.length) return void ($('prefix-about').textContent = 'Nothing is known yet: "mcp-pruner context CLIENT" measures it once, and this tab then shows it.');
  let now = clients[0];
  // After a change by context --apply what is off is not there any more.
  const parts = ({ parts: list, after }) => list.filter((p) => p.tokens > 0 && (!after || after.parts.some((a) => a.kind === p.kind && a.name === p.name)));
  const state = (p) => p.can_go ? 'unused' : p.sessions_used > 0 ? 'used' : 'stays';
  const words = (p) => `${p.name}${p.server ? ` of ${p.server}` : ''}: ${count(p.tokens)} tokens, ${p.share_pct} %; ${p.why || ''}`;

  function show() {
    const r = byClient[now];
    $('prefix-about').textContent = `${now} ${r.version || ''}: ${count(r.after ? r.after.tokens : r.tokens)} tokens before the first word` + (r.bill_pct ? `, ${r.bill_pct} % of the bill` : '') + ` (${many(r.sessions, 'session')} counted).`;
    const box = $('treemap'), W = Math.max(280, box.clientWidth), H = 300, list = parts(r).sort((a, b) => b.tokens - a.tokens);
    const tell = (p) => { $('prefix-told').textContent = words(p) + '.'; };
    box.replaceChildren(...squares(list, W, H).map(({ p, x, y, w, h }) => {
      const b = el('button', { type: 'button', class: state(p), 'aria-label': words(p), title: words(p) }, w > 46 && h > 16 ? p.name : '');
      Object.assign(b.style, { left: x + 'px', top: y + 'px', width: Math.max(1, w - 1) + 'px', height: Math.max(1, h - 1) + 'px' });
      for (const when of ['click', 'focus', 'mouseenter']) b.addEventListener(when, () => tell(p));
      return b;
    }));
    table('prefix-parts', ['part', 'kind', '#tokens', '#share', 'used in', 'verdict'], list.map((p) => [
      el('td', { class: 'wide' }, p.server ? `${p.name} (${p.server})` : p.name), cell(p.kind), cell(count(p.tokens), 'num'), cell(`${p.share_pct} %`, 'num'),
      cell(p.sessions_seen ? `${p.sessions_used} of ${p.sessions_seen}` : ''), el('td', { class: 'wide' }, p.can_go ? `could go: ${p.why}` : p.why)]));
  }
  tabs('prefix-clients', clients, () => now, (name) => { now = name; show(); });
  addEventListener('resize', () => { if (!$('view-prefix').hidden) show(); });
  show();
}

// squares places parts, the largest first, in rows whose cells are as square as can be.
function squares(list, W, H) {
  const placed = [], rest = [...list];
  let x = 0, y = 0, w = W, h = H, total = list.reduce((sum, p) => sum + p.tokens, 0);
  while (rest.length) {
    const side = Math.min(w, h), scale = w * h / total;
    let n = 1, sum = rest[0].tokens;
    const worst = (count, sum) => { const thick = sum * scale / side; return Math.max(...[rest[0], rest[count - 1]].map((p) => { const long = p.tokens * scale / thick; return Math.max(long / thick, thick / long); })); };
    while (n < rest.length && worst(n + 1, sum + rest[n].tokens) <= worst(n, sum)) sum += rest[n++].tokens;
    const thick = sum * scale / side;
    let at = 0;
    for (const p of rest.splice(0, n)) {
      const long = p.tokens * scale / thick;
      placed.push(w < h ? { p, x: x + at, y, w: long, h: thick } : { p, x, y: y + at, w: thick, h: long });
      at += long;
    }
    if (w < h) { y += thick; h -= thick; } else { x += thick; w -= thick; }
    total -= sum;
  }
  return placed;
}
