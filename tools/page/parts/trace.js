// --- the trace report ----------------------------------------------------

// Everything on the tab is computed here from the records, so that filters apply to all of it.
async function drawTrace(model) {
  const data = model.data;
  // --- records -----------------------------------------------------------

  const FLAG = { estimated: 1, reread: 2, cut: 4, limited: 8 };

  async function unpack(text) {
    const raw = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // column reads the variable-length numbers of one column, one by one.
  function column(bytes, from) {
    let at = from;
    const unsigned = () => {
      let n = 0, scale = 1, b;
      do {
        b = bytes[at++];
        n += (b & 127) * scale;
        scale *= 128;
      } while (b > 127);
      return n;
    };
    const signed = () => {
      const n = unsigned();
      return n % 2 ? -(n + 1) / 2 : n / 2;
    };
    const text = () => {
      const n = unsigned();
      at += n;
      return String.fromCharCode(...bytes.subarray(at - n, at));
    };
    return { unsigned, signed, text };
  }

  function records(bytes) {
    const columns = [];
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (let at = 0; at < bytes.length;) {
      columns.push(column(bytes, at + 4));
      at += 4 + view.getUint32(at, true);
    }
    const list = new Array(data.count);
    let start = data.base;
    for (let i = 0; i < data.count; i++) {
      const n = (c) => columns[c].unsigned();
      const r = { path: n(0), tool: n(1), session: n(2), client: n(3), end: n(4), pruning: n(5) };
      start += columns[6].signed();
      r.start = start;
      r.flags = n(7);
      r.raw = n(8); r.sent = n(9); r.question = n(10); r.rawBytes = n(11); r.sentBytes = n(12);
      const more = columns[13];
      const gross = r.flags & FLAG.cut ? r.raw - r.sent : 0;
      const again = r.flags & FLAG.reread;
      r.gross = gross;
      if (r.flags & FLAG.limited) {
        r.shown = more.signed(); r.reread = more.signed(); r.without = more.signed();
      } else {
        r.shown = again ? 0 : gross;
        r.reread = again ? r.sent : 0;
        r.without = again ? 0 : r.raw;
      }
      r.net = r.shown - r.question - r.reread;
      const steps = data.paths[r.path].edges.length;
      r.steps = new Float64Array(steps); // microseconds: a run of 36 minutes is more than 32 bits hold
      r.took = 0;
      for (let s = 0; s < steps; s++) r.took += r.steps[s] = more.signed();
      r.id = more.text();
      list[i] = r;
    }
    return list;
  }

  const machineOf = (r) => data.machines[data.paths[r.path].machine];
  const isRequest = (r) => machineOf(r).request;
  const ending = (r) => data.ends[r.end];
  const failed = (r) => isRequest(r) && ending(r)[0] !== 'responded' && ending(r)[1] !== 'cancelled';

  // --- figures, as trace stats computes them -----------------------------

  // Times counts durations to ten significant bits.
  class Times {
    counts = new Map();
    n = 0;
    max = 0;
    add(us, n = 1) {
      us = Math.max(us, 0);
      let rounded = us;
      if (us >= 1024) {
        let width = us < 2 ** 31 ? 2 ** (22 - Math.clz32(us)) : 2 ** 22;
        while (us / width >= 1024) width *= 2;
        rounded = Math.floor(us / width) * width + width / 2;
      }
      this.counts.set(rounded, (this.counts.get(rounded) || 0) + n);
      this.n += n;
      this.max = Math.max(this.max, us);
    }
    merge(other) {
      for (const [us, n] of other.counts) this.counts.set(us, (this.counts.get(us) || 0) + n);
      this.n += other.n;
      this.max = Math.max(this.max, other.max);
    }
  }
  const latency = (times) => { // by the nearest rank
    const sorted = [...times.counts].sort((a, b) => a[0] - b[0]), l = { n: times.n, p50: 0, p95: 0, p99: 0, max: times.max };
    let seen = 0;
    for (const [us, n] of sorted) {
      for (const percent of [50, 95, 99]) {
        const rank = Math.ceil(percent * times.n / 100);
        if (seen < rank && rank <= seen + n) l['p' + percent] = Math.min(us, times.max);
      }
      seen += n;
    }
    return l;
  };
  const into = (map, key) => { if (!map.has(key)) map.set(key, new Times()); return map.get(key); };
  const edgeKey = (machine, edge) => machine * 65536 + edge;

  function summarize(list) {
    const s = {
      requests: 0, runs: 0, failed: 0, applied: 0, prunerFailed: 0, prunerCancelled: 0, estimated: 0, raw: 0, sent: 0, rawBytes: 0, sentBytes: 0,
      gross: 0, notShown: 0, questions: 0, rereads: 0, rereadsOf: 0, ofRereads: 0, without: 0, net: 0,
      tools: new Map(), machines: new Map(), edges: new Map(), paths: new Map(),
    };
    const sessions = new Set(), took = new Times();
    for (const r of list) {
      const path = data.paths[r.path];
      s.paths.set(r.path, (s.paths.get(r.path) || 0) + 1);
      s.machines.set(path.machine, (s.machines.get(path.machine) || 0) + 1);
      if (data.sessions[r.session]) sessions.add(r.session);
      for (let i = 0; i < r.steps.length; i++) into(s.edges, edgeKey(path.machine, path.edges[i])).add(r.steps[i]);
      if (!data.machines[path.machine].request) { s.runs++; continue; }
      s.requests++;
      took.add(r.took);
      const how = data.pruning[r.pruning][0];
      if (how === 'applied') s.applied++;
      if (how === 'failed') s.prunerFailed++;
      if (how === 'cancelled') s.prunerCancelled++;
      const bad = failed(r);
      if (bad) s.failed++;
      if (r.flags & FLAG.estimated) s.estimated++;
      s.raw += r.raw; s.sent += r.sent; s.rawBytes += r.rawBytes; s.sentBytes += r.sentBytes;
      s.gross += r.gross; s.questions += r.question; s.rereads += r.reread; s.without += r.without; s.net += r.net;
      if (r.flags & FLAG.reread) { s.rereadsOf++; s.ofRereads += r.gross; } else s.notShown += r.gross - r.shown;
      let t = s.tools.get(r.tool);
      if (!t) s.tools.set(r.tool, t = { count: 0, failed: 0, raw: 0, sent: 0, gross: 0, net: 0, took: new Times() });
      t.count++; t.raw += r.raw; t.sent += r.sent; t.gross += r.gross; t.net += r.net; t.took.add(r.took);
      if (bad) t.failed++;
    }
    for (const t of s.tools.values()) t.p50 = latency(t.took).p50;
    s.latency = latency(took);
    s.sessions = sessions.size;
    s.points = list.filter(isRequest).map((r) => [r.start, 1, r.sent, Math.max(0, r.gross)]);
    return s;
  }

  // totals are the figures of all records, also of those that are not here one by one.
  function totals({ stats, tools, paths, edges, hours }) {
    const { pruner, saved_tokens: saved, tokens, bytes } = stats;
    const s = {
      requests: stats.requests, runs: stats.runs, failed: stats.tools.reduce((sum, t) => sum + t.failed, 0), sessions: stats.sessions,
      applied: pruner.applied, prunerFailed: pruner.failed, prunerCancelled: pruner.cancelled, estimated: tokens.estimated_records || 0,
      raw: tokens.raw, sent: tokens.sent, rawBytes: bytes.raw, sentBytes: bytes.sent,
      gross: saved.gross, notShown: saved.not_shown, questions: saved.questions, rereads: saved.rereads, rereadsOf: saved.reread_count,
      ofRereads: saved.of_rereads, without: saved.without, net: saved.net,
      latency: { p50: stats.latency.p50_us, p95: stats.latency.p95_us, p99: stats.latency.p99_us, max: stats.latency.max_us },
      tools: new Map(), machines: new Map(), edges: new Map(), paths: new Map(paths), points: hours,
    };
    stats.tools.forEach((t, i) => s.tools.set(tools[i], {
      count: t.count, failed: t.failed, raw: t.raw_tokens, sent: t.sent_tokens, gross: t.pruned_tokens, net: t.net_saved_tokens, p50: t.latency.p50_us,
    }));
    for (const [path, n] of paths) s.machines.set(data.paths[path].machine, (s.machines.get(data.paths[path].machine) || 0) + n);
    for (const e of edges) {
      const times = into(s.edges, edgeKey(e.machine, e.edge));
      for (let i = 0; i < e.times.length; i += 2) times.add(e.times[i], e.times[i + 1]);
      times.max = e.max;
    }
    return s;
  }

  const toolName = (i) => data.tools[i] || 'no tool';
  const plain = (state) => state.replace(/^[a-z]+:/, '');

  // --- parts of the page -------------------------------------------------

  function figures(s) {
    const figure = (name, value, shown, says) => el('div', {}, el('b', { 'data-stat': name, 'data-value': value }, shown), el('span', {}, says));
    $('figures').replaceChildren(
      figure('requests', s.requests, count(s.requests), many(s.requests, 'request').replace(/^\S+ /, '') + (s.runs ? `, and ${many(s.runs, 'run')}` : '')),
      figure('failed', s.failed, count(s.failed), `failed (${percent(s.requests ? s.failed / s.requests : 0)})`),
      figure('net', s.net, short(s.net), 'tokens saved, net'),
      figure('share', s.without ? s.net / s.without : 0, percent(s.without ? s.net / s.without : 0), `of ${short(s.without)} without pruning`),
      figure('p50', s.latency.p50, span(s.latency.p50), 'median request'),
      figure('p95', s.latency.p95, span(s.latency.p95), `95 of 100; worst ${span(s.latency.max)}`),
      figure('applied', s.applied, count(s.applied), `pruned; the pruner failed ${many(s.prunerFailed, 'time')}` + (s.prunerCancelled ? `, ${count(s.prunerCancelled)} cancelled` : '')),
      figure('sessions', s.sessions, count(s.sessions), 'sessions'));
  }

  function balance(s) {
    const most = Math.max(s.gross, Math.abs(s.net), s.questions, s.rereads + s.ofRereads, 1);
    const lines = [
      ['pruned away', 'gross', s.gross, 'var(--cut)', 'markers and notes are counted as sent'],
      ['not shown', 'notShown', 0 - s.notShown, 'var(--soft)', 'the client would have cut it anyway'],
      ['read again', 'rereads', 0 - s.rereads - s.ofRereads, 'var(--s1)', `${many(s.rereadsOf, 'request')} about what had been pruned`],
      ['questions', 'questions', 0 - s.questions, 'var(--s2)', 'what asking cost the model'],
      ['net saved', 'balance', s.net, s.net < 0 ? 'var(--bad)' : 'var(--good)', `of ${count(s.without)} without pruning`],
    ];
    $('balance').replaceChildren(el('div', { class: 'rows' }, ...lines.flatMap(([name, stat, n, colour, says]) => [
      el('span', { class: 'name' }, name),
      el('span', { class: 'bar', title: says }, el('i', { style: `width:${100 * Math.abs(n) / most}%;background:${colour}` })),
      el('b', { class: 'num', 'data-stat': stat, 'data-value': n }, count(n)),
    ])), el('p', { class: 'sub' }, `From tools ${count(s.raw)} tokens, sent ${count(s.sent)} (${count(s.rawBytes)} and ${count(s.sentBytes)} bytes). ` +
      (s.estimated ? `Of ${many(s.estimated, 'request')} the tokens are estimated, within some per cent.` : '')));
  }

  // overTime draws points: start, number of requests, tokens sent, tokens pruned away.
  function overTime(points) {
    if (!points.length) return $('time').replaceChildren('nothing');
    let first = Infinity, last = -Infinity;
    for (const [start] of points) { first = Math.min(first, start); last = Math.max(last, start); }
    const steps = [1e3, 1e4, 6e4, 3e5, 9e5, 3.6e6, 1.08e7, 2.16e7, 8.64e7, 6.048e8, 2.592e9, 3.1536e10];
    const size = steps.find((x) => (last - first) / x <= 60 && (points !== allPoints || x >= 3.6e6)) || steps[steps.length - 1];
    const from = Math.floor(first / size) * size, n = Math.floor((last - from) / size) + 1;
    const sent = new Float64Array(n), cut = new Float64Array(n), calls = new Float64Array(n);
    for (const [start, n, tokens, pruned] of points) {
      const b = Math.floor((start - from) / size);
      sent[b] += tokens; cut[b] += pruned; calls[b] += n;
    }
    const W = Math.max(280, $('time').clientWidth || 520), H = 190, left = 44, bottom = 20, most = Math.max(1, ...sent.map((v, i) => v + cut[i]));
    const y = (v) => (H - bottom) * (1 - v / most), w = (W - left) / n;
    const chart = svg('svg', { class: 'chart', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': 'tokens over time' });
    for (const share of [0, .5, 1]) {
      const v = y(most * share * .98);
      chart.append(svg('line', { x1: left, x2: W, y1: v, y2: v }), svg('text', { x: left - 6, y: v + 4 + (share === 1 ? 6 : 0), 'text-anchor': 'end' }, short(Math.round(most * share))));
    }
    for (let i = 0; i < n; i++) {
      if (!calls[i]) continue;
      const g = svg('g', {}, svg('title', {}, `${when(from + i * size)}\n${many(calls[i], 'request')}\nsent ${count(sent[i])}\npruned away ${count(cut[i])}`));
      const x = left + i * w + w * .1;
      g.append(svg('rect', { class: 'sent', x, width: w * .8, y: y(sent[i]), height: Math.max(0, H - bottom - y(sent[i])) }),
        svg('rect', { class: 'cut', x, width: w * .8, y: y(sent[i] + cut[i]), height: Math.max(0, y(sent[i]) - y(sent[i] + cut[i])) }));
      chart.append(g);
    }
    const day = size >= 8.64e7 ? 10 : 16;
    chart.append(svg('text', { x: left, y: H - 5 }, when(from).slice(0, day)), svg('text', { x: W, y: H - 5, 'text-anchor': 'end' }, when(last).slice(0, day)));
    $('time').replaceChildren(chart);
  }

  function byTool(s) {
    const tools = [...s.tools].sort((a, b) => b[1].raw - a[1].raw || b[1].count - a[1].count);
    const most = Math.max(1, ...tools.map(([, t]) => Math.max(t.raw, t.sent)));
    $('tools').replaceChildren(el('div', { class: 'rows' }, ...tools.slice(0, 12).flatMap(([i, t]) => [
      el('span', { class: 'name', title: toolName(i) }, toolName(i)),
      el('span', { class: 'bar', title: `sent ${count(t.sent)}, pruned away ${count(t.gross)}` },
        el('i', { style: `width:${100 * t.sent / most}%;background:var(--sent)` }), el('i', { style: `width:${100 * Math.max(0, t.gross) / most}%;background:var(--cut)` })),
      el('span', { class: 'num', 'data-tool': data.tools[i], 'data-count': t.count, 'data-net': t.net }, `${short(t.net)} net`),
    ])), el('p', { class: 'sub' }, tools.slice(0, 12).map(([i, t]) => `${toolName(i)}: ${many(t.count, 'request')}, ${count(t.failed)} failed, median ${span(t.p50)}`).join('; ')));
  }

  const choice = { machine: 0, list: 'slowest', edges: null, state: null, says: '' };

  // tell says what there is to an arrow or a state: where the mouse is, and below the
  // picture when it is chosen, for a finger points at nothing without touching it.
  function tell(g, chosen, text) {
    g.querySelector('title').textContent = text;
    if (chosen) $('told').textContent = text;
  }

  // showFirst scrolls a picture that is wider than the screen to its middle, or as far
  // from there as it takes to show where it begins.
  function showFirst(d, machine) {
    d.scrollLeft = (d.scrollWidth - d.clientWidth) / 2;
    const frame = d.getBoundingClientRect(), box = d.querySelector(`[data-state="${CSS.escape(machine.initial)}"]`).getBoundingClientRect();
    d.scrollLeft += Math.max(0, box.right + 8 - frame.right) + Math.min(0, box.left - 8 - frame.left);
  }

  function machines(s) {
    let drawn = 0;
    $('told').textContent = 'Nothing is chosen.';
    document.querySelectorAll('.drawing').forEach((d) => {
      const m = data.machines.findIndex((x) => x.name === d.dataset.machine), machine = data.machines[m];
      const appears = d.hidden && m === choice.machine;
      d.hidden = m !== choice.machine;
      if (d.hidden) return;
      if (appears) showFirst(d, machine);
      const timesOf = (e) => s.edges.get(edgeKey(m, e)) || new Times();
      const together = (list) => list.reduce((sum, t) => { sum.merge(t); return sum; }, new Times());
      const times = (rows) => latency(rows.length === 1 ? timesOf(rows[0]) : together(rows.map(timesOf)));
      let most = 1;
      for (const [key, t] of s.edges) if (Math.floor(key / 65536) === m) most = Math.max(most, t.n);
      d.querySelectorAll('.arrow').forEach((g) => {
        const rows = g.dataset.rows.split(' ').map(Number), t = times(rows);
        drawn += rows.length;
        g.classList.toggle('never', !t.n);
        const chosen = g.classList.toggle('chosen', choice.edges !== null && choice.edges.machine === m && rows.every((e) => choice.edges.rows.includes(e)));
        g.dataset.count = t.n;
        g.querySelector('.n').textContent = t.n ? count(t.n) : '';
        g.querySelector('.t').textContent = t.n ? span(t.p50) : '';
        g.querySelector('.line').style.strokeWidth = t.n ? 1 + 5 * Math.sqrt(t.n / most) : 1;
        tell(g, chosen, rows.map((e) => {
          const r = machine.edges[e], one = times([e]);
          return `${r.row}: ${r.from} --${r.trigger}--> ${r.to}\n    ${many(one.n, 'time')}, p50 ${span(one.p50)}, p95 ${span(one.p95)}, max ${span(one.max)}`;
        }).join('\n'));
      });
      d.querySelectorAll('.state').forEach((g) => {
        const state = g.dataset.state, t = latency(together(machine.edges.flatMap((e, i) => e.from === state ? [timesOf(i)] : [])));
        const entered = machine.edges.reduce((sum, e, i) => sum + (e.to === state ? timesOf(i).n : 0), 0);
        g.classList.toggle('never', state !== 'any state' && !t.n && !entered);
        const chosen = g.classList.toggle('chosen', choice.state !== null && choice.state.machine === m && choice.state.name === g.dataset.state);
        tell(g, chosen, `${state}\n    entered ${many(entered, 'time')}` + (t.n ? `, left after p50 ${span(t.p50)}, p95 ${span(t.p95)}, max ${span(t.max)}` : ''));
      });
    });
    const others = data.machines.length ? data.machines[choice.machine].edges.length - drawn : 0;
    if (others > 0) $('told').append(` Not drawn, because this version's table does not have them: ${many(others, 'transition')}.`);
  }

  const several = (column) => data.machines.length > 1 ? [column] : []; // only then machines have to be told apart

  function states(s) {
    const of = new Map();
    for (const [key, t] of s.edges) {
      const m = Math.floor(key / 65536);
      into(of, m + ' ' + data.machines[m].edges[key % 65536].from).merge(t);
    }
    const lines = [...of].map(([key, t]) => {
      const space = key.indexOf(' ');
      return [data.machines[key.slice(0, space)].name, key.slice(space + 1), latency(t)];
    }).sort((a, b) => b[2].p50 - a[2].p50);
    const times = (t) => [t.p50, t.p95, t.p99, t.max].map((us) => cell(span(us), 'num'));
    table('states', ['state', ...several('machine'), '#times', '#p50', '#p95', '#p99', '#max'], lines.map(([machine, name, t]) => [
      el('td', { 'data-state-row': name, 'data-machine-row': machine, 'data-count': t.n, 'data-p50': t.p50, 'data-p95': t.p95, 'data-p99': t.p99, 'data-max': t.max }, name),
      ...several(cell(machine)), cell(count(t.n), 'num'), ...times(t)]));
  }

  const way = (p) => {
    const path = data.paths[p], edges = data.machines[path.machine].edges;
    return { machine: path.machine, triggers: path.edges.map((e) => edges[e].trigger).join(' '), end: edges[path.edges[path.edges.length - 1]].to };
  };
  function paths(s) {
    const lines = [...s.paths].sort((a, b) => b[1] - a[1]).slice(0, 40).map(([p, n]) => [way(p), n]);
    table('paths', ['#times', '#share', ...several('machine'), 'ends in', 'triggers'], lines.map(([w, n]) => {
      const machine = data.machines[w.machine].name, share = n / s.machines.get(w.machine);
      return [el('td', { class: 'num', 'data-way': w.triggers, 'data-way-machine': machine, 'data-count': n, 'data-share': share }, count(n)),
        cell(percent(share), 'num'), ...several(cell(machine)), cell(w.end), el('td', { class: 'wide' }, el('code', {}, w.triggers))];
    }));
  }

  const colour = (() => { // states in the order of the machine, in turns
    const seen = new Map();
    return (state) => { if (!seen.has(state)) seen.set(state, seen.size % 7); return `var(--s${seen.get(state)})`; };
  })();
  function spans(r) {
    const path = data.paths[r.path], edges = data.machines[path.machine].edges, bar = el('span', { class: 'spans' });
    path.edges.forEach((e, i) => bar.append(el('i', { style: `flex:${Math.max(r.steps[i], r.took / 200)} 0 0;background:${colour(edges[e].from)}`, title: `${edges[e].from} ${span(r.steps[i])}` })));
    return bar;
  }

  const lists = {
    slowest: (l) => [...l].sort((a, b) => b.took - a.took),
    failed: (l) => l.filter(failed).sort((a, b) => b.start - a.start),
    latest: (l) => [...l].sort((a, b) => b.start - a.start),
    'most saved': (l) => [...l].sort((a, b) => b.net - a.net),
    'least saved': (l) => [...l].sort((a, b) => a.net - b.net),
  };
  function requests(list) {
    const rows = lists[choice.list](list.filter(isRequest)).slice(0, 30);
    table('requests', ['id', 'started (UTC)', 'tool', 'ended', '#took', '#tokens in', '#sent', '#net', 'time in states', 'path'], rows.map((r) => {
      const [outcome, why] = ending(r), [how, reason] = data.pruning[r.pruning];
      return [el('td', {}, el('code', {}, r.id)), cell(when(r.start)), cell(toolName(r.tool)),
        el('td', { class: failed(r) ? 'bad' : undefined }, why ? `${outcome}: ${why}` : outcome), cell(span(r.took), 'num'), cell(count(r.raw), 'num'), cell(count(r.sent), 'num'), cell(count(r.net), 'num'),
        el('td', {}, spans(r)), el('td', {}, el('code', {}, way(r.path).triggers), how === 'failed' ? el('span', { class: 'bad' }, ` pruner: ${reason}`) : undefined)];
    }));
    if (!rows.length) $('requests').replaceChildren(el('tbody', {}, el('tr', {}, cell('none'))));
  }

  // --- filters -----------------------------------------------------------

  const form = $('filters').elements;

  function options(select, values) {
    select.replaceChildren(el('option', { value: '' }, 'all'), ...values.map(([value, text]) => el('option', { value }, text)));
  }

  function prepare(all) {
    const counts = (key) => { const m = new Map(); for (const r of all) m.set(r[key], (m.get(r[key]) || 0) + 1); return m; };
    const fill = (name, texts) => {
      const n = counts(name);
      const list = texts.map((t, i) => [i, t]).filter(([i]) => n.get(i)).sort((a, b) => n.get(b[0]) - n.get(a[0])).slice(0, 400);
      options(form[name], list.map(([i, t]) => [i, `${t} (${count(n.get(i))})`]));
    };
    fill('tool', data.tools.map((t) => t || 'no tool'));
    fill('end', data.ends.map(([o, w]) => w ? `${o}: ${w}` : o));
    fill('pruning', data.pruning.map(([h, r]) => h ? (r ? `${h}: ${r}` : h) : 'none'));
    fill('client', data.clients.map((c) => c || 'unknown'));
    fill('session', data.sessions.map((x) => x || 'none'));
  }

  function chosen(all) {
    const want = ['tool', 'end', 'pruning', 'client', 'session'].filter((k) => form[k].value !== '').map((k) => [k, +form[k].value]);
    const slower = parseFloat(form.slower.value) * 1000 || 0, id = form.id.value.trim().replace(/^req_/, '');
    return all.filter((r) => want.every(([k, v]) => r[k] === v) && r.took >= slower && (!id || r.id.startsWith(id.slice(0, 8))) && passes(r));
  }

  function passes(r) {
    const path = data.paths[r.path], edges = data.machines[path.machine].edges;
    if (choice.edges) return path.machine === choice.edges.machine && path.edges.some((e) => choice.edges.rows.includes(e));
    if (choice.state) return path.machine === choice.state.machine && path.edges.some((e) => edges[e].from === choice.state.name || edges[e].to === choice.state.name);
    return true;
  }

  // --- together ----------------------------------------------------------

  const all = records(await unpack(data.rows));

  const whole = data.totals && totals(data.totals), allPoints = whole && whole.points;
  const unfiltered = () => !choice.edges && !choice.state && [...$('filters').querySelectorAll('select, input')].every((e) => !e.value);

  function show() {
    const list = chosen(all), s = whole && unfiltered() ? whole : summarize(list);
    figures(s); balance(s); overTime(s.points); byTool(s); machines(s); states(s); paths(s); requests(list);
    $('through').hidden = !choice.says;
    $('through').textContent = choice.says && `only what took ${choice.says}; choose it again for all`;
    $('notes').textContent = [
      !data.left ? '' : s === whole ? `The figures cover all records, the list of requests and the filters only the last ${count(data.count)}.`
        : `Filtered: only the last ${many(data.count, 'record')}; ${many(data.left, 'older one')} left out (--since, --until, --tool and --client choose from all).`,
      data.unreadable ? `Not counted: ${many(data.unreadable, 'line')} without a record; mcp-pruner trace verify says why.` : '',
    ].join(' ').trim();
  }

  // --- the selection as a file -------------------------------------------

  const plainRow = (r) => ({
    start: new Date(r.start).toISOString(), machine: machineOf(r).name, id: r.id, session: data.sessions[r.session], client: data.clients[r.client],
    tool: data.tools[r.tool], outcome: ending(r)[0], why: ending(r)[1], us: r.took, pruning: data.pruning[r.pruning][0], reason: data.pruning[r.pruning][1],
    raw_bytes: r.rawBytes, sent_bytes: r.sentBytes, raw_tokens: r.raw, sent_tokens: r.sent, net_saved_tokens: r.net, triggers: way(r.path).triggers,
  });
  // A text that a spreadsheet would take for a formula begins with a quote.
  const field = (v) => typeof v === 'number' ? String(v) : `"${(/^[=+\-@\t\r]/.test(v) ? "'" + v : v).replaceAll('"', '""')}"`;
  const formats = {
    csv: (rows) => [Object.keys(rows[0] || plainRow(all[0])).join(','), ...rows.map((r) => Object.values(r).map(field).join(','))].join('\r\n') + '\r\n',
    json: (rows) => JSON.stringify(rows, null, 1) + '\n',
  };
  for (const [name, format] of Object.entries(formats)) {
    $(name).disabled = !all.length;
    $(name).addEventListener('click', () => {
      const text = format(chosen(all).map(plainRow)), url = URL.createObjectURL(new Blob([text]));
      el('a', { href: url, download: 'trace.' + name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
  }

  showVerdict(model);
  $('drawings').replaceChildren(...model.drawings.map(drawing));
  prepare(all);
  document.querySelectorAll('.drawing').forEach((d) => {
    const m = data.machines.findIndex((x) => x.name === d.dataset.machine);
    d.querySelectorAll('.arrow').forEach((g) => pickable(g, () => {
      const rows = g.dataset.rows.split(' ').map(Number), again = g.classList.contains('chosen');
      choice.state = null;
      choice.edges = again ? null : { machine: m, rows };
      choice.says = again ? '' : rows.map((e) => data.machines[m].edges[e].trigger).filter((t, i, l) => l.indexOf(t) === i).join(' or ');
      show();
    }));
    d.querySelectorAll('.state:not(.any)').forEach((g) => pickable(g, () => {
      const again = g.classList.contains('chosen');
      choice.edges = null;
      choice.state = again ? null : { machine: m, name: g.dataset.state };
      choice.says = again ? '' : g.dataset.state;
      show();
    }));
  });
  if (data.machines.length > 1) tabs('tabs', data.machines.map((m) => m.name), () => data.machines[choice.machine].name, (name) => { choice.machine = data.machines.findIndex((m) => m.name === name); show(); });
  tabs('lists', Object.keys(lists), () => choice.list, (name) => { choice.list = name; show(); });
  $('filters').addEventListener('input', show);
  $('filters').addEventListener('reset', () => { choice.edges = choice.state = null; choice.says = ''; setTimeout(show); });
  $('filters').addEventListener('submit', (e) => e.preventDefault());

  $('range').textContent = data.count ? `${when(data.from)} to ${when(data.to)} UTC` : '';
  show();
}

function showVerdict({ title, verdict: v }) {
  $('trace-title').textContent = title;
  $('verdict').className = `card verdict ${v.ok ? 'good' : 'bad'}`;
  const list = (items) => items && items.length ? el('ul', {}, ...items) : undefined;
  const problems = (v.problems || []).map((p) => el('li', { class: 'bad' }, p));
  if (v.more) problems.push(el('li', { class: 'bad' }, `and ${v.more} more`));
  $('verdict').replaceChildren(el('h2', {}, v.head), el('p', {}, v.line + '.'), ...[list(problems), list((v.notes || []).map((n) => el('li', {}, n)))].filter(Boolean),
    el('p', { class: 'sub' }, ...v.files.map((f) => el('span', { class: 'file' }, `${f.name}: ${count(f.bytes)} bytes, SHA-256 `, el('code', {}, f.sha256)))),
    el('p', { class: 'sub' }, (v.written ? `Versions: ${v.written}; ` : '') + v.compared + '.'));
}

// drawing shows the picture of a machine, which was drawn before the program was built.
function drawing(d) {
  const picture = new DOMParser().parseFromString(d.svg, 'image/svg+xml').documentElement;
  picture.style.maxWidth = picture.viewBox.baseVal.width + 'px';
  return el('div', { class: 'drawing', 'data-machine': d.machine, hidden: '', tabindex: 0, role: 'region', 'aria-label': `state machine ${d.machine}` }, picture);
}

