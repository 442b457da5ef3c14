"""The style sheet of a report: light, dark, narrow and print; no fonts or pictures from elsewhere."""

CSS = """
:root {
  color-scheme: light dark;
  --page: #f5f6f2; --card: #ffffff; --ink: #18211c; --muted: #58655d; --line: #dde3dc; --soft: #edf1ec;
  --accent: #1d7656; --accent-soft: #dcefe5; --accent-ink: #0f4a35; --before: #b4641c; --before-soft: #f8ebdc;
  --bad: #a8281f; --bad-soft: #fbe6e3; --shadow: 0 1px 2px rgb(20 40 30 / 6%), 0 6px 20px rgb(20 40 30 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101412; --card: #181e1b; --ink: #e7ede9; --muted: #9fada5; --line: #2c3631; --soft: #232b27;
    --accent: #57c595; --accent-soft: #1b3b2d; --accent-ink: #a5e8c8; --before: #e2a060; --before-soft: #3b2a18;
    --bad: #f08a80; --bad-soft: #431f1c; --shadow: none;
  }
}
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --card: #ffffff; --ink: #111111; --muted: #444444; --line: #cccccc; --soft: #eeeeee;
    --accent: #1d7656; --accent-soft: #dcefe5; --accent-ink: #0f4a35; --before: #b4641c; --before-soft: #f8ebdc;
    --bad: #a8281f; --bad-soft: #fbe6e3; --shadow: none;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif;
}
main, header.top, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
a { color: var(--accent); }
h1, h2, h3 { line-height: 1.2; margin: 0; text-wrap: pretty; }
h2 { font-size: 21px; letter-spacing: -.01em; }
h3 { font-size: 15px; }
p { margin: .5em 0; max-width: 76ch; }
code, pre { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
.muted { color: var(--muted); }
.small { font-size: 13px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 6px 10px; }

header.top { display: flex; flex-wrap: wrap; gap: 6px 20px; align-items: center; padding-top: 22px; }
.brand { display: flex; gap: 9px; align-items: center; font-weight: 650; letter-spacing: -.01em; }
.brand svg { color: var(--accent); }
header.top nav { margin-left: auto; display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13.5px; }
header.top nav a { color: var(--muted); text-decoration: none; }
header.top nav a:hover { color: var(--accent); text-decoration: underline; }

.hero {
  display: grid; grid-template-columns: auto 1fr; gap: 8px 22px; margin: 18px 0 16px; padding: 28px 30px;
  background: var(--accent-soft); border-radius: 14px; border-left: 6px solid var(--accent);
}
.hero svg { color: var(--accent); }
.hero.bad { background: var(--bad-soft); border-color: var(--bad); }
.hero.bad svg { color: var(--bad); }
.hero h1 { font-size: clamp(22px, 3.1vw, 32px); letter-spacing: -.02em; }
.hero p { margin: .55em 0 0; font-size: 16px; }
.confidential {
  display: flex; gap: 10px; margin: 0 0 16px; padding: 9px 14px; border: 1px dashed var(--before); border-radius: 10px;
  font-size: 13.5px; background: var(--before-soft);
}
.confidential p { margin: 0; max-width: none; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(158px, 1fr)); gap: 12px; margin: 0 0 8px; }
.tile { margin: 0; background: var(--card); border-radius: 12px; padding: 15px 17px; box-shadow: var(--shadow);
  border: 1px solid var(--line); }
.tile dt { font-size: 12.5px; color: var(--muted); }
.tile dd { margin: 0; }
.tile dd.number { font-size: 28px; font-weight: 640; letter-spacing: -.02em; line-height: 1.25;
  font-variant-numeric: tabular-nums; }
.tile dd.note { font-size: 12.5px; color: var(--muted); line-height: 1.4; overflow-wrap: anywhere; }

h2.chapter { font-size: 15px; letter-spacing: .02em; color: var(--muted); margin: 34px 4px 4px; font-weight: 620;
  text-transform: uppercase; }
main > div[id] { scroll-margin-top: 12px; }
section { margin: 16px 0; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  padding: 24px 28px 22px; box-shadow: var(--shadow); scroll-margin-top: 12px; }
section > p:first-of-type { margin-top: .45em; color: var(--muted); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); gap: 10px 34px;
  align-items: start; }
.scroll { overflow-x: auto; margin: 12px 0; }
figure { margin: 12px 0 4px; min-width: 0; }
figcaption { font-size: 13px; color: var(--muted); margin-bottom: 8px; }
svg.chart { max-width: 100%; height: auto; display: block;
  font-family: Arial, "Liberation Sans", Helvetica, sans-serif; }
.legend { display: inline-flex; gap: 6px; align-items: center; margin-right: 14px; white-space: nowrap; }
.swatch { width: 13px; height: 13px; border: 1.5px solid var(--accent); background: var(--accent);
  display: inline-block; }
.swatch.before { border-color: var(--before); background: var(--before-soft); }

table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
.wide { width: 100%; }
caption { text-align: left; font-weight: 620; padding: 0 0 7px; caption-side: top; }
caption .muted { font-weight: 400; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--muted); font-weight: 560; font-size: 12.5px; vertical-align: bottom; }
tbody th { font-weight: 560; }
tbody tr:last-child > * { border-bottom: 0; }
td.n, th.n { text-align: right; white-space: nowrap; }
thead th.n { white-space: normal; }
td.n:last-child, th.n:last-child { padding-right: 0; }
td.words { color: var(--muted); min-width: 22ch; }
.preview { width: 100%; font-size: 12.5px; }
.preview th, .preview td { padding: 5px 8px; overflow-wrap: break-word; }
.pair .preview { font-size: 12px; }
.pair .preview th, .pair .preview td { padding: 3px 6px; }
.pair .preview tbody tr { height: 43px; }
.pair .preview tbody tr > * { vertical-align: middle; }
.preview thead th span { display: block; font-weight: 400; font-size: 11px; }
.preview tbody th { color: var(--muted); font-weight: 400; text-align: right; }
.preview td.changed { background: var(--accent-soft); color: var(--accent-ink); font-weight: 560; }
.preview td.changed::before { content: "▲"; font-size: 8px; vertical-align: 2px; margin-right: 3px; }
.preview td.gone { color: var(--muted); font-style: italic; }
.preview td.hid, .preview td[colspan] {
  background: repeating-linear-gradient(135deg, transparent 0 6px, var(--soft) 6px 12px);
  color: var(--muted); font-style: italic; }

.meter { display: inline-flex; gap: 2px; margin-right: 8px; vertical-align: 0; }
.meter i { width: 13px; height: 9px; border: 1px solid var(--accent); border-radius: 2px; }
.meter i.on { background: var(--accent); }
.bar { display: inline-block; width: 84px; height: 8px; background: var(--soft); border-radius: 4px; margin-right: 8px;
  overflow: hidden; vertical-align: 1px; border: 1px solid var(--line); }
.bar.long { width: min(100%, 420px); height: 12px; display: block; margin: 10px 0; background: var(--before-soft); }
.bar i { display: block; height: 100%; background: var(--accent); }
.share { display: inline-block; min-width: 50px; }
.stacked .preview { table-layout: fixed; min-width: 860px; }
.stacked .preview thead tr > :first-child { width: 56px; }
.arrow { color: var(--muted); padding: 0 3px; }

details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); }
details.inline { border: 0; }
summary { cursor: pointer; padding: 10px 2px; font-size: 14px; }
summary:hover { color: var(--accent); }
summary b { font-weight: 620; }
details > .in { padding: 0 0 16px; }
svg.icicle { display: block; min-width: 680px; width: 100%; height: auto; font: 11.5px system-ui, sans-serif; }
.icicle text { fill: var(--muted); }
.icicle text.on { fill: var(--ink); font-weight: 600; }
.icicle text.name { fill: var(--muted); font-weight: 400; pointer-events: none; }
.icicle text.name.on { fill: var(--accent-ink); font-weight: 600; }
.icicle rect.off { fill: var(--soft); }
.icicle rect.on { fill: var(--accent-soft); stroke: var(--accent); stroke-width: 1.4; }
.levels tr.on > * { background: var(--accent-soft); color: var(--accent-ink); }
.levels th, .levels td { padding-left: 10px; }
.chip { display: inline-block; border: 1px solid var(--line); border-radius: 20px; padding: 0 8px; margin: 1px 2px;
  font-size: 12.5px; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: 14px 16px; border-radius: 10px; overflow-x: auto; margin: 4px 0 0;
  tab-size: 4; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: 5px 20px; margin: 12px 0; font-size: 14px; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ul.notes { margin: 8px 0; padding-left: 20px; }
footer { padding: 10px 24px 40px; color: var(--muted); font-size: 13px; }

@media (max-width: 640px) {
  main, header.top, footer { padding-left: 12px; padding-right: 12px; }
  section { padding: 18px 16px; }
  .hero { grid-template-columns: 1fr; padding: 20px; }
  header.top nav { margin-left: 0; }
  svg.chart { min-width: 460px; }
  .scroll > table.wide:not(.few) { min-width: 600px; }
  .few td, .few th { padding-right: 8px; }
  .few td.words { min-width: 17ch; }
  .few td.n { white-space: normal; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .tile dd.number { font-size: 24px; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: 8px; }
}
@media print {
  body { font-size: 11pt; }
  header.top nav, .skip { display: none; }
  main, header.top, footer { max-width: none; padding: 0; }
  section, .hero, .tile { box-shadow: none; }
  section { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 14px 0; }
  figure, .tile, tr, .hero { break-inside: avoid; }
  h2, summary, caption { break-after: avoid; }
  .scroll { overflow: visible; }
  svg.icicle { min-width: 0; }
  details:not([open])::details-content { content-visibility: visible; block-size: auto; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
