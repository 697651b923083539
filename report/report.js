// Draws the report from the data in the page. The paper's numbers are those stated in its text.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const main = d3.select('#main');
const tip = d3.select('#tip');
const shares = ['one', 'quarter', 'half', 'all-but-one', 'all'];
const shareNames = {one: '1', quarter: 'N/4', half: 'N/2', 'all-but-one': 'N−1', all: 'N'};
const classes = ['light', 'medium', 'heavy'];
const goals = {light: 70e6, medium: 40e6, heavy: 40e6};
const barriers = ['plain', 'query', 'one-pass'];
const barrierNames = {plain: 'plain (paper)', query: 'query (paper)', 'one-pass': 'one-pass (ours)'};
const paper = {
  period: {heavy: {one: 939e6, quarter: 104e6, half: 40e6}},
  slowdown: {light: {quarter: 1.04}, medium: {quarter: 1.08}, heavy: {half: 1.47}},
  model: {light: 1.04, medium: 1.08, heavy: 1.33},
  cooperative: {light: '1.04× (N/4)', medium: '1.08× (N/4)', heavy: '1.47× (N/2)'},
  sizing: {light: [3, 70], medium: [3, 40], heavy: [10, 40]},
  overhead: {overall: [1.07, 1.23, 'octree'], barrier: [1.06, 1.20, 'color, G3_circuit'],
    stealing: [1.12, 1.23, 'octree']},
};

const withUnit = (value, unit) => d3.format(value >= 99.5 ? '.0f' : '.3~g')(value) + '\u00a0' + unit;
const ms = ns => ns == null ? '–' : ns >= 99.5e8 ? withUnit(ns / 1e9, 's') : ns >= 1e6 ? withUnit(ns / 1e6, 'ms') : withUnit(ns / 1e3, 'µs');
const times = x => x == null ? '–' : d3.format('.2f')(x) + '×';
const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

// Shows a box with a bold title, the rest of its line, and further lines.
function showTip(event, title, rest = '', lines = []) {
  tip.attr('hidden', null).text('').append('b').text(title);
  tip.append('span').text(rest);
  for (const line of lines) tip.append('div').text(line);
  const box = tip.node().getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const y = event.clientY + box.height + 22 > innerHeight ? event.clientY - box.height - 12 : event.clientY + 16;
  tip.style('left', Math.max(8, x) + 'px').style('top', Math.max(8, y) + 'px');
}
const hideTip = () => tip.attr('hidden', '');

// Warns if the record was measured on a busy machine.
function warn(to, record) {
  if (record.warning) to.append('p').attr('class', 'note strong').text(record.warning);
}

const busy = '⚠';  // marks figures that were measured on a busy machine

// The sections of a page, for its contents: each has a title and a description.
let contents = [], usual = '';  // and the page's processor

function section(title, words, id, record, headline) {
  const [figure, meaning] = headline || [];
  record = record || {};
  contents.push({title, id, record, figure, meaning: figure == null ? '' : meaning});
  const s = main.append('section').attr('id', id);
  s.append('h2').text(title);
  warn(s, record);
  const cpu = record.machine && record.machine.cpu;
  if (cpu && cpu !== usual) s.append('p').attr('class', 'note').text(`Measured on another machine: ${cpu}.`);
  if (words) s.append('p').text(words);
  return s;
}

function legend(to, entries) {
  const l = to.append('div').attr('class', 'legend');
  for (const [name, style, line] of entries) {
    const s = l.append('span');
    const mark = s.append('i').classed('line', !!line).style('background', `var(--${style})`);
    if (line) mark.style('border-top-color', `var(--${style})`).style('border-top-style', line);
    s.append('span').text(name);
  }
}

function choice(to, label, options, names, chosen, change) {
  const c = to.append('div').attr('class', 'controls');
  c.append('span').text(label);
  const buttons = c.selectAll('button').data(options).join('button').attr('type', 'button')
    .text(d => names[d] || d).attr('aria-pressed', d => d === chosen)
    .on('click', d => { buttons.attr('aria-pressed', e => e === d); change(d); });
  return c;
}

function table(to, head, rows, paperColumns = []) {
  const frame = to.append('div').attr('class', 'scroll');
  const fill = (names, lines, isPapers) => {
    const t = frame.text('').append('table');
    t.append('thead').append('tr').selectAll('th').data(names).join('th').text(d => d).classed('paper', (d, i) => isPapers(-1, i));
    t.append('tbody').selectAll('tr').data(lines).join('tr').each(function (line, row) {
      d3.select(this).selectAll('td').data(line).join('td').text(d => d).classed('paper', (d, i) => isPapers(row, i));
    });
  };
  fill(head, rows, (row, column) => paperColumns.includes(column));
  // On a phone, a table with few but long rows is turned by 90 degrees.
  const {scrollWidth, clientWidth} = frame.node();
  if (scrollWidth > clientWidth + 1 && rows.length <= 4) {
    const turn = i => [head[i], ...rows.map(line => line[i] == null ? '' : line[i])];
    fill(turn(0), head.slice(1).map((_, i) => turn(i + 1)), row => paperColumns.includes(row + 1));
  }
}

function caption(figure, title, sub) {
  const c = figure.append('figcaption').text(title + ' ');
  if (sub) c.append('small').text(sub);
}

// ---- lines by share of the groups, on one scale

function chart(to, {title, sub, width = 420, height = 260, series, xs, y, format, goals: goalLines = [], points = []}) {
  const f = to.append('figure');
  width = Math.min(width, f.node().clientWidth || width);  // on a phone, letters keep their size
  caption(f, title, sub);
  const margin = {top: 8, right: 64, bottom: 40, left: 50};
  const svg = f.append('svg').attr('viewBox', `0 0 ${width} ${height}`).attr('role', 'img').attr('aria-label', title);
  const x = d3.scalePoint().domain(xs).range([margin.left + 14, width - margin.right - 6]);
  y.range([height - margin.bottom, margin.top]);
  const ticks = y.base ? y.ticks().filter(t => /^1e/.test(t.toExponential())) : y.ticks(5);
  svg.append('g').attr('class', 'grid').selectAll('line').data(ticks).join('line')
    .attr('x1', margin.left).attr('x2', width - margin.right).attr('y1', d => y(d)).attr('y2', d => y(d));
  svg.append('g').selectAll('text').data(ticks).join('text').attr('x', margin.left - 7).attr('y', d => y(d) + 4)
    .attr('text-anchor', 'end').text(format);
  svg.append('g').selectAll('text').data(xs).join('text').attr('x', d => x(d)).attr('y', height - 21)
    .attr('text-anchor', 'middle').attr('class', 'name').text(d => shareNames[d]);
  svg.append('text').attr('x', (margin.left + width - margin.right) / 2).attr('y', height - 5)
    .attr('text-anchor', 'middle').text('groups that a task takes');
  for (const goal of goalLines) {
    svg.append('line').attr('class', 'goal').attr('x1', margin.left).attr('x2', width - margin.right)
      .attr('y1', y(goal.value)).attr('y2', y(goal.value));
    svg.append('text').attr('x', margin.left - 7).attr('y', y(goal.value) + 4).attr('text-anchor', 'end')
      .attr('class', 'name').text(goal.name);
  }
  const line = d3.line().defined(d => d.value != null).x(d => x(d.share)).y(d => y(d.value));
  const labels = [];
  for (const s of series) {
    const values = xs.map(share => ({share, value: s.values[share], name: s.name}));
    const good = values.filter(d => d.value != null);
    if (good.length === 0) continue;
    svg.append('path').attr('d', line(values)).attr('fill', 'none').attr('stroke', `var(--${s.style})`)
      .attr('stroke-width', 2).attr('stroke-dasharray', s.dash || null);
    svg.append('g').selectAll('circle').data(good).join('circle').attr('class', 'point').attr('cx', d => x(d.share))
      .attr('cy', d => y(d.value)).attr('r', 4).attr('fill', `var(--${s.style})`).attr('stroke', 'var(--surface)')
      .attr('stroke-width', 1.5)
      .on('mousemove', d => showTip(d3.event, s.name, `, ${shareNames[d.share]} groups`,
        [s.tip ? s.tip(d) : format(d.value)])).on('mouseleave', hideTip);
    const last = good[good.length - 1];
    if (s.label !== false) labels.push({name: s.name, at: y(last.value), x: x(last.share), style: s.style});
  }
  labels.sort((a, b) => a.at - b.at);
  labels.forEach((l, i) => { if (i > 0) l.at = Math.max(l.at, labels[i - 1].at + 12); });
  svg.append('g').selectAll('text').data(labels).join('text').attr('x', width - margin.right + 4).attr('y', d => d.at + 4)
    .attr('class', 'name').text(d => d.name);
  svg.append('g').selectAll('path').data(points).join('path').attr('class', 'point paper')
    .attr('transform', d => `translate(${x(d.share)},${y(d.value)})`)
    .attr('d', d3.symbol().type(d3.symbolDiamond).size(70)).attr('fill', 'var(--surface)')
    .attr('stroke', d => `var(--${d.class})`).attr('stroke-width', 2)
    .on('mousemove', d => showTip(d3.event, `the paper, ${d.class}`, `, ${shareNames[d.share]} groups`,
      [format(d.value)])).on('mouseleave', hideTip);
  return f;
}

// ---- a figure for each row and column, by shades of one colour

// Breaks a text between words into lines. A line has at most `letters` letters unless a single word
// is longer.
function inLines(text, letters) {
  return text.split(' ').reduce((lines, word) => {
    const last = lines[lines.length - 1];
    return last && last.length + 1 + word.length <= letters ? [...lines.slice(0, -1), last + ' ' + word] : [...lines, word];
  }, []);
}

// `columns`: [{name, group}]; `cell(row, column)`: {value, text, late, tip} or nothing; `scale`: value to 0..1.
function heatMap(to, {title, rows, columns, cell, scale}) {
  const f = to.append('figure').attr('class', 'heat');
  const width = f.node().clientWidth || 700, small = width < 500;
  const longest = 10 + 6.4 * d3.max(rows, r => r.length);
  const above = small && longest > 130;  // on a phone, long names stand above their cells
  const left = above ? 0 : Math.min(Math.max(290, 0.42 * width), longest), step = (width - left) / columns.length;
  const label = above ? 15 : 0, row = 26 + label, grouped = columns.some(c => c.group);
  const names = columns.map(c => inLines(c.name, (step - 4) / 6.2));
  const top = (grouped ? 24 : 8) + 14 * d3.max(names, n => n.length);
  const svg = f.append('svg').attr('viewBox', `0 0 ${width} ${top + rows.length * row}`).attr('role', 'img').attr('aria-label', title);
  const centre = i => left + (i + 0.5) * step;
  if (grouped) {
    const groups = d3.nest().key(i => columns[i].group).entries(d3.range(columns.length));
    svg.append('g').selectAll('text').data(groups).join('text').attr('x', g => d3.mean(g.values, centre)).attr('y', 12)
      .attr('text-anchor', 'middle').attr('class', 'name').text(g => g.key);
  }
  const heads = svg.append('g').selectAll('text').data(names).join('text').attr('text-anchor', 'middle');
  heads.selectAll('tspan').data((name, i) => name.map((text, n) => ({text, x: centre(i), y: top - 8 - 14 * (name.length - 1 - n)})))
    .join('tspan').attr('x', d => d.x).attr('y', d => d.y).text(d => d.text);
  const lines = svg.selectAll('g.row').data(rows).join('g').attr('class', 'row').attr('transform', (r, i) => `translate(0,${top + i * row})`);
  const letters = (left || width) / 6.4;
  lines.append('text').attr('class', 'name').attr('x', above ? 0 : left - 8).attr('y', above ? 11 : row / 2 + 4)
    .attr('text-anchor', above ? 'start' : 'end').text(r => r.length > letters ? r.slice(0, letters - 1) + '…' : r).append('title').text(r => r);
  const cells = lines.selectAll('g').data(r => columns.map((c, i) => ({i, ...cell(r, c)}))).join('g')
    .attr('transform', d => `translate(${left + d.i * step},${label})`);
  const gap = small ? 1 : 2;
  cells.append('rect').attr('x', gap / 2).attr('y', gap / 2).attr('width', step - gap).attr('height', row - label - gap).attr('rx', 3)
    .attr('class', d => d.value == null ? 'none' : d.late ? 'late' : 'value')
    .attr('fill-opacity', d => d.value == null ? 1 : 0.08 + 0.92 * Math.max(0, Math.min(1, scale(d.value))));
  cells.append('text').attr('x', step / 2).attr('y', (row - label) / 2 + 4).attr('text-anchor', 'middle')
    .attr('class', d => d.value != null && scale(d.value) > 0.5 ? 'on-dark' : 'name').style('font-size', step < 34 ? '9.5px' : null)
    .text(d => d.value == null ? '–' : d.text);
  cells.filter(d => d.value != null).classed('point', true)
    .on('mousemove', d => showTip(d3.event, d.tip[0], '', d.tip.slice(1))).on('mouseleave', hideTip);
}

const spread = (values, least) => {
  const all = values.filter(v => v != null && v > 0);
  return [Math.min(least[0], d3.min(all) * 0.8), Math.max(least[1], d3.max(all) * 1.2)];
};

// ---- figure 1: groups on units, over time

function timeline(to, t) {
  const kinds = {job: 0, task: 1, barrier: 2};
  const lanes = t.lanes.length;
  const laneHeight = Math.max(2, Math.min(30, 280 / lanes));
  const sizeHeight = 54, axisHeight = 22, left = 52;
  const height = lanes * laneHeight + sizeHeight + axisHeight + 14;
  const byLane = t.lanes.map((_, i) => t.slices.filter(s => s[0] === i && s[3] !== kinds.barrier));
  const waits = t.lanes.map((_, i) => t.slices.filter(s => s[0] === i && s[3] === kinds.barrier));
  const c = to.append('div').attr('class', 'controls');
  const play = c.append('button').attr('id', 'play').attr('type', 'button').text('▶ Play');
  const zoomIn = c.append('button').attr('id', 'zoom-in').attr('type', 'button').attr('aria-label', 'zoom in').text('+');
  const zoomOut = c.append('button').attr('id', 'zoom-out').attr('type', 'button').attr('aria-label', 'zoom out').text('−');
  const reset = c.append('button').attr('id', 'zoom-all').attr('type', 'button').text('All');
  const readout = c.append('span').attr('class', 'readout').attr('id', 'readout');
  legend(to, [[t.names[t.job] || 'job', 'job'], ...(t.task >= 0 ? [[t.names[t.task], 'task']] : []),
    ...(waits.some(w => w.length) ? [['waits in a barrier', 'wait']] : []), ['idle', 'idle']]);
  const frame = to.append('div').attr('class', 'timeline');
  const canvas = frame.append('canvas').attr('tabindex', 0).attr('role', 'img')
    .attr('aria-label', `Which ${t.unit} ran which group of the job or task, over time`);
  const g = canvas.node().getContext('2d');
  const x0 = d3.scaleLinear().domain([0, t.end]);
  let x = x0, width = 0, cursor = null, timer = null;
  const size = d3.scaleLinear().domain([0, lanes]);
  const bisect = d3.bisector(d => d[0]);
  const sizeAt = time => { const i = bisect.right(t.sizes, time); return i === 0 ? 0 : t.sizes[i - 1][1]; };

  function draw() {
    const ratio = devicePixelRatio || 1;
    canvas.attr('width', width * ratio).attr('height', height * ratio).style('height', height + 'px');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = '12px system-ui, sans-serif';
    g.textBaseline = 'middle';
    g.save();
    g.beginPath(); g.rect(left, 0, width - left, height); g.clip();
    const fills = [colour('job'), colour('task'), colour('wait')];
    const [from, until] = x.domain();
    for (let lane = 0; lane < lanes; ++lane) {
      const gap = laneHeight > 8 ? 1 : 0, y = lane * laneHeight + gap, h = laneHeight - 2 * gap;
      g.fillStyle = colour('idle');
      g.fillRect(left, y, width - left, h);
      for (const s of [...byLane[lane], ...waits[lane]]) {
        if (s[1] > until || s[1] + s[2] < from) continue;
        const a = Math.max(left, x(s[1])), b = Math.min(width, x(s[1] + s[2]));
        g.fillStyle = fills[s[3]];
        g.fillRect(a, y, Math.max(0.6, b - a), h);
      }
    }
    // M over time
    const top = lanes * laneHeight + 12;
    size.range([top + sizeHeight - 6, top]);
    g.fillStyle = g.strokeStyle = colour('job');
    g.beginPath();
    g.moveTo(left, size(0));
    let last = sizeAt(from);
    g.lineTo(left, size(last));
    for (const [time, m] of t.sizes) {
      if (time < from) continue;
      if (time > until) break;
      g.lineTo(x(time), size(last)); g.lineTo(x(time), size(m)); last = m;
    }
    g.lineTo(width, size(last)); g.lineTo(width, size(0)); g.closePath();
    g.globalAlpha = 0.18; g.fill(); g.globalAlpha = 1; g.stroke();
    for (const [begin, end, , track] of t.gathers) {
      if (begin > until || end < from) continue;
      g.fillStyle = colour('ink');
      g.fillRect(x(begin), top - 8, Math.max(1, x(end) - x(begin)), 3);
    }
    if (cursor !== null) {
      g.fillStyle = colour('ink');
      g.fillRect(x(cursor) - 0.75, 0, 1.5, height - axisHeight);
    }
    g.restore();
    g.fillStyle = colour('faint');
    g.textAlign = 'right';
    const every = [1, 2, 5, 10, 20, 50].find(n => n * laneHeight >= 14) || 100;
    for (let lane = 0; lane < lanes; lane += every) {
      g.fillText(t.lanes[lane], left - 6, Math.max(7, (lane + 0.5) * laneHeight));
    }
    g.fillText('groups', left - 6, top + 8);
    g.fillText('M', left - 6, top + 24);
    g.textAlign = 'center';
    for (const tick of x.ticks(Math.max(2, width / 110))) {
      const at = x(tick);
      if (at < left + 12 || at > width - 20) continue;
      g.fillText(d3.format('~r')(+(tick / 1000).toFixed(4)) + ' ms', at, height - axisHeight / 2);
    }
    frame.attr('data-from', from).attr('data-until', until).attr('data-cursor', cursor === null ? '' : cursor);
    readout.text(cursor === null
      ? `${d3.format('.3~g')((until - from) / 1000)} ms shown; drag to move, pinch or ctrl-wheel to zoom`
      : `${d3.format('.1f')(cursor / 1000)} ms: the kernel has ${sizeAt(cursor)} of ${lanes} groups`);
  }
  const zoom = d3.zoom().scaleExtent([1, 4000])
    .filter(() => d3.event.type !== 'wheel' || d3.event.ctrlKey || d3.event.shiftKey || d3.event.metaKey)
    .on('zoom', () => { x = d3.event.transform.rescaleX(x0); draw(); });
  function resize() {
    width = frame.node().getBoundingClientRect().width;
    x0.range([left, width]);
    zoom.extent([[left, 0], [width, height]]).translateExtent([[left, 0], [width, height]]);
    x = d3.zoomTransform(canvas.node()).rescaleX(x0);
    draw();
  }
  canvas.call(zoom);
  zoomIn.on('click', () => zoom.scaleBy(canvas, 2));
  zoomOut.on('click', () => zoom.scaleBy(canvas, 0.5));
  reset.on('click', () => canvas.call(zoom.transform, d3.zoomIdentity));
  canvas.on('mousemove', () => {
    const [px, py] = d3.mouse(canvas.node());
    const lane = Math.floor(py / laneHeight), time = x.invert(px);
    if (px < left || lane < 0) return hideTip();
    if (lane >= lanes) {
      return showTip(d3.event, `${sizeAt(time)} of ${lanes} groups`, '', [`at ${ms(time * 1000)}`]);
    }
    const hit = [...waits[lane], ...byLane[lane]].find(s => s[1] <= time && time <= s[1] + s[2]);
    if (!hit) return showTip(d3.event, '', `${t.unit} ${t.lanes[lane]}: idle`);
    showTip(d3.event, t.names[hit[4]], hit[5] >= 0 ? ', group ' + hit[5] : '',
      [`${t.unit} ${t.lanes[lane]}, ${ms(hit[2] * 1000)} from ${ms(hit[1] * 1000)}`]);
  }).on('mouseleave', hideTip);

  function stop() { if (timer) timer.stop(); timer = null; play.text('▶ Play').attr('aria-pressed', false); }
  play.on('click', () => {
    if (timer) { stop(); return; }
    // At first the window shows one task and its surroundings; time runs about 40 times slower than
    // in reality.
    const span = Math.min(t.end, 60e3);
    const scale = t.end / span;
    const begin = cursor === null || cursor >= t.end ? 0 : cursor;
    play.text('❚❚ Pause').attr('aria-pressed', true);
    timer = d3.timer(elapsed => {
      cursor = Math.min(t.end, begin + elapsed * 25);
      const from = Math.max(0, Math.min(t.end - span, cursor - span * 0.6));
      canvas.call(zoom.transform, d3.zoomIdentity.scale(scale)
        .translate(-(x0(from) - left) - left * (1 - 1 / scale), 0));
      if (cursor >= t.end) stop();
    });
  });
  addEventListener('resize', resize);
  matchMedia('(prefers-color-scheme: dark)').addListener(draw);
  resize();
}

// ---- the sections

function show(set) {
  main.text('');
  contents = [];
  const m = set.multitask;
  const head = (m && m.header) || set.demo || set.sizing || set.barrier || set.gather || set.overhead || {};
  const machine = head.machine || {};
  usual = machine.cpu;
  d3.select('#machine').text([set.name, head.device && head.device.name, machine.cpu, machine.usable_cpus && machine.usable_cpus + ' CPUs',
    machine.os, machine.compiler].filter(Boolean).join(' · '));
  const notes = d3.select('#notes').text('');
  const note = (text, strong) => notes.append('p').attr('class', 'note').classed('strong', !!strong).text(text);
  if (head.quick) note('A quick run with small inputs and few samples, which only shows that everything works. Do not quote these figures.', true);
  if (m) {
    if (m.header.on_cpus !== false && m.header.groups > machine.usable_cpus) {
      note(`${m.header.groups} groups on ${machine.usable_cpus} CPUs: groups are threads here, which take ` +
        'turns on the CPUs. So a task on few groups gets more of the machine than its share of the groups.');
    }
    for (const text of m.header.missing) note(text);
    if (m.lacking.length) note('Not built with the paper’s barriers: ' +
      [...new Set(m.lacking.map(l => l.split(' | ')[0]))].join(', ') + '.');
    if (m.wrong_results > 0) note(m.wrong_results + ' results were WRONG.', true);
  }
  const overview = main.append('nav').attr('class', 'tiles').attr('id', 'overview').attr('aria-label', 'Contents');
  if (set.demo) demo(set.demo);
  if (set.timeline) {
    const t = set.timeline, tasks = t.gathers.length;
    const s = section('A kernel makes room', `One lane per ${t.unit}, as in the paper’s figure 1. When a task asks for ` +
      'groups, the kernel’s groups with the highest ids leave at their next resizing point. When the task is done, groups join ' +
      'again. Dashes above M show the gather times.', 'timeline', m || set.demo, [`${t.lanes.length} lanes`,
      `a timeline of ${ms(t.end * 1e3)}, with ${tasks} task${tasks === 1 ? '' : 's'}`]);
    timeline(s, t);
  }
  if (m && m.performance.length) { performance(m); responsiveness(m); preemption(m); outlier(m); }
  if (set.fixed_duration && set.fixed_duration.performance.length) {
    const s = section('Another load: tasks of fixed duration', 'Here a task takes E on its share, so a task on a ' +
      'larger share does more work. This is not the paper’s load: do not compare these figures with those above.', 'fixed-duration',
      set.fixed_duration);
    performanceCharts(s, set.fixed_duration, false);
  }
  if (set.background) background(set.background);
  if (set.sharing) sharing(set.sharing);
  if (set.lease) lease(set.lease);
  if (set.gather && set.gather.gather.some(g => g.sms)) deviceGather(set.gather);
  if (set.overhead) overhead(set.overhead);
  for (const name of ['cpu', 'barrier', 'gather', 'queue']) if (set[name]) measurements(name, set[name]);
  if (set.sizing) sizing(set.sizing);
  if (set.fairness) fairness(set.fairness);
  if (!contents.length) main.append('p').text('There are no results here yet.');
  const tiles = overview.selectAll('a').data(contents).join('a').attr('class', 'tile')
    .attr('href', c => '#' + placeOf(set, c.id));
  tiles.append('span').attr('class', 'title').text(c => c.title);
  tiles.append('b').text(c => c.figure);
  tiles.append('span').text(c => c.meaning);
  tiles.append('small').text(c => aboutRecord(c.record));
  tiles.filter(c => c.record.warning).append('span').attr('class', 'note strong').text(c => `${busy} ${c.record.warning.split(':')[0]}`);
}

// The address of a machine's page, and of a section in it.
const placeOf = (set, id) => encodeURIComponent(set.name) + '/' + id;

function aboutRecord(record) {
  const head = record.header || record;
  return [head.time && head.time.slice(0, 10), head.commit && head.commit.slice(0, 8)].filter(Boolean).join(' · ');
}

function demo(d) {
  const f = d.frames;
  const s = section('The demo', 'Traversals of a graph on all workers, while a renderer takes some of them for each frame.', 'demo', d,
    [`${f.count - f.late} of ${f.count}`, 'frames on time']);
  const t = s.append('div').attr('class', 'tiles');
  const tile = (value, words) => {
    const its = t.append('div').attr('class', 'tile');
    its.append('b').text(value);
    its.append('span').text(words);
  };
  tile(`${f.count - f.late} of ${f.count}`, `frames on time, one every ${f.period_ns / 1e6} ms, on ${f.workers} of ` +
    `${d.workers} workers`);
  tile(times(d.slowdown), `slowdown of the traversals; ideal ${times(d.ideal_slowdown)}: frames used ` +
    `${d3.format('.1%')(f.share)} of the machine`);
  tile(ms(f.gather.p50), `to gather the workers (median; p99 ${ms(f.gather.p99)})`);
  tile(d.verified ? 'correct' : 'WRONG', `${d.alone.traversals + d.with_frames.traversals} traversals and ${f.count} ` +
    'frames, checked');
}

function performanceCharts(s, m, withPaper) {
  const kinds = barriers.filter(b => m.performance.some(p => p.barrier === b));
  const panels = () => s.append('div').attr('class', 'panels');
  let drawn;
  const draw = barrier => {
    if (drawn) drawn.remove();
    drawn = panels();
    const of = field => classes.map(load => ({name: load, style: load,
      values: Object.fromEntries(m.performance.filter(p => p.class === load && p.barrier === barrier)
        .map(p => [p.share, p[field]])),
      tip: field === 'slowdown' ? d => {
        const p = m.performance.find(q => q.class === load && q.barrier === barrier && q.share === d.share);
        return `${times(p.slowdown)}, median of ${p.pairs} pairs; worst ${times(p.worst_slowdown)}, ${p.worst_pair}`;
      } : undefined}));
    const xs = shares.filter(share => m.performance.some(p => p.share === share && p.barrier === barrier));
    const known = field => withPaper ? classes.flatMap(load => Object.entries(paper[field][load] || {})
      .filter(([share]) => xs.includes(share)).map(([share, value]) => ({class: load, share, value}))) : [];
    const slow = of('slowdown'), period = of('period_ns');
    const values = list => list.flatMap(l => Object.values(l.values));
    chart(drawn, {title: 'Slowdown of the app', sub: 'median over the pairs', xs, series: slow,
      y: d3.scaleLinear().domain([Math.min(1, d3.min(values(slow)) || 1),
        d3.max([1.5, ...values(slow), ...known('slowdown').map(d => d.value)]) * 1.05]),
      format: d => d3.format('.2~f')(d) + '×', points: known('slowdown')});
    chart(drawn, {title: 'Period of the tasks', sub: 'median, log axis; grey: 70 ms is wanted for light, 40 for the others', xs, series: period,
      y: d3.scaleLog().domain(spread([...values(period), ...known('period').map(d => d.value)], [25e6, 200e6])),
      format: ms, goals: [{value: 70e6, name: '70 ms'}, {value: 40e6, name: '40 ms'}],
      points: known('period')});
  };
  if (kinds.length > 1) choice(s, 'Resizing barrier', kinds, barrierNames, kinds[kinds.length - 1], draw);
  if (withPaper) legend(s, [['light', 'light'], ['medium', 'medium'], ['heavy', 'heavy'], ['◇ stated in the paper', 'surface']]);
  draw(kinds[kinds.length - 1]);
}

const shareOf = (m, load, share) =>
  m.performance.find(p => p.class === load && p.share === share && p.barrier === 'one-pass') || {};

function performance(m) {
  const tasks = d3.sum(m.configurations, c => c.tasks), wrong = d3.sum(m.configurations, c => c.wrong);
  const s = section('What tasks cost the app, and how often they come', 'By the number of groups that each task takes (the ' +
    'paper’s figure 6). A task is a matrix product that takes 3 ms (light, medium) or 10 ms (heavy) on all groups. ' +
    'A task is due every 70 ms (light) or 40 ms (medium, heavy), and a late task delays the next one. ' +
    (m.performance.some(p => p.share === 'all') ? 'A task on all N groups suspends the app. ' : '') +
    `${d3.format(',')(tasks)} tasks ran, ` + (wrong ? `and ${wrong} results were WRONG.` : 'and every result was correct.'),
  'performance', m, [times(shareOf(m, 'heavy', 'half').slowdown), 'median slowdown of the apps next to heavy tasks on half of the groups']);
  performanceCharts(s, m, true);
  const d = s.append('details');
  d.append('summary').text('The numbers');
  table(d, ['class', 'barrier', 'groups', 'slowdown', 'worst', 'worst pair', 'period', 'gather'],
    m.performance.map(p => [p.class, p.barrier, shareNames[p.share], times(p.slowdown), times(p.worst_slowdown),
      p.worst_pair, ms(p.period_ns), ms(p.gather_ns)]));
}

function responsiveness(m) {
  const s = section('How fast groups are gathered', 'Median times to gather the groups, by kind of resizing ' +
    'barrier, and to execute the task on them (the paper’s figure 5 and appendix C). The chart shows all pairs of app and input ' +
    'together, on a log axis. A task below the grey line is in time, gathering included. The map shows the gather time of each ' +
    'pair in ms; a stronger colour is a longer time.',
  'responsiveness', m, [ms(shareOf(m, 'heavy', 'half').gather_ns), 'median time to gather half of the groups for a heavy task']);
  const all = m.configurations.filter(c => !c.pair.endsWith(' chunked'));
  const pairs = m.header.pairs.map(p => p.name).filter(p => all.some(c => c.pair === p));
  const kinds = barriers.filter(b => all.some(c => c.barrier === b));
  const shade = d3.scaleLog().domain(d3.extent(all.map(c => c.gather_ns).filter(v => v > 0)));
  const number = ns => { const v = ns / 1e6; return v.toFixed(v >= 9.95 ? 0 : v >= 0.995 ? 1 : 2); };
  let load = 'heavy', barrier = kinds[kinds.length - 1];
  const chosen = () => all.filter(c => c.class === load);
  const sharesOf = of => shares.filter(share => of.some(c => c.share === share));
  const drawAll = () => {
    const of = chosen(), xs = sharesOf(of);
    const line = (field, kind) => Object.fromEntries(xs.map(share => {
      const values = of.filter(c => c.share === share && (!kind || c.barrier === kind)).map(c => c[field]);
      return [share, values.length ? d3.median(values) : null];
    }));
    chart(overall.text(''), {title: `All ${pairs.length} pairs`, xs, width: 620, height: 300, format: ms,
      y: d3.scaleLog().domain(spread(of.flatMap(c => [c.gather_ns, c.run_ns]), [1e5, 1e8])),
      goals: [{value: goals[load], name: ms(goals[load])}],
      series: [{name: 'task', style: 'ink', values: line('run_ns')},
        ...kinds.map(b => ({name: b, style: b, dash: '5 3', values: line('gather_ns', b)}))]});
  };
  const drawPairs = () => {
    const of = chosen();
    heatMap(map.text(''), {title: 'Gather time of each pair', rows: pairs, scale: shade,
      columns: sharesOf(of).map(share => ({name: shareNames[share], share})), cell: (pair, {share}) => {
        const mine = of.filter(c => c.pair === pair && c.share === share);
        const c = mine.find(c => c.barrier === barrier) || mine.find(c => c.barrier === 'one-pass');  // work stealing has no barriers
        return c && {value: c.gather_ns, text: number(c.gather_ns), late: c.gather_ns + c.run_ns > goals[load],
          tip: [`${pair}, ${shareNames[share]} groups`, `gather ${ms(c.gather_ns)}, p99 ${ms(c.gather_p99_ns)}`,
            `then the task takes ${ms(c.run_ns)}`, `slowdown of the app ${times(c.slowdown)}`]};
      }});
  };
  choice(s, 'Task', classes, {}, load, its => { load = its; drawAll(); drawPairs(); });
  legend(s, [['execution of the task', 'ink', 'solid'], ...kinds.map(b => ['gather, ' + barrierNames[b], b, 'dashed'])]);
  const overall = s.append('div').attr('class', 'overall');
  if (kinds.length > 1) choice(s, 'Each pair, by barrier', kinds, barrierNames, barrier, its => { barrier = its; drawPairs(); });
  legend(s, [['gather time, short to long', 'shades'], ['outlined: the task is late', 'task']]);
  const map = s.append('div');
  drawAll();
  drawPairs();
}

function preemption(m) {
  const heavy = m.preemption.find(p => p.class === 'heavy');
  const sliced = m.preemption.some(p => p.time_slicing);
  const s = section('Against preempting whole kernels', 'Median slowdown at the smallest share that meets the period (the ' +
    'paper’s table 3), next to the paper’s model of kernel-level preemption P/(P−E), and to suspending the whole app.' + (sliced ? ' Time slicing is measured with ' +
    'a job with barriers and the tasks in two processes, to which the driver gives the device in turns. The duration of a task is ' +
    'in brackets.' : ''), 'preemption', m, heavy && [times(heavy.cooperative),
    `slowdown next to heavy tasks that meet their period; ${times(heavy.model)} by the model of preemption`]);
  const slicing = t => !t ? '–' : t.not_available ? 'not available' : t.gave_up ? 'a task waits for the job’s end'
    : `${times(t.slowdown)} (${ms(t.p50_ns)})${t.verified ? '' : ' WRONG'}`;
  table(s, ['class', 'cooperative', 'groups', 'paper', 'model', 'paper', 'suspend', ...(sliced ? ['time slicing'] : [])],
    m.preemption.map(p => [p.class, times(p.cooperative), p.share ? shareNames[p.share] : 'none meets it',
      paper.cooperative[p.class], times(p.model), times(paper.model[p.class]), times(p.suspend),
      ...(sliced ? [slicing(p.time_slicing)] : [])]), [3, 5]);
}

function outlierFigure(m) {
  const [cut, whole] = [true, false].map(chunked =>
    m.outlier.find(o => o.barrier === 'one-pass' && o.pair.endsWith(' chunked') === chunked));
  return cut && whole ? [times(cut.slowdown), `slowdown of bfs in chunks, instead of ${times(whole.slowdown)}`] : [];
}

function outlier(m) {
  if (!m.outlier.length) return;
  const s = section('The outlier, and its remedy', 'The paper reports a slowdown of over 8× for bfs on its R-MAT graph next to ' +
    'medium tasks that take all groups but one: the steps are long, so after each task the app continues with one group until ' +
    'its next resizing point. Steps cut into chunks have more resizing points.' +
    (m.header.on_cpus !== false ? ' Here a group is a thread, which can have a CPU to itself. So ' +
    'one group can be slower than all groups at most by a factor of the number of CPUs.' : ''), 'outlier', m, outlierFigure(m));
  const value = (name, barrier) => m.outlier.find(o => o.barrier === barrier && o.pair.endsWith(' chunked') === name);
  const kinds = barriers.filter(b => m.outlier.some(o => o.barrier === b));
  const panels = s.append('div').attr('class', 'panels');
  const each = (title, unit, field, scale) => bars(panels, {name: title, unit, contenders: kinds.flatMap(b =>
    [['whole steps', false], ['chunks', true]].map(([words, chunked]) => {
      const o = value(chunked, b);
      return o && o[field] != null ? {name: `${b}, ${words}`, p50: o[field] / scale, reference: !chunked,
        tip: [`slowdown ${times(o.slowdown)}`, `gather ${ms(o.gather_ns)}, p99 ${ms(o.gather_p99_ns)}`,
          `period ${ms(o.period_ns)}, ${o.tasks} tasks`]} : null;
    })).filter(Boolean)});
  each('Slowdown of bfs', 'times', 'slowdown', 1);
  each('Gather time', 'ms, median', 'gather_ns', 1e6);
}

function sizing(z) {
  if (!z.rates) return sizingByClass(z);
  const fastest = z.rates[z.rates.length - 1];
  const s = section('How much a renderer needs', 'Next to a loop of frames, a kernel repeatedly takes all groups for a time t. ' +
    'The table shows the largest t at which no frame is missed. E = (X−Y)/n is the time left for a frame, and P = X/n is the period ' +
    `(section 5.2 of the paper). Frames are pictures of ${z.width} × ${z.height} pixels. The last column is the time of a frame, ` +
    'as its own thread measures it.', 'sizing', z,
  [ms(fastest.E_ns), `measured E at ${fastest.rate} frames a second; ${ms(fastest.frame_p50_ns)} inside the frame`]);
  table(s, ['frames/s', 'largest t', 'missed', 'E', 'P', 'X', 'a frame'],
    z.rates.map(r => [r.rate, ms(r.largest_t_ns), `${r.missed} of ${r.frames}`, ms(r.E_ns), ms(r.P_ns), d3.format('.1f')(r.X_s) + ' s',
      ms(r.frame_p50_ns)]), []);
}

// Records of version 0.1 have frames that are matrix products, by class.
function sizingByClass(z) {
  const heavy = z.classes.find(c => c.class === 'heavy');
  const s = section('How much a frame loop needs', 'Next to a frame loop, a kernel repeatedly takes all groups for a time t. ' +
    'The table shows the largest t at which no frame is missed. E = (X−Y)/n is the time left for a frame, and P = X/n is the period ' +
    '(section 5.2 of the paper). Our frames are matrix products with the paper’s E and P, so this checks the method.', 'sizing', z,
  heavy && [ms(heavy.E_ns), `measured E of heavy frames; ${paper.sizing.heavy[0]} ms in the paper`]);
  table(s, ['class', 'largest t', 'missed', 'E', 'paper’s', 'P', 'paper’s', 'X'],
    z.classes.map(c => [c.class, ms(c.largest_t_ns), `${c.missed} of ${c.frames}`, ms(c.E_ns), paper.sizing[c.class][0] + ' ms',
      ms(c.P_ns), paper.sizing[c.class][1] + ' ms', d3.format('.1f')(c.X_s) + ' s']), [4, 6]);
}

// Summarises the cost of cooperation: geometric mean and worst case. GPU times are by the device's
// clock, compared with plain CUDA.
function costs(record) {
  const u = record.summary, c = u.culprits || {};
  if (u.device) return {all: u.device, barrier: u.device_barrier, stealing: u.device_work_stealing};
  return {all: {geomean: u.geomean, max: u.max, culprit: c.max},
    barrier: {geomean: u.barrier, max: u.barrier_max, culprit: c.barrier},
    stealing: {geomean: u.work_stealing, max: u.work_stealing_max, culprit: c.work_stealing}};
}

function overhead(o) {
  const gpu = !!o.summary.device, cost = costs(o);
  const s = section('What cooperation costs when nothing is shared', 'Resizable apps that are not resized, relative to the ' +
    (gpu ? 'same kernels in plain CUDA, with a cooperative launch and grid.sync()' : 'same apps with cooperation compiled out') +
    ' (the paper’s table 2): geometric means and the worst pair.', 'overhead', o, [times(cost.all.geomean), `time of resizable apps that are not resized, relative to ` +
    (gpu ? 'plain CUDA' : 'static launches') + `; at most ${times(cost.all.max)}`]);
  const row = (name, of, p) => [name, times(of && of.geomean), times(of && of.max), (of && of.culprit) || '–', times(p[0]),
    times(p[1]), p[2]];
  table(s, ['pairs', 'mean', 'worst', 'which', 'paper: mean', 'worst', 'which'], [
    row('all', cost.all, paper.overhead.overall), row('with barriers', cost.barrier, paper.overhead.barrier),
    row('work stealing', cost.stealing, paper.overhead.stealing)], [4, 5, 6]);
  const d = s.append('details');
  d.append('summary').text('Each pair');
  const names = gpu ? ['cohort', 'grid.sync', 'launch per step', 'graph'] : ['resizable', 'static'];
  table(d, ['app', 'algorithm', 'input', ...names, 'ratio'], o.measurements.map(m => {
    const of = name => gpu ? m.device[name] : m.contenders.find(e => e.name === name);
    return [m.app, m.algorithm, m.input, ...names.map(name => ms((of(name) || {}).p50)),
      times(gpu ? m.device.overhead : m.overhead)];
  }));
}

// ---- records of GPUs

function deviceGather(record) {
  const kernels = ['any order', 'resizing barrier', 'highest first'];
  const most = d3.max(record.gather.filter(g => g.by === 'lease'), g => g.sms);
  const found = record.gather.find(g => g.by === 'lease' && g.sms === most && (g['resizing barrier'] || {}).extra_p50 != null);
  const s = section('Gather time on a full GPU', 'Time from the request until the SMs are held, while a kernel with an offer or a ' +
    `barrier every ${ms(record.offer_interval_ns)} runs on all SMs. The time on an idle GPU is subtracted. Median (99th percentile).`, 'device-gather', record, found && [ms(found['resizing barrier'].extra_p50),
    `until a lease holds ${most} SMs of a kernel with barriers, in addition to the time on an idle GPU`]);
  const rows = record.gather.filter(g => !removed.test(g.by));
  table(s, ['SMs', 'by', 'idle', ...kernels], rows.map(g => [g.sms, g.by, ms(g.idle.p50), ...kernels.map(k =>
    g[k] && g[k].extra_p50 != null ? `${ms(g[k].extra_p50)} (${ms(g[k].extra_p99)})` : '–')]));
  const apps = Object.entries(record.apps || {});
  if (!apps.length) return;
  s.append('p').text('Leases next to the apps, demanded at random times: from the app’s next resizing point until the groups have left. ' +
    'Medians, in µs; a stronger colour is a longer time.');
  const sizes = [...new Set(apps.flatMap(([, list]) => list.map(e => e.sms)))].sort((a, b) => a - b);
  const shade = d3.scaleLog().domain(d3.extent(apps.flatMap(([, list]) => list.map(e => e.extra.p50))));
  heatMap(s, {title: 'Gather time next to each app', rows: apps.map(([name]) => name), scale: shade,
    columns: sizes.map(sms => ({name: `${sms} SMs`, sms})), cell: (name, {sms}) => {
      const e = record.apps[name].find(e => e.sms === sms);
      return e && {value: e.extra.p50, text: (e.extra.p50 / 1e3).toFixed(0), tip: [`${name}, ${sms} SMs`,
        `${ms(e.extra.p50)}, p99 ${ms(e.extra.p99)}`, `to the resizing point ${ms(e.to_resizing_point.p50)}`]};
    }});
}

function lease(record) {
  const apps = record.apps && record.apps.beside.length ? record.apps : null;
  const ratios = apps && d3.extent(apps.beside, b => b.p99_over_idle);
  const s = section('A library’s kernels under a lease', 'cuBLAS products on SMs leased from a kernel that fills the GPU, ' +
    'and the same products on an idle GPU. Times from the call to the result: median (99th percentile).', 'lease', record,
  apps && [ratios.map(times).join(' to '), `99th percentile of the time of a product next to apps, relative to an idle GPU (median there ${ms(apps.idle.p50)})`]);
  table(s, ['matrices', 'SMs', 'idle GPU', 'leased', 'results'], record.products.map(p => [`${p.size} × ${p.size}`, p.sms,
    `${ms(p.alone.p50)} (${ms(p.alone.p99)})`, `${ms(p.leased.p50)} (${ms(p.leased.p99)})`,
    p.verified ? 'correct' : 'WRONG']));
  if (!apps) return;
  s.append('p').text(`A product of two ${apps.size} × ${apps.size} matrices every ${ms(apps.period_ns)}, under a lease of ` +
    `${apps.sms} SMs, next to the apps:`);
  table(s, ['next to', 'idle GPU', 'leased', 'p99 / p99 on the idle GPU'], apps.beside.map(b => [
    b.app + (b.chunked ? ', in chunks' : ''), `${ms(b.idle.p50)} (${ms(b.idle.p99)})`, `${ms(b.leased.p50)} (${ms(b.leased.p99)})`,
    times(b.p99_over_idle)]));
}

function background(record) {
  const all = record.measurements, u = record.summary;
  const s = section('Apps next to tasks, relative to an ideal', 'The apps next to the paper’s tasks. The ideal is measured: while tasks ' +
    'run, the app progresses like a static launch without the lent SMs next to the same tasks. Medians; a stronger colour is a larger slowdown.',
  'background', record, [d3.format('.3f')(u.median_over_ideal) + '×',
    `median slowdown relative to the ideal; at most ${d3.format('.3f')(u.max_over_ideal)}×`]);
  const apps = [...new Set(all.map(m => m.app))];
  const columns = classes.flatMap(load => shares.filter(share => all.some(m => m.class === load && m.share === share))
    .map(share => ({name: shareNames[share], group: load, load, share})));
  let drawn;
  const draw = field => {
    if (drawn) drawn.remove();
    drawn = s.append('div');
    const scale = d3.scaleLinear().domain([1, d3.max(all, m => m[field])]);
    const digits = field === 'over_ideal' ? 3 : 2;
    heatMap(drawn, {title: 'Slowdown by app, task and share', rows: apps, columns, scale, cell: (app, {load, share}) => {
      const m = all.find(m => m.app === app && m.class === load && m.share === share);
      return m && {value: m[field], text: m[field].toFixed(digits), tip: [`${app}, ${load} tasks on ${m.groups} SMs`,
        `slowdown ${times(m.slowdown)}, ideal ${times(m.ideal)}`, `slowdown / ideal ${d3.format('.3f')(m.over_ideal)}`,
        m.wrong ? `${m.wrong} products of ${m.tasks} WRONG` : `${m.tasks} tasks, all products right`]};
    }});
  };
  choice(s, 'Show', ['over_ideal', 'slowdown'], {over_ideal: 'slowdown / ideal', slowdown: 'slowdown'}, 'over_ideal', draw);
  draw('over_ideal');
  if (record.too_short) {
    s.append('p').attr('class', 'note').text('Left out, because a job takes less than 2 ms and few tasks would meet it: ' +
      record.too_short.join(', ') + '.');
  }
}

// Ways of sharing that appear in stored records but no longer exist in cohort.
const removed = /resident/;

function sharing(record) {
  const loads = {fixed_work: 'fixed work', fixed_duration: 'fixed duration'};
  const of = (load, kind, way) => {
    const found = record[load].find(c => c.class === kind);
    const row = found && found.rows.find(r => r.way === way);
    return row && row.p50_ns != null ? row : null;
  };
  const [ours, theirs] = ['cohort, lease', 'time slicing'].map(way => of('fixed_work', 'heavy', way));
  const s = section('Other ways to share a GPU', 'A job with barriers and a periodic task on one GPU. The latency of a task is counted from the ' +
    'time at which it is due. The slowdown of the job is relative to the plain CUDA version alone. A task of fixed work takes E on all SMs; a task of ' +
    'fixed duration takes E on its share.', 'sharing', record, ours && [times(ours.slowdown), 'slowdown of a job with barriers next to heavy tasks' +
    (theirs ? `; ${times(theirs.slowdown)} with time slicing` : '')]);
  let load = 'fixed_work', kind = record.fixed_work[0].class, drawn;
  const draw = () => {
    if (drawn) drawn.remove();
    drawn = s.append('div');
    const c = record[load].find(c => c.class === kind);
    const rows = c.rows.filter(r => !removed.test(r.way)), served = rows.filter(r => r.p50_ns != null);
    const lines = r => [`task ${ms(r.p50_ns)}, p99 ${ms(r.p99_ns)}; alone ${ms(r.alone_ns)}`, `slowdown of the job ${times(r.slowdown)}`];
    const panels = drawn.append('div').attr('class', 'panels');
    const each = (name, unit, value) => bars(panels, {name, unit, contenders: served.map(r =>
      ({name: r.way, p50: value(r), reference: !/^cohort/.test(r.way), tip: lines(r)}))});
    each('Latency of a task', `ms, median; on ${c.sms} SMs every ${c.period_ms} ms`, r => r.p50_ns / 1e6);
    each('Slowdown of the job', `times; ideal ${times(c.ideal_slowdown)}`, r => r.slowdown);
    const without = (words, pick) => {
      const names = rows.filter(r => r.p50_ns == null && pick(r)).map(r => r.way);
      if (names.length) drawn.append('p').attr('class', 'note').text(`${words}: ${names.join(', ')}.`);
    };
    without('No task ran before the job ended', r => !('not_available' in r));
    without('Not available here', r => 'not_available' in r);
    const d = drawn.append('details');
    d.append('summary').text('The numbers');
    table(d, ['way', 'SMs of the job', 'task alone', 'task, p50 (p99)', 'slowdown of the job'], served.map(r => [r.way, r.job_sms || '–',
      ms(r.alone_ns), `${ms(r.p50_ns)} (${ms(r.p99_ns)})`, times(r.slowdown) + (r.verified ? '' : ' WRONG')]));
  };
  choice(s, 'Load', Object.keys(loads), loads, load, its => { load = its; draw(); });
  choice(s, 'Task', record.fixed_work.map(c => c.class), {}, kind, its => { kind = its; draw(); });
  draw();
}

function fairness(record) {
  const s = section('More groups than fit', `A barrier of ${d3.format(',')(record.groups)} groups, far more than the GPU can hold: ` +
    (record.spin_barrier_hangs ? `plain CUDA hangs (stopped after ${record.seconds_given} s)` : 'plain CUDA finished') +
    (record.cohort_finishes ? `. With cohort, ${d3.format(',')(record.rounds)} rounds finish, with as many groups as ` +
    'fit.' : '; cohort DID NOT FINISH.'), 'fairness', record, [d3.format(',')(record.groups),
    'groups meet in barriers on a GPU that cannot hold them all' + (record.cohort_finishes ? '' : ': DID NOT FINISH')]);
  if (!record.next_to_held_sms) return;
  s.append('p').text('The same happens if another kernel holds some SMs until the kernel with barriers is done:');
  table(s, ['SMs that another kernel holds', 'plain CUDA', 'cohort', 'groups'],
    record.next_to_held_sms.map(h => [h.sms_held, h.fixed_finishes ? 'finishes' : 'hangs',
      h.sms_held === 0 ? '' : h.cohort_finishes ? `finishes in ${ms(h.seconds * 1e9)}` : 'DOES NOT FINISH', h.groups ?? '']));
}

// ---- several machines and engines

function sideBySide() {
  main.text('');
  d3.select('#machine').text('Results of several machines or engines');
  d3.select('#notes').text('');
  let warned = false;
  // Makes a row from one kind of record. Figures of a busy machine get a mark.
  const row = (words, kind, of, stated) => {
    const cells = data.sets.map(set => {
      let text;
      try { text = of(set[kind], set); } catch (_) { return '–'; }
      if (!text || text === '–') return '–';
      if (!set[kind].warning) return text;
      warned = true;
      return `${text} ${busy}`;
    });
    return cells.every(c => c === '–') ? null : [words, stated || '–', ...cells];
  };
  const heads = data.sets.map(set => [set.multitask && set.multitask.header, set.overhead, set.barrier, set.gather, set.demo].find(Boolean));
  const rows = [
    ['where', 'Iris 6100', ...heads.map(head => !head ? '–' : head.device ? head.device.name : `${head.machine.usable_cpus} CPUs`)],
    ['groups', '47', ...data.sets.map(set => ((set.multitask && set.multitask.header) || set.overhead || {}).groups || '–')],
    row('overhead without tasks, mean', 'overhead', o => times(costs(o).all.geomean), times(paper.overhead.overall[0])),
    row('overhead, worst', 'overhead', o => times(costs(o).all.max), times(paper.overhead.overall[1])),
    ...[['light', 'quarter'], ['medium', 'quarter'], ['heavy', 'half']].flatMap(([load, share]) => [
      row(`slowdown next to ${load} tasks on ${shareNames[share]}`, 'multitask', m => times(shareOf(m, load, share).slowdown),
        times(paper.slowdown[load][share])),
      row('and their gather time', 'multitask', m => ms(shareOf(m, load, share).gather_ns))]),
    ...classes.map(load => row(`${load}: slowdown at the smallest share that meets the period`, 'multitask', m => {
      const p = m.preemption.find(p => p.class === load);
      return p.share && `${times(p.cooperative)} (${shareNames[p.share]})`;
    }, paper.cooperative[load])),
    row('a resizing barrier with nothing to do', 'barrier', b => {
      const m = b.measurements[0];
      return `${d3.format(',.0f')(m.contenders.find(c => c.name === 'cohort resizing').p50)} ns (${m.name})`;
    }),
  ].filter(Boolean);
  const s = section('Side by side', '', 'sets-beside');
  if (warned) s.append('p').attr('class', 'note strong').text(`${busy} Other programs used the CPUs during this measurement.`);
  table(s, ['', 'paper', ...data.sets.map(set => set.name)], rows, [1]);
}

// Shows any record of the harness: contenders side by side.
const titles = {
  barrier: ['Barriers and offers', 'With no request pending, next to other implementations. Medians; tooltips have the whole range.'],
  gather: ['Gather time by kill order', 'Requests for workers of a kernel that steals work, by the length T of its tasks. Medians; a stronger colour is a longer time. Tooltips have the 99th percentiles.'],
  queue: ['Submitting tasks', 'A burst of submits behind waiting tasks, and single submits while a large checkpoint is written. Medians.'],
  cpu: ['Next to OpenMP', 'The apps, and plain OpenMP versions of the same algorithms.'],
};

function headline(name, record, list) {
  const of = (m, contender) => (m.contenders.find(c => c.name === contender) || {}).p50;
  if (name === 'barrier') {
    const ns = of(list[0], 'cohort resizing'), base = list[0].baseline;
    return ns && [`${d3.format(',.0f')(ns)} ns`, `a resizing barrier, ${list[0].name}` +
      (of(list[0], base) ? `; ${base} ${d3.format(',.0f')(of(list[0], base))} ns` : '')];
  }
  if (name === 'cpu' && record.summary) return ['≥ ' + times(record.summary.least_times_openmp), 'speed relative to OpenMP'];
  if (name === 'queue' && record.summary) return [ms(record.summary.delay_p50_ns), 'a submit while a large checkpoint is written'];
  return name === 'gather' ? [ms(list[0].contenders[0].p50), `${list[0].name}; ${list[0].contenders[0].name}`] : [];
}

function measurements(name, record) {
  const list = Object.values(record).flat().filter(e => e && e.contenders);
  if (!list.length) return;
  const s = section(titles[name][0], titles[name][1], name, record, headline(name, record, list) || []);
  const panels = s.append('div').attr('class', 'panels');
  const key = m => m.contenders.map(c => c.name).join();
  for (const alike of d3.nest().key(key).entries(list)) {
    if (name === 'gather' && alike.values.length > 3) contendersMap(s, alike.values);
    else for (const each of alike.values) bars(panels, each);
  }
}

// Shows several measurements of the same contenders, one per row.
function contendersMap(to, list) {
  const all = list.flatMap(m => m.contenders.map(c => c.p50));
  const columns = list[0].contenders.map((c, i) => {
    const [group, ...rest] = c.name.split(', ');
    return {i, name: rest.join(', ') || group, group: rest.length ? group : ''};
  });
  const number = d3.format(',.1f');
  heatMap(to, {
    title: 'p50 by contender', rows: list.map(m => m.name), columns, scale: d3.scaleLog().domain([d3.min(all), d3.max(all)]),
    cell: (row, column) => {
      const c = list.find(m => m.name === row).contenders[column.i];
      return {value: c.p50, text: ms(c.p50), tip: [c.name, `p50 ${number(c.p50)}, p99 ${number(c.p99)}, ${number(c.min)} to ${number(c.max)} ns`]};
    },
  });
}

function bars(to, m) {
  const f = to.append('figure');
  caption(f, m.name, m.unit === 'ns' ? '' : m.unit);
  const width = Math.min(420, f.node().clientWidth || 420), row = 24, height = m.contenders.length * row + 6;
  const svg = f.append('svg').attr('viewBox', `0 0 ${width} ${height}`).attr('role', 'img').attr('aria-label', m.name);
  const left = Math.min(0.55 * width, Math.max(90, 10 + 6.4 * d3.max(m.contenders, c => c.name.length)));
  const all = m.contenders.map(c => c.p50);
  const wide = d3.max(all) / d3.min(all) > 30;
  const x = (wide ? d3.scaleLog().domain([d3.min(all) / 2, d3.max(all)]) : d3.scaleLinear().domain([0, d3.max(all)]))
    .range([left, width - 92]);
  const g = svg.selectAll('g').data(m.contenders).join('g').attr('transform', (d, i) => `translate(0,${i * row + 3})`);
  g.append('text').attr('class', 'name').attr('x', left - 8).attr('y', row / 2 + 3).attr('text-anchor', 'end')
    .text(d => d.name.length > left / 6.3 ? d.name.slice(0, left / 6.3 - 1) + '…' : d.name);
  g.append('rect').attr('x', left).attr('y', 4).attr('height', row - 9).attr('rx', 3)
    .attr('width', d => Math.max(2, x(d.p50) - left)).attr('fill', d => d.reference ? 'var(--plain)' : 'var(--job)');
  g.append('text').attr('class', 'name').attr('x', d => Math.max(left + 2, x(d.p50)) + 6).attr('y', row / 2 + 3)
    .text(d => (m.unit === 'ns' ? ms(d.p50) : d3.format(d.p50 >= 1000 ? '.3~s' : '.3~g')(d.p50)) + (d.ratio == null ? '' : `  ${d3.format('.2~f')(d.ratio)}×`));
  const number = d3.format(',.1f');
  const range = d => [`p50 ${number(d.p50)}, p99 ${number(d.p99)}, ${number(d.min)} to ${number(d.max)} ${m.unit || 'ns'}`,
    ...(m.baseline ? [`${times(d.ratio)} ${m.baseline}`] : [])];
  g.on('mousemove', d => showTip(d3.event, d.name, '', Array.isArray(d.tip) ? d.tip : range(d))).on('mouseleave', hideTip);
  if (wide) f.append('p').attr('class', 'note').text('Log axis.');
}

d3.select('#footer').text(`Made by cohort ${data.version} (${data.commit}) on ${data.time}. Drawn with D3.`);

// The address names a machine, and a section of its page.
const comparison = {name: 'side by side'};
const pages = data.sets.length > 1 ? [...data.sets, comparison] : data.sets;
let shown = null;
function go() {
  const [name, id] = location.hash.slice(1).split('/');
  const page = pages.find(p => encodeURIComponent(p.name) === name) || shown || pages[0];
  if (page !== shown) {
    shown = page;
    d3.selectAll('#sets button').attr('aria-pressed', p => p === page);
    if (page === comparison) sideBySide(); else show(page);
    scrollTo(0, 0);
  }
  const target = id && document.getElementById(id);
  if (target) target.scrollIntoView();
}
if (pages.length > 1) {
  choice(d3.select('#sets'), 'Results', pages, {}, null, page => { location.hash = encodeURIComponent(page.name); go(); });
  d3.selectAll('#sets button').text(p => p.name);
}
addEventListener('hashchange', go);
go();
document.documentElement.setAttribute('data-ready', 'true');
