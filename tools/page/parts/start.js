// --- the page ------------------------------------------------------------

const titles = { sessions: 'Sessions', prefix: 'Prefix', trace: 'Trace', replay: 'Replay' };
const draws = { prefix: drawPrefix, replay: drawReplay, trace: (m) => m ? drawTrace(m) : void $('view-trace').replaceChildren(el('p', { class: 'card' }, 'There is no trace: MCP_PRUNER_TRACE names one, and hooks keep their own.')) };

async function start() {
  const began = performance.now(), embedded = $('data'), root = document.documentElement;
  const get = async (path) => {
    const answer = await fetch(path, { credentials: 'same-origin' });
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.json();
  };
  const model = embedded ? JSON.parse(embedded.textContent) : await get('/model');
  const ask = model.live ? (path) => get('/' + path).catch(failed) : async (path) => {
    const at = path.indexOf('/'), rest = path.slice(at + 1);
    if (path.startsWith('window/')) return (model.windows || {})[rest];
    if (path.startsWith('cut/')) return (model.cuts || {})[rest];
    const cut = Object.entries(model.cuts || {}).find(([key]) => key.endsWith('/' + rest)); // an original
    return cut && { text: cut[1].lines.map((l) => l.t).join('\n') };
  };
  function failed(e) {
    $('state').textContent = String(e.message || e);
    $('state').className = 'bad';
    return null;
  }

  addEventListener('unhandledrejection', (e) => failed(e.reason));

  $('title').textContent = model.title;
  $('about').textContent = model.about || '';
  const there = Object.keys(titles).filter((name) => model.live || model[name]), drawn = new Set();
  async function open(name, focus) {
    for (const tab of there) {
      const on = tab === name, b = $('tab-' + tab);
      b.setAttribute('aria-selected', on);
      b.tabIndex = on ? 0 : -1;
      $('view-' + tab).hidden = !on;
      if (on && focus) b.focus();
    }
    if (name === 'sessions') return void sessions.set(model.sessions || []);
    if (drawn.has(name)) return;
    drawn.add(name);
    if (model.live && name === 'replay') $('replay').textContent = 'Replaying your latest sessions; this can take a minute.';
    await draws[name](model.live ? await get('/' + name) : model[name]);
  }
  const show = (name, focus) => open(name, focus).then(() => { root.dataset.tab = name; }, failed);
  $('views').replaceChildren(...there.map((name) => {
    const b = el('button', { type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': 'view-' + name }, titles[name]);
    b.addEventListener('click', () => show(name));
    return b;
  }));
  $('views').addEventListener('keydown', (e) => {
    const now = there.findIndex((name) => $('tab-' + name).tabIndex === 0), to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: there.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    show(there[(to + there.length) % there.length], true);
  });
  $('views').hidden = there.length < 2;
  const sessions = there.includes('sessions') ? sessionsTab(ask) : null;
  await open(there[0]);
  root.dataset.tab = there[0];
  if (model.live) follow(get, model, sessions, failed);
  root.dataset.ready = Math.round(performance.now() - began);
}

// follow takes the sessions anew whenever the server says that they have changed.
function follow(get, model, sessions, failed) {
  const source = new EventSource('/live');
  let asking = false, again = false;
  async function update() {
    if (asking) return void (again = true);
    asking = true;
    try {
      model.sessions = (await get('/model')).sessions;
      await sessions.set(model.sessions);
      document.documentElement.dataset.updates = 1 + Number(document.documentElement.dataset.updates || 0);
    } catch (e) {
      failed(e);
    }
    asking = false;
    if (again) { again = false; update(); }
  }
  source.onmessage = update;
  source.onopen = () => { $('state').textContent = 'Live: follows your sessions.'; $('state').className = 'sub'; };
  source.onerror = () => { $('state').textContent = 'The program does not answer: the page shows what was last known.'; $('state').className = 'bad'; };
}

start().catch((e) => {
  document.documentElement.dataset.error = String(e);
  $('state').textContent = String(e.message || e);
});
