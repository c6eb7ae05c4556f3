// --- sessions ------------------------------------------------------------

const base = (path) => path ? path.split(/[\\/]/).filter(Boolean).pop() || path : 'no project';
const net = (n) => (n > 0 ? '+' : '') + short(Math.round(n));

const worth = (s) => [net(s.net), `${(s.pct || 0).toFixed(1)} %`, s.money].filter(Boolean).join(', ');

// sessionsTab returns functions that fill the tab. ask gets a part of the model by its path.
function sessionsTab(ask) {
  let all = [], open = null, call = -1, stamp = '';

  const list = virtual('sessions', 46, (s) => [
    el('span', { class: 'top' }, el('b', {}, base(s.project)), el('span', {}, s.client + (s.sub ? ' sub-agent' : ''))),
    el('span', { class: 'low' }, el('span', {}, s.known ? `${many(s.calls, 'call')}, ${short(s.prompt)}` : 'reading'),
      s.cut || s.clearing ? el('span', { class: s.net < 0 ? 'bad' : 'good' }, worth(s)) : el('span', {}, when(s.begun || s.at).slice(5, 16))),
  ], pick);

  function shown() {
    const client = $('of-client').value, project = $('of-project').value, text = $('of-text').value.trim().toLowerCase();
    return all.filter((s) => (!client || s.client === client) && (!project || s.project === project) && (!text || `${s.id} ${s.model || ''} ${s.project || ''}`.toLowerCase().includes(text)));
  }
  function refresh(keep) {
    const some = shown();
    list.set(some, keep && ((s) => open && s.key === open));
    const sum = (key) => some.reduce((n, s) => n + (s[key] || 0), 0);
    $('sessions-sum').textContent = `${many(some.length, 'session')}, ${many(sum('calls'), 'call')}; ${many(sum('cut'), 'result')} cut, ${short(sum('tokens'))} tokens less, net ${net(sum('net'))}.`;
  }
  function choices(id, key) {
    const values = [...new Set(all.map((s) => s[key]).filter(Boolean))].sort(), now = $(id).value;
    $(id).replaceChildren(el('option', { value: '' }, 'all'), ...values.map((v) => el('option', { value: v }, key === 'project' ? base(v) : v)));
    $(id).value = values.includes(now) ? now : '';
  }
  for (const id of ['of-client', 'of-project', 'of-text']) $(id).addEventListener('input', () => refresh(true));

  async function pick(s) {
    const other = open !== s.key;
    open = s.key;
    if (other) call = -1;
    await load(other);
  }

  async function load(fresh) {
    const key = open, w = await ask('window/' + key);
    if (key !== open) return;
    $('session-none').hidden = !!w;
    $('session-body').hidden = !w;
    if (!w) return void ($('session-none').textContent = 'This copy does not have the window of that session.');
    stamp = w.key + w.at + w.calls;
    head(w);
    drawWindow(w, call < 0 ? w.columns.prompt.length - 1 : call, (i) => { call = i; calls.show(i); });
    events.set(w, fresh);
    calls.set(w, fresh);
  }

  function head(w) {
    $('session-name').textContent = `${base(w.project)} (${w.client})`;
    $('session-about').textContent = [w.id, w.project, w.model, w.begun && `begun ${when(w.begun)} UTC`, w.measured ? 'tokens as the API counted them' : 'tokens modelled from the texts', w.failed].filter(Boolean).join('; ');
    const figure = (name, value, text, says, kind) => el('div', {}, el('b', { 'data-stat': 'session-' + name, 'data-value': value, class: kind }, text), el('span', {}, says));
    const last = w.columns.prompt.length - 1;
    $('session-figures').replaceChildren(
      figure('net', w.net, net(w.net), ['fresh tokens saved, net (' + (w.pct || 0).toFixed(1) + ' %)', w.money].filter(Boolean).join(', '), w.net < 0 ? 'bad' : 'good'),
      figure('gross', w.gross, net(w.gross), `by ${many(w.cut, 'cut')}, ${short(w.tokens)} tokens less`),
      figure('rereads', w.rereads, net(-w.rereads), `for ${many(w.again, 'result')} fetched again`),
      figure('clearing', w.clearing, net(w.clearing), 'by clearing, its cost charged'),
      figure('prompt', w.prompt, short(w.prompt), `tokens in the window after ${many(w.calls, 'call')}`),
      figure('without', 0, last < 0 ? '0' : short(w.prompt + w.columns.cut[last] + w.columns.cleared[last]), 'tokens without cutting and clearing'));
  }

  const events = eventsOf(ask, () => open), calls = callsOf();
  addEventListener('resize', () => { if (open && !$('view-sessions').hidden) load(false); });
  return {
    async set(sessions) {
      all = sessions;
      choices('of-client', 'client');
      choices('of-project', 'project');
      refresh(true);
      const now = all.find((s) => s.key === open);
      if (!open && all.length) list.choose(Math.max(0, shown().findIndex((s) => !s.sub))); // the user's last
      else if (now && stamp !== now.key + now.at + now.calls) await load(false);
    },
  };
}

// callsOf lists the model calls of a session.
function callsOf() {
  let c = null;
  const list = virtual('calls', 26, (i) => [
    el('span', { class: 'n' }, count(i + 1)), el('span', { class: 'num' }, count(c.prompt[i])), el('span', { class: 'num' }, `${short(c.read[i])} cached`),
    el('span', { class: 'num' }, `${short(c.write[i])} new`), el('span', { class: 'num' }, `${short(c.output[i])} out`), el('span', { class: 'wide' }, c.tools[i]),
  ], () => {});
  let now = -1;
  return {
    set(w, fresh) {
      c = w.columns;
      if (fresh) now = -1;
      list.set(c.prompt.map((_, i) => i), fresh ? undefined : (i) => i === now);
    },
    show(i) { now = i; list.choose(i); },
  };
}
