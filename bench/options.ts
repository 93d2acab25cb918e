/** Reads the bench's command line, and derives durations, rounds, workloads and gateways from it. */
import { parseArgs } from 'node:util'

export const WORKLOADS = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8'] as const
export type WorkloadName = (typeof WORKLOADS)[number]

export interface Options {
  workloads: WorkloadName[]
  /** Gateways by name, in the order of the first round; `tollgate:DIR` is another checkout. */
  gateways: string[]
  rounds: number
  /** Length of one measured phase, seconds. */
  seconds: number
  quick: boolean
  /** Number of small requests sent before anything is measured; of larger requests a part of it is sent. */
  warmRequests: number
  /** Whether this run may replace the published page. */
  publish: boolean
}

export const HELP = `npm run bench -- [options]
  --only w1,w3          workloads: ${WORKLOADS.join(' ')} (default: all)
  --gateways a,b        direct, haproxy, pump (bytes, on Tollgate's runtime), portkey, tollgate,
                        tollgate:DIR (another checkout), peer:FILE (below);
                        behind tollgate may stand ?keys=N&channels=N&workers=N
  --rounds N            interleaved rounds (default 3)
  --seconds N           length of one measured phase (default 10)
  --quick               phases of 3 s, a tenth of the warm-up, no fixed-rate phase, 3 cold starts
  --publish             write docs/benchmarks.md also after a partial run
A run of everything writes docs/benchmarks.md; any other prints its table only.
peer:FILE is any gateway whose program stands on this machine; bench/README.md says what its file has.`

function list(text: string | undefined, whole: readonly string[]): string[] {
  return text === undefined ? [...whole] : text.split(',').filter((name) => name !== '')
}

function positive(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`--${name}: a whole number of 1 or more is wanted, not ${JSON.stringify(text)}`)
  }
  return value
}

function workload(name: string): WorkloadName {
  const known = WORKLOADS.find((candidate) => candidate === name)
  if (known === undefined) {
    throw new Error(`--only: unknown workload ${name} (known: ${WORKLOADS.join(', ')})`)
  }
  return known
}

/** Reads the arguments after `--`; undefined when help was asked. Throws an Error naming the option at fault. */
export function readOptions(argv: string[]): Options | undefined {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: 'string' },
      gateways: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const partial = values.only !== undefined || values.gateways !== undefined || values.quick
  return {
    workloads: list(values.only, WORKLOADS).map(workload),
    gateways: list(values.gateways, ['direct', 'haproxy', 'portkey', 'tollgate']),
    rounds: positive('rounds', values.rounds, 3),
    seconds: positive('seconds', values.seconds, values.quick ? 3 : 10),
    quick: values.quick,
    warmRequests: values.quick ? 3_000 : 30_000,
    publish: values.publish || !partial,
  }
}
