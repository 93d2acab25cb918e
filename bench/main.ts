/** The benchmark: starts the mock, runs every gateway in interleaved rounds, and reports. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { addAddedLatency, type Sample } from './figures.ts'
import { findGateways, type Gateway, makeDataFolder } from './gateways.ts'
import { type Mock, makeRoutes, startMock } from './mock.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { guardProcess, machineTimes, untilQuiet } from './processes.ts'
import { busyText, page, plainTable, type Run, tableRows, verdictRows } from './report.ts'
import { installTools } from './setup.ts'
import { Sent, usageDifferences } from './usage.ts'
import { freePort } from './wait.ts'
import { type Bench, checkSamples, type LoadName, runWorkload } from './workloads.ts'

const root = resolve(import.meta.dirname, '..')
const rig = join(import.meta.dirname, 'rig')

interface Context {
  options: Options
  mock: Mock
  streamsProgram: string
  folder: string
  samples: Sample[]
  failures: string[]
  notes: Set<string>
}

/** Ten starts on data that exists already, each to its first 200. */
async function coldStarts(context: Context, gateway: Gateway, round: number): Promise<void> {
  if (gateway.name === 'direct') return
  const data = makeDataFolder(context.folder, `${gateway.name}-${round}-start`)
  const first = await gateway.start(data)
  await first.stop()
  for (let start = 0; start < (context.options.quick ? 3 : 10); start++) {
    const running = await gateway.start(data)
    await running.stop()
    const figures = { 'w6.readyMs': running.readyMs }
    context.samples.push({ gateway: gateway.name, round, figures })
  }
}

/** One fresh process of a gateway through some workloads, its usage rows counted at the end. */
async function measure(
  context: Context,
  gateway: Gateway,
  round: number,
  workloads: LoadName[],
): Promise<void> {
  if (workloads.length === 0) return
  const data = makeDataFolder(context.folder, `${gateway.name}-${round}-${workloads[0]}`)
  const running = await gateway.start(data)
  const fail = (what: string) => {
    const text = `${gateway.label}, round ${round}: ${what}`
    console.log(`  ! ${text}`)
    // A peer's losses are only reported; ours, and those of HAProxy and the direct column, make the run fail.
    if (gateway.strict) context.failures.push(text)
    else context.notes.add(text)
  }
  const { options, mock, streamsProgram } = context
  const sent = new Sent()
  const bench: Bench = { options, rig, streamsProgram, mock, gateway, running, sent, fail }
  try {
    if (running.pid !== undefined) await untilQuiet(running.pid)
    if (!workloads.includes('w4')) await checkSamples(bench)
    for (const workload of workloads) {
      const figures = await runWorkload(workload, bench)
      context.samples.push({ gateway: gateway.name, round, figures })
      const shown = Object.entries(figures).map(([id, value]) => `${id} ${value.toFixed(1)}`)
      if (shown.length > 0) console.log(`  ${gateway.label} ${shown.join(', ')}`)
    }
    if (gateway.checkout !== undefined) {
      const wrong = await usageDifferences(gateway.checkout, data, sent)
      for (const difference of wrong) fail(`usage: ${difference}`)
      if (wrong.length === 0) console.log(`  usage rows agree with ${sent.total()} requests`)
    }
  } catch (error) {
    // It ended or stopped answering: the other columns are still useful.
    const log = join(data, 'server.log')
    const said = existsSync(log) ? readFileSync(log, 'utf8').slice(-1000) : ''
    const { pid } = running
    const what =
      pid !== undefined && !existsSync(`/proc/${pid}`) ? 'the gateway ended' : 'broke off'
    fail(`${workloads.join(', ')}: ${what}: ${error}\n${said}`)
  } finally {
    await running.stop()
    rmSync(data, { recursive: true })
  }
}

async function runRounds(context: Context, gateways: Gateway[]): Promise<void> {
  const { workloads, rounds } = context.options
  const loads = workloads.filter((name) => name !== 'w6' && name !== 'w4')
  for (let round = 1; round <= rounds; round++) {
    const order = round % 2 === 1 ? gateways : gateways.toReversed()
    console.log(`Round ${round} of ${rounds}: ${order.map(({ label }) => label).join(', ')}`)
    for (const gateway of order) {
      if (workloads.includes('w6')) await coldStarts(context, gateway, round)
      // Memory is read on a process that has served nothing else.
      if (workloads.includes('w4')) await measure(context, gateway, round, ['w4'])
      await measure(context, gateway, round, loads)
    }
  }
}

function report(run: Run, failures: string[]): void {
  const folder = join(root, 'tmp/bench')
  mkdirSync(folder, { recursive: true })
  const raw = join(folder, `${run.date.replaceAll(':', '-')}.json`)
  writeFileSync(raw, `${JSON.stringify({ ...run, failures }, null, 2)}\n`)
  console.log(`\n${plainTable(tableRows(run))}\n`)
  const verdicts = verdictRows(run)
  if (verdicts.length > 1) console.log(`${plainTable(verdicts)}\n`)
  console.log(`Busy: ${busyText(run)}`)
  for (const reason of run.missing) console.log(`Left out: ${reason}`)
  for (const note of run.notes) console.log(`Note: ${note}`)
  for (const failure of failures) console.log(`FAILED: ${failure}`)
  const ours = run.columns.some(({ name }) => name.startsWith('tollgate'))
  if (run.options.publish && ours && failures.length === 0) {
    mkdirSync(join(root, 'docs'), { recursive: true })
    writeFileSync(join(root, 'docs/benchmarks.md'), page(run))
    console.log('Written: docs/benchmarks.md')
  }
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) {
    console.log(HELP)
    return 0
  }
  guardProcess()
  const cache = join(root, 'node_modules/.cache/bench')
  const tools = installTools(join(rig, 'streams.c'), cache, options.gateways)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  // Twice as many events as requests, over 200 streams.
  const routes = makeRoutes(options.seconds, options.warmRequests / 100)
  const mock = await startMock(rig, join(folder, 'mock'), await freePort(), routes)
  const gateways = findGateways(options.gateways, root, mock, tools)
  const context: Context = {
    options,
    mock,
    streamsProgram: tools.streams,
    folder,
    samples: [],
    failures: [],
    notes: new Set(),
  }
  const [loadBefore = 0] = loadavg()
  const before = machineTimes()
  await runRounds(context, gateways)
  const after = machineTimes()
  const all = after.all - before.all
  const busyShare = 1 - (after.idle - before.idle) / all
  const stolenShare = (after.stolen - before.stolen) / all
  await mock.stop()
  addAddedLatency(context.samples)
  const run: Run = {
    date: new Date().toISOString().slice(0, 19),
    options,
    columns: gateways.map(({ name, label }) => ({ name, label })),
    samples: context.samples,
    missing: tools.missing,
    notes: [...context.notes],
    versions: tools.versions,
    busy: { loadBefore, busyShare, stolenShare },
  }
  report(run, context.failures)
  return context.failures.length === 0 ? 0 : 1
}

process.exit(await main())
