/** Writes what was measured: a table for the terminal, the page for the docs, the raw samples as JSON. */
import { cpus, release } from 'node:os'
import { FIGURES, type Figure, judge, type Sample, summarize, type Verdict } from './figures.ts'
import type { Options } from './options.ts'

export interface Column {
  name: string
  label: string
}

export interface Run {
  date: string
  options: Options
  columns: Column[]
  samples: Sample[]
  missing: string[]
  notes: string[]
  versions: Record<string, string>
  busy: Busy
}

/** How busy the machine was. */
interface Busy {
  /** Load average: processes that ran or waited for a core in the minute before. */
  loadBefore: number
  /** Share of the time of all cores in which something ran. */
  busyShare: number
  /** Share of the same that the host gave to other virtual machines. */
  stolenShare: number
}

function number(value: number, digits: number): string {
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

function cell(run: Run, figure: Figure, gateway: string): string {
  const summary = summarize(run.samples, gateway, figure.id)
  if (summary === undefined) return '-'
  const { median, min, max } = summary
  const text = number(median, figure.digits)
  if (summary.count === 1 || min === max) return text
  return `${text} (${number(min, figure.digits)}-${number(max, figure.digits)})`
}

function ratio(run: Run, figure: Figure, gateway: string, other: string): string {
  const own = summarize(run.samples, gateway, figure.id)
  const theirs = summarize(run.samples, other, figure.id)
  if (own === undefined || theirs === undefined || theirs.median === 0) return '-'
  return number(own.median / theirs.median, 2)
}

/** The Tollgate that is compared with the targets: this checkout if it was measured, else the first column of one. */
function subjectOf({ columns }: Run): string | undefined {
  const ours = columns.map(({ name }) => name).filter((name) => name.startsWith('tollgate'))
  return ours.includes('tollgate') ? 'tollgate' : ours[0]
}

/** The rows of the table: label, unit, a cell for each gateway, ratios to HAProxy and Portkey. */
export function tableRows(run: Run): string[][] {
  const measured = FIGURES.filter((figure) =>
    run.columns.some(({ name }) => summarize(run.samples, name, figure.id) !== undefined),
  )
  const names = run.columns.map(({ name }) => name)
  const subject = subjectOf(run)
  const others = ['haproxy', 'portkey'].filter((name) => names.includes(name))
  const compared = subject === undefined ? [] : others
  const head = ['figure', 'unit', ...run.columns.map(({ label }) => label)]
  head.push(...compared.map((name) => `/ ${name === 'haproxy' ? 'HAProxy' : 'Portkey'}`))
  const rows = measured.map((figure) => [
    figure.label,
    figure.unit,
    ...names.map((name) => cell(run, figure, name)),
    ...compared.map((other) => (subject === undefined ? '-' : ratio(run, figure, subject, other))),
  ])
  return [head, ...rows]
}

/** The table in aligned columns. */
export function plainTable(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => (row[index] ?? '').length)),
  )
  return rows
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function markdownTable(rows: string[][]): string {
  const [head = [], ...body] = rows
  const line = (row: string[]) => `| ${row.join(' | ')} |`
  const rule = head.map((_, index) => (index < 2 ? '---' : '--:'))
  return [line(head), line(rule), ...body.map(line)].join('\n')
}

function boundText({ figure, target: { against, most } }: Verdict): string {
  return `at most ${most}${unitOf(figure, against)}`
}

function measuredText({ figure, target: { against }, measured }: Verdict): string {
  const digits = against === undefined ? figure.digits : 3
  return `${number(measured, digits)}${unitOf(figure, against)}`
}

function unitOf(figure: Figure, against: string | undefined): string {
  if (against === undefined) return figure.unit === '' ? '' : ` ${figure.unit}`
  const names: Record<string, string> = { haproxy: 'HAProxy', portkey: 'Portkey' }
  return ` x ${names[against] ?? against}`
}

/** Each target with the figures of the Tollgate that is compared with it, and of other checkouts before it. */
export function verdictRows(run: Run): string[][] {
  const subject = subjectOf(run)
  if (subject === undefined) return []
  const others = run.columns.filter(({ name }) => name.startsWith('tollgate:'))
  const judged = others.map(({ name }) => judge(run.samples, name))
  const rows = judge(run.samples, subject).map((verdict) => [
    verdict.figure.label,
    boundText(verdict),
    ...judged.map((verdicts) => {
      const same = verdicts.find(
        ({ figure, target }) => figure === verdict.figure && target === verdict.target,
      )
      return same === undefined ? '-' : measuredText(same)
    }),
    measuredText(verdict),
    verdict.met ? 'met' : 'not met',
  ])
  const labels = others.map(({ label }) => label)
  return [['figure', 'target', ...labels, 'measured', 'verdict'], ...rows]
}

function machine(): string {
  const processors = cpus()
  return `${processors.length} cores of ${processors[0]?.model ?? 'an unnamed processor'}, Linux ${release()}`
}

/** The bench itself takes up to two cores; more than that is the work of other programs. */
export function busyText({ busy: { loadBefore, busyShare, stolenShare } }: Run): string {
  const cores = number(busyShare * cpus().length, 1)
  return (
    `load average before ${number(loadBefore, 1)}; while it ran ${cores} of ${cpus().length} cores were busy, ` +
    `${number(stolenShare * 100, 1)} % of their time taken by the host`
  )
}

/** docs/benchmarks.md. It names no path of this machine. */
export function page(run: Run): string {
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`)
  const left = run.missing.map((reason) => `* Left out: ${reason.split('\n')[0]}`)
  const notes = run.notes.map((note) => `* ${note}`)
  const { rounds, seconds, warmRequests } = run.options
  return `# Benchmarks

Written by \`npm run bench\`; do not edit.

* Date: ${run.date}
* Machine: ${machine()}
* Busy: ${busyText(run)}
* Versions: ${versions.join(', ')}
* ${rounds} interleaved rounds (A B C, C B A, ...), phases of ${seconds} s; each cell is the median, with the least and the greatest in brackets; a ratio is one of medians, and a bound by itself is held against the worst.
${[...left, ...notes].map((line) => `${line}\n`).join('')}
## Targets

${markdownTable(verdictRows(run))}

## Figures

${markdownTable(tableRows(run))}

## How it is measured

The gateway runs alone on core 0; the mock upstream (nginx) and the load share core 1, all over loopback. Before it is measured each has answered ${number(warmRequests, 0)} requests of 1 KB, ${number(warmRequests * 2, 0)} events, a tenth as many of 100 and 400 KB and a fiftieth or hundredth as many of 2 and 5 MB, or as many as it took in 20 s; only the memory of streams is that of a fresh process. CPU is user and system time of the gateway's process, threads and children, from /proc, until it has come to rest after the load, divided by the requests or events. *direct* is the load on the mock with nothing between. HAProxy proxies with one thread, reuses connections, checks nothing, and has \`http-no-delay\` set, without which it holds events back for up to 200 ms. Portkey runs as its package ships it, on Node, and checks no key. Tollgate checks the key, meters and records each request, with the log level at \`warn\`.

Every reply of HAProxy and Tollgate is compared byte for byte with what the mock sent, every event of every stream is numbered and compared, the request as the mock saw it is compared by its MD5, and Tollgate's usage rows are counted against the requests sent: all must agree, or the run fails and this page is not written. Portkey writes JSON anew, so its replies are compared by meaning. Requests under way when a closed loop of wrk ends are cut off and may or may not have a row; streams are counted exactly.

Transit is the time from the mock's write of an event, whose clock value it carries, to the client's read of it, so it holds the mock's and the client's own waiting as well: compare it with the direct column.

Statistics and lists over ten million usage rows are measured apart: [statistics.md](statistics.md#what-it-costs). So is the console: [benchmarks-console.md](benchmarks-console.md).

## How to repeat

\`\`\`sh
npm run bench                                                                    # everything, then this page
npm run bench -- --quick --only w1,w3 --rounds 2 --gateways tollgate,haproxy     # a minute
\`\`\`

It needs Debian with root for the packages it installs when they are missing (nginx with Lua, HAProxy, wrk, gcc), two cores and nothing else running. The raw samples are left in \`tmp/bench\`. [bench/README.md](../bench/README.md) says how it works.
`
}
