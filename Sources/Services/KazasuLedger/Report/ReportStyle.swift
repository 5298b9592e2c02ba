// SPDX-License-Identifier: Apache-2.0

/// How a report looks.
enum ReportStyle {
    static let css = """
        :root{--back:#fff;--card:#f6f7f9;--ink:#1b1f24;--soft:#5b6570;--rule:#d9dee4;--spent:#2563a8;--received:#3f8f5b;--count:#8a6d1f;--area:#2563a833;--lost:#c2570c2b;--alert:#a8470a}
        @media (prefers-color-scheme:dark){:root{--back:#14171a;--card:#1e2328;--ink:#e8ebee;--soft:#a3adb8;--rule:#363d45;--spent:#6aa9ea;--received:#6cc08a;--count:#d3b35a;--area:#6aa9ea3a;--lost:#f0955033;--alert:#f5a56a}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:60rem;background:var(--back);color:var(--ink);font:16px/1.5 system-ui,"Noto Sans","Noto Sans JP","Noto Sans CJK JP","Hiragino Sans",sans-serif;font-variant-numeric:tabular-nums}
        h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:0 0 .6rem}
        header p,footer,.small,.note,figcaption span,.values,.times{color:var(--soft)}
        header p{margin:.2rem 0 0;overflow-wrap:anywhere}header{margin-bottom:1rem}footer{margin-top:2rem}footer,.small{font-size:.85rem}
        a{color:inherit}section{margin-top:1.8rem;min-width:0}
        .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;margin:0}.figures+.figures{margin-top:.6rem}
        .figures div{background:var(--card);border-radius:.5rem;padding:.6rem .8rem;min-width:0}
        .figures .now{border-left:.25rem solid var(--spent)}.figures .alert dd{color:var(--alert)}
        dt{font-size:.85rem;color:var(--soft);overflow-wrap:anywhere}dd{margin:0;font-size:1.25rem;font-weight:600}dd.note{font-size:.8rem;font-weight:400}
        .warning{margin:.8rem 0 0;padding:.5rem .8rem;border-radius:.5rem;background:var(--lost)}
        figure{margin:0 0 1.2rem}figcaption{display:flex;justify-content:space-between;gap:1rem}figcaption span{white-space:nowrap}
        .plot{display:grid;grid-template-columns:auto 1fr;grid-template-rows:11rem auto;margin-top:.6rem}
        .plot svg{display:block;width:100%;height:100%;overflow:visible;grid-column:2}
        .plot path,.plot rect{vector-effect:non-scaling-stroke}
        .values{position:relative;width:4.6rem;font-size:.75rem;line-height:1}.values span{position:absolute;right:.5rem;transform:translateY(50%);white-space:nowrap}
        .times{position:relative;grid-column:2;height:2.4rem;font-size:.75rem;line-height:1.25;margin-top:.5rem}
        .times span{position:absolute;transform:translateX(-50%);text-align:center;white-space:nowrap}
        .grid{stroke:var(--rule);stroke-width:1;fill:none}
        .line{stroke:var(--spent);stroke-width:1.5;fill:none}.line.thin{stroke-width:1;opacity:.55}.area{fill:var(--area)}.lost{fill:var(--lost)}
        .spent{fill:var(--spent)}.received{fill:var(--received)}.count{fill:var(--count)}
        .target{fill:transparent}.target:hover{fill:var(--area)}
        .keys{margin:0 0 .5rem;font-size:.85rem;display:flex;flex-wrap:wrap;gap:0 1rem}
        .key::before{content:"";display:inline-block;width:.8em;height:.8em;margin-right:.35em;border-radius:.15em;background:currentColor}
        .key.spent::before{background:var(--spent)}.key.received::before{background:var(--received)}.key.thin::before{height:0;border-top:1px solid var(--spent);border-radius:0;vertical-align:middle}.key.area::before{background:var(--area)}.key.lost::before{background:var(--lost);border:1px solid var(--alert)}
        summary{cursor:pointer;color:var(--soft);font-size:.9rem}
        .scroll{overflow-x:auto}table{width:100%;border-collapse:collapse;font-size:.95rem}
        th,td{padding:.3rem .5rem;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
        .date{white-space:nowrap}th:first-child{text-align:left;font-weight:400;white-space:normal;word-break:keep-all;overflow-wrap:break-word}thead th{color:var(--soft);font-weight:400;font-size:.85rem}
        .bar{display:block;width:100%;min-width:4rem;height:.7rem}td:last-child:has(.bar){width:35%}
        .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 2rem}
        @media (max-width:36rem){th:first-child{overflow-wrap:anywhere}.minor{display:none}.figures{grid-template-columns:1fr 1fr}.figures .now+.now~div:last-child:nth-child(odd){grid-column:1/-1}.figures .now:first-child:not(:has(+.now)){grid-column:1/-1}.values{width:3.9rem}th,td{padding:.3rem .25rem}table{font-size:.85rem}.bar{min-width:2.5rem}td:last-child:has(.bar){width:22%}}
        @media print{:root{--back:#fff;--card:#fff;--ink:#000;--soft:#444;--rule:#bbb;--spent:#2563a8;--received:#3f8f5b;--count:#8a6d1f;--area:#2563a833;--lost:#c2570c2b;--alert:#a8470a}
        body{max-width:none;padding:0;font-size:11pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}.figures div{border:1px solid var(--rule)}
        figure,tr,.figures{break-inside:avoid}h2{break-after:avoid}}
        """
}
