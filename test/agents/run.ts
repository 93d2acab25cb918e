// Runs every agent against every vendor format in every case, prints the results, and writes them to a file (`npm run
// test:agents`).

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Agent, agents } from './agents.ts'
import { type Case, cases, scriptOf } from './cases.ts'
import { type Outcome, runOne, stopVendor } from './run-one.ts'
import { type Format, formats } from './vendor.ts'

const page = join(import.meta.dir, '../../docs/conformance-agents.md')

const { values } = parseArgs({
  options: {
    installed: { type: 'string' },
    /** The packages that could not be installed, as JSON: package to reason. */
    'left-out': { type: 'string', default: '{}' },
    agent: { type: 'string', multiple: true, default: [] },
    format: { type: 'string', multiple: true, default: [] },
    case: { type: 'string', multiple: true, default: [] },
    parallel: { type: 'string', default: '3' },
    verbose: { type: 'boolean', default: false },
  },
})
const { installed } = values
if (installed === undefined) throw new Error('run by `npm run test:agents`')
const leftOut = JSON.parse(values['left-out']) as Readonly<Record<string, string>>

interface Job {
  readonly agent: Agent
  readonly format: Format
  readonly each: Case
}

const wanted = (names: readonly string[], name: string) =>
  names.length === 0 || names.includes(name)
const here = agents.filter((agent) => leftOut[agent.package] === undefined)
const jobs: readonly Job[] = here
  .filter(({ name }) => wanted(values.agent, name))
  .flatMap((agent) =>
    formats
      .filter(({ id }) => wanted(values.format, id))
      .flatMap((format) =>
        cases
          .filter(({ name, picture }) => wanted(values.case, name) && !(picture && !agent.sees))
          .map((each) => ({ agent, format, each })),
      ),
  )

const keyOf = ({ agent, format, each }: Job) => `${agent.name} / ${format.id} / ${each.name}`
const results = new Map<string, string | null>()

async function worker(queue: Job[], into: string): Promise<void> {
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
    const fault = await result(job, into)
    results.set(keyOf(job), fault)
    console.log(
      `${fault === null ? 'ok    ' : 'FAILED'} ${keyOf(job)}${fault === null ? '' : `: ${fault}`}`,
    )
  }
}

async function result({ agent, format, each }: Job, into: string): Promise<string | null> {
  let outcome: Outcome
  try {
    outcome = await runOne({
      agent,
      format,
      script: scriptOf(each, agent),
      prompt: each.prompt,
      picture: each.picture === true,
      cancels: each.cancels === true,
      limitMs: each.limitMs,
      installed: into,
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const fault = each.fault(outcome, agent)
  if (values.verbose || fault !== null) {
    const { exitCode, durationMs, output, gatewayLog, statuses } = outcome
    console.log(
      `--- ${agent.name} / ${format.id} / ${each.name}: ended with ${exitCode} after ${Math.round(durationMs)} ms, statuses ${statuses.join(', ')}`,
    )
    console.log(output.slice(-3_000))
    if (gatewayLog !== '') console.log(`--- the gateway's log\n${gatewayLog.slice(-2_000)}`)
  }
  return fault
}

const queue = [...jobs]
await Promise.all(Array.from({ length: Number(values.parallel) }, () => worker(queue, installed)))
await stopVendor()

function tables(): string {
  const head = ['agent', ...formats.map(({ id }) => id)]
  return cases
    .map(({ name, about }) => {
      const rows = here.map((agent) => [
        agent.name,
        ...formats.map((format) => cell(`${agent.name} / ${format.id} / ${name}`)),
      ])
      const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
      return `## ${name}\n\n${about[0]?.toUpperCase()}${about.slice(1)}.\n\n${lines.join('\n')}\n`
    })
    .join('\n')
}

function cell(key: string): string {
  const found = results.get(key)
  if (found === undefined) return 'not tried'
  return found === null ? 'works' : 'fails'
}

function written(): string {
  const { npm, python } = JSON.parse(
    readFileSync(join(import.meta.dir, 'versions.json'), 'utf8'),
  ) as Record<'npm' | 'python', Record<string, string>>
  const versions = Object.entries({ ...npm, ...python }).map(
    ([name, version]) => `${name} ${version}`,
  )
  const out = Object.entries(leftOut).map(([name, why]) => `Left out: ${name}, ${why}.\n`)
  return [
    '# Coding agents\n',
    'Each agent, as it is installed and with its default tools, works through a gateway on a scripted vendor of each format. Not tried: pictures with agents that attach none when they run by themselves. Written by `npm run test:agents`.\n',
    `${versions.join(', ')}.\n`,
    ...out,
    tables(),
  ].join('\n')
}

console.log(tables())
const failed = [...results].filter(([, fault]) => fault !== null)
if (
  results.size === jobs.length &&
  values.agent.length + values.format.length + values.case.length === 0
) {
  writeFileSync(page, written())
}
console.log(`${results.size - failed.length} passed, ${failed.length} failed`)
for (const [key, fault] of failed) console.log(`FAILED ${key}: ${fault}`)
process.exit(failed.length > 0 ? 1 : 0)
