// --- cuts, clearings, re-reads -------------------------------------------

const kinds = { cut: 'cut', cleared: 'cleared', again: 'fetched again', compacted: 'compacted' };

function eventsOf(ask, session) {
  let w = null, only = 'all', chosen = null;
  const name = (e) => [e.tool, e.about].filter(Boolean).join(' ');
  const says = {
    cut: (e) => `${count(e.tokens)} tokens cut to ${count(e.sent)}; saved ${net(e.gross)}` + (e.again ? `, fetched again ${many(e.again, 'time')} for ${net(-e.cost)}` : ''),
    cleared: (e) => `${count(e.tokens)} tokens cleared; ` + (e.pays ? `pays after ${many(e.pays, 'call')}, ${count(e.since)} so far` : 'cost nothing'),
    again: (e) => `${count(e.tokens)} tokens fetched again, which cost ${short(Math.round(e.cost))}`,
    compacted: (e) => e.why,
  };
  const list = virtual('events', 44, (e) => [
    el('span', { class: 'top' }, el('b', {}, el('i', { class: 'dot ' + e.kind }), name(e) || kinds[e.kind]), el('span', {}, `${kinds[e.kind]}, call ${count(e.call + 1)}`)),
    el('span', { class: 'low' }, el('span', {}, says[e.kind](e))),
  ], open);

  function refresh(keep) {
    const some = w.events.filter((e) => only === 'all' || e.kind === only);
    list.set(some, keep && chosen ? (e) => e.kind === chosen.kind && e.id === chosen.id && e.call === chosen.call && e.about === chosen.about : undefined);
    const there = ['all', ...Object.keys(kinds).filter((k) => w.events.some((e) => e.kind === k))];
    tabs('events-kinds', there.map((k) => k === 'all' ? 'all' : kinds[k]), () => only === 'all' ? 'all' : kinds[only], (shown) => {
      only = there.find((k) => (kinds[k] || k) === shown);
      refresh(false);
    });
    if (!some.length) $('event').replaceChildren(el('p', { class: 'sub' }, 'Nothing so far.'));
  }

  async function open(e) {
    chosen = e;
    const facts = [says[e.kind](e) + '.', e.why && e.kind !== 'compacted' ? `Reason: ${e.why}.` : '', `Before call ${count(e.call + 1)}.`].filter(Boolean).join(' ');
    const body = [el('h3', {}, name(e) || kinds[e.kind]), el('p', { class: 'sub' }, facts)];
    if (e.kind === 'cleared' && e.pays) body.push(meter(e.since, e.pays));
    if (e.back) body.push(restore(e, ask));
    $('event').replaceChildren(...body);
    if (e.kind !== 'cut' && e.kind !== 'again') return;
    const cut = await ask(`cut/${session()}/${e.id}`);
    if (chosen !== e) return;
    if (cut) sideBySide(cut);
    else $('event').append(el('p', { class: 'sub' }, 'This copy holds no texts.'));
  }
  return {
    set(window, fresh) {
      w = window;
      if (fresh) { only = 'all'; chosen = null; $('event').replaceChildren(); }
      refresh(!fresh);
    },
  };
}

// meter shows how much of a clearing's cost has come back.
function meter(since, pays) {
  const share = Math.min(1, since / pays);
  return el('p', { class: 'meter', role: 'img', 'aria-label': `${Math.round(100 * share)} percent of its cost has come back` },
    el('span', { class: 'bar' }, el('i', { style: `width:${100 * share}%` })), el('span', {}, share < 1 ? `${Math.round(100 * share)} % paid` : 'has paid'));
}

// restore offers the command and the text, to be pasted where the user wants them. The page itself brings nothing back.
function restore(e, ask) {
  const told = el('span', { class: 'sub', role: 'status' }), command = el('button', { type: 'button' }, 'Copy the command'), text = el('button', { type: 'button' }, 'Copy the text');
  async function copy(value, what) {
    try {
      await navigator.clipboard.writeText(value);
      told.textContent = `${what} is in the clipboard.`;
    } catch {
      told.textContent = `The browser forbids the clipboard. ${what.length < 20 ? value.slice(0, 200) : ''}`;
    }
  }
  command.addEventListener('click', () => copy(e.back, 'The command'));
  text.addEventListener('click', async () => {
    const original = await ask('original/' + e.id);
    if (original) await copy(original.text, 'The text');
    else told.textContent = 'The text is not here.';
  });
  return el('p', { class: 'restore' }, el('code', {}, e.back), command, text, told);
}

// sideBySide shows the lines as they came, those that the agent got beside them, and why.
function sideBySide(cut) {
  const kept = cut.lines.filter((l) => l.k).length, line = el('p', { class: 'full', 'aria-live': 'polite' });
  $('event').append(
    el('p', { class: 'sub' }, [cut.question && `Question: ${cut.question.replace(/[^.?!]$/, '$&.')}`, `${count(kept)} of ${many(cut.lines.length, 'line')} kept.`, cut.left ? `${count(cut.left)} more are not shown.` : '', cut.why].filter(Boolean).join(' ')),
    el('div', { class: 'sides', 'aria-hidden': 'true' }, el('span', {}), el('span', {}, 'as it came'), el('span', {}, 'what the agent got'), el('span', {}, 'why')),
    el('div', { id: 'lines', class: 'list lines', tabindex: 0, role: 'listbox', 'aria-label': 'Lines of the result' }), line);
  const list = virtual('lines', 20, (l) => [
    el('span', { class: 'n' }, String(cut.first + l.i)), el('span', { class: l.k ? 'was' : 'was gone' }, l.t), el('span', { class: l.k ? 'got' : 'got gone', 'aria-hidden': true }, l.k ? l.t : ''), el('span', { class: 'why' }, l.w || (l.k ? 'kept' : 'dropped')),
  ], (l) => {
    line.textContent = `${cut.first + l.i} ${l.k ? 'kept' : 'dropped'}${l.w ? ` (${l.w}${l.s ? `, ${l.s.toFixed(2)}` : ''})` : ''}: ${l.t}`;
  }, (l) => l.k ? 'kept' : 'dropped');
  list.set(cut.lines.map((l, i) => ({ ...l, i })));
}
