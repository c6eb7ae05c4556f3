// --- the replay report ---------------------------------------------------

const fixed = (x, digits = 2) => (x < 0 ? '' : '+') + x.toFixed(digits) + ' %';

// bars draws shares, which are not negative; signedBars draws gains to the right of a common zero line and losses to its left.
function bars(list) {
  const most = Math.max(.01, ...list.map(([, x]) => x));
  return el('ul', { class: 'bars' }, ...list.map(([name, x]) => el('li', {}, el('span', { class: 'name' }, name),
    el('span', { class: 'bar' }, el('i', { style: `left:0;width:${100 * x / most}%` })), el('span', { class: 'value' }, x.toFixed(1) + ' %'))));
}
function signedBars(list) {
  const low = Math.min(0, ...list.map(([, x]) => x)), high = Math.max(.01, ...list.map(([, x]) => x)), scale = 100 / (high - low);
  return el('ul', { class: 'bars' }, ...list.map(([name, x]) => {
    const zero = -low * scale, width = Math.abs(x) * scale;
    return el('li', { 'data-bar': name, 'data-x': x }, el('span', { class: 'name' }, name), el('span', { class: 'bar' },
      el('i', { class: x < 0 ? 'loss' : 'gain', style: `left:${x < 0 ? zero - width : zero}%;width:${width}%` }), el('b', { style: `left:${zero}%` })), el('span', { class: 'value' }, fixed(x + 0)));
  }));
}

// curve plots the net of every session in percent of its bill, in ascending order.
function curve(sorted) {
  const W = 640, H = 160, low = Math.min(sorted[0], 0), high = Math.max(sorted[sorted.length - 1], 1);
  const y = (v) => H * (high - v) / (high - low), step = W / Math.max(sorted.length - 1, 1), losses = [], gains = [];
  sorted.forEach((v, i) => {
    if (v >= 0 && !gains.length && i) { // both lines meet where the curve crosses zero
      const cross = `${((i - v / (v - sorted[i - 1])) * step).toFixed(1)},${y(0).toFixed(1)}`;
      losses.push(cross);
      gains.push(cross);
    }
    (v < 0 ? losses : gains).push(`${(i * step).toFixed(1)},${y(v).toFixed(1)}`);
  });
  const picture = svg('svg', { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `net of every session, from ${fixed(low, 0)} to ${fixed(high, 0)}` },
    svg('line', { x1: 0, x2: W, y1: y(0), y2: y(0) }), svg('polyline', { class: 'loss', points: losses.join(' ') }), svg('polyline', { class: 'gain', points: gains.join(' ') }));
  const apart = .15 * (high - low), marks = [high, ...(high > apart && -low > apart ? [0] : []), low];
  return el('div', { class: 'curve' }, picture, ...marks.map((v) => el('span', { style: `top:${100 * y(v) / H}%` }, fixed(v + 0, 0))));
}

function drawReplay(r) {
  const box = $('replay');
  if (!r) return void box.replaceChildren(el('p', {}, 'There are no sessions to replay.'));
  const byValue = (shares) => Object.entries(shares).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)), p = (...text) => el('p', {}, ...text);
  box.replaceChildren(el('h2', {}, 'What pruning would have saved and lost'), ...(r.warning ? [p(el('b', {}, r.warning))] : []),
    p(`${count(r.sessions)} sessions, ${count(r.sessions_with_usage)} of them with the API's own usage; bill: ${count(Math.round(r.bill))} fresh input tokens. Prices: ${r.prices}. ` +
      'All figures are percent of the bill. Gains are green and to the right of the line, losses red and to its left.'),
    el('h2', {}, 'Tool results in the bill'), bars(byValue(r.share_pct).slice(0, 12)),
    el('h2', {}, 'By size of the result in tokens'), bars(r.classes.map((c) => [c.name, c.pct])),
    p(`A perfect pruner of results of 1,000 tokens and more that keeps 10, 20, 30 %: ${r.limit_pct.keep10}, ${r.limit_pct.keep20}, ${r.limit_pct.keep30}.`));
  for (const policy of r.order) {
    const s = r.policies[policy], d = (r.details || {})[policy], sorted = r.per_session[policy] || [];
    box.append(el('h2', {}, `Policy ${policy}`));
    const terms = d ? [['gross', s.gross_pct], ['headers and markers', -d.markers_pct], ['questions', -d.questions_pct], ['definitions', -d.definitions_pct], ['misses', -d.misses_pct]] : [['gross', s.gross_pct]];
    box.append(signedBars([...terms, ['net', s.net_pct], ['net, misses twice', s.net_pct_misses2], ['net, misses three times', s.net_pct_misses3]]));
    if (d) box.append(p(`${count(d.pruned)} results pruned, ${count(d.missed)} with a line that was needed later, by ${count(d.calls_that_lacked)} model calls; ${fixed(s.net_pct_wide)} net by the wide rule. ` +
      `Per session: median ${s.median_pct} %, p10 ${s.p10_pct} %, p90 ${s.p90_pct} %; ${s.losing_pct} % of the sessions lose.`));
    if (s.input_pct !== undefined) box.append(p(`Modelled input ${fixed(s.input_pct, 1)}, re-reads in it ${s.reread_pct} %; worst session ${fixed(s.worst_session_pct, 1)}. The best fixed rule: ${fixed(s.fixed_rule_pct, 1)}, worst ${fixed(s.fixed_rule_worst_session_pct, 1)}.`));
    if (sorted.length) box.append(curve(sorted));
    const tools = d && Object.entries(d.tools || {}).map(([name, g]) => [name, g.net_pct]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 8).sort((a, b) => b[1] - a[1]);
    if (tools && tools.length) box.append(el('h3', {}, 'Net by tool'), signedBars(tools));
  }
  box.append(p('The formula, the rules by which a line counts as needed, and their limits: docs/evidence/BILL.md.'));
}
