#pragma once

namespace pliant::reproduce {

/// Colours are variables, so that plots and drawings follow a dark screen: --c0 … --c7 for series.
inline constexpr const char* kPageStyle = R"css(
:root { color-scheme: light dark;
  --page: #fdfdfb; --ink: #1d232b; --soft: #59636f; --rule: #d9dde2; --band: #f2f4f6; --bad: #b3261e;
  --good: #216e39; --c0: #1f66b5; --c1: #c2570c; --c2: #22834b; --c3: #7a4cc2; --c4: #b8263f;
  --c5: #0b8089; --c6: #6f7782; --c7: #8a6410; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14181d; --ink: #e4e8ed; --soft: #9aa5b1; --rule: #343c46; --band: #1c2229; --bad: #ff8a80;
  --good: #7bd79a; --c0: #6db1ff; --c1: #ff9d57; --c2: #63d393; --c3: #b996ff; --c4: #ff7f93;
  --c5: #4fd0da; --c6: #a4adb8; --c7: #d9b24c; } }
html { background: var(--page); color: var(--ink); }
body { margin: 0; font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.35rem; margin: 3.2rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
p { margin: .6rem 0; max-width: 50rem; }
a { color: var(--c0); }
nav li { margin: .15rem 0; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
/* wide tables take the window's width: first to the right, then, as the strip before them shrinks, to the left */
.scroll { --aside: max(0px, 50vw - 33rem); display: flex; overflow-x: auto; margin: 1rem calc(-1 * var(--aside)); }
.scroll::before { content: ""; flex: 0 1000 var(--aside); }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 0 0 .35rem; }
caption span { display: block; max-width: 50rem; }
th, td { padding: .22rem .7rem; text-align: left; white-space: nowrap; }
th { white-space: normal; max-width: 11rem; vertical-align: bottom; font-weight: 600; border-bottom: 2px solid var(--rule); }
.many th, .many td { padding: .22rem .4rem; }
td.long { white-space: normal; min-width: 16rem; }
td { border-bottom: 1px solid var(--rule); }
tbody tr:nth-child(even) { background: var(--band); }
td.num, td.off { text-align: right; }
.off { color: var(--bad); font-weight: 600; }
table.words { max-width: 62rem; }
table.words th { max-width: none; }
table.words td { white-space: normal; vertical-align: top; min-width: 6rem; }
table.words td:last-child { white-space: nowrap; }
table.words em, .ids { color: var(--soft); }
.ids { font-size: .8em; white-space: nowrap; }
.status { font-weight: 600; white-space: nowrap; }
.matched { color: var(--good); } .better { color: var(--c0); } .differs { color: var(--bad); } .own { color: var(--c1); } .open { color: var(--soft); }
.deviations { border-left: 4px solid var(--bad); background: var(--band); padding: .6rem 1rem; margin: 1rem 0; }
.deviations ul { margin: .3rem 0 0; padding-left: 1.2rem; }
figure { margin: 1.2rem 0; }
figcaption { color: var(--soft); font-size: .88rem; max-width: 50rem; }
.row { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: flex-end; }
svg { max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .soft { fill: var(--soft); }
svg .halo { paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .axis { stroke: var(--soft); stroke-width: 1; fill: none; }
svg .ref { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 3; }
svg .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
svg .dash { stroke-dasharray: 6 4; }
svg .mesh { stroke: #1d232b; stroke-width: .6; stroke-linejoin: round; }
svg .ghost { fill: none; stroke: var(--soft); stroke-width: .6; }
svg .ground { fill: var(--band); stroke: var(--soft); stroke-width: 1; }
svg .s0 { stroke: var(--c0); } svg .f0 { fill: var(--c0); }
svg .s1 { stroke: var(--c1); } svg .f1 { fill: var(--c1); }
svg .s2 { stroke: var(--c2); } svg .f2 { fill: var(--c2); }
svg .s3 { stroke: var(--c3); } svg .f3 { fill: var(--c3); }
svg .s4 { stroke: var(--c4); } svg .f4 { fill: var(--c4); }
svg .s5 { stroke: var(--c5); } svg .f5 { fill: var(--c5); }
svg .s6 { stroke: var(--c6); } svg .f6 { fill: var(--c6); }
svg .s7 { stroke: var(--c7); } svg .f7 { fill: var(--c7); }
@media print { main { max-width: none; } .scroll { --aside: 0px; } section { break-inside: avoid-page; } }
)css";

}  // namespace pliant::reproduce
