/** Starts pinned processes, reads their CPU and memory from /proc, and ends each by its id however the bench ends. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export const GATEWAY_CORE = 0
export const LOAD_CORE = 1

export interface Spawned {
  pid: number
  /** Resolves with the exit code, or -1 after a signal. */
  exited: Promise<number>
  /** SIGTERM, then SIGKILL after 5 s. */
  stop(): Promise<void>
}

export interface SpawnOptions {
  core: number
  cwd: string
  /** File that takes standard error, and standard output unless `out` is given. */
  log: string
  out?: string
  env?: Record<string, string>
}

// The kernel ends the child when the bench itself is killed outright.
const tie = ['setpriv', '--pdeathsig', 'KILL']
const alive = new Set<ChildProcess>()
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Pins the bench itself to the load core and makes sure that nothing it started outlives it. */
export function guardProcess(): void {
  execFileSync('taskset', ['-acp', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' })
  process.on('exit', () => {
    for (const child of alive) child.kill('SIGKILL')
  })
  process.on('SIGINT', () => process.exit(130))
  process.on('SIGTERM', () => process.exit(143))
  process.on('SIGHUP', () => process.exit(129))
}

/** Runs a command on one core, with the descriptor limit at its ceiling; the process id is the command's own. */
export function spawnPinned(command: string, args: string[], options: SpawnOptions): Spawned {
  const log = openSync(options.log, 'a')
  const out = options.out === undefined ? log : openSync(options.out, 'w')
  const raise = 'ulimit -n "$(ulimit -Hn)"; exec "$@"'
  const pin = ['taskset', '-c', String(options.core)]
  const child = spawn('sh', ['-c', raise, 'sh', ...pin, ...tie, command, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', out, log],
  })
  closeSync(log)
  if (out !== log) closeSync(out)
  alive.add(child)
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      alive.delete(child)
      resolve(code ?? -1)
    })
  })
  if (child.pid === undefined) throw new Error(`cannot start ${command}`)
  const stop = async () => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 5000)
    await exited
    clearTimeout(late)
  }
  return { pid: child.pid, exited, stop }
}

/** Runs a command on the load core to its end and returns its standard output. Throws with its output on failure. */
export function runOnLoadCore(command: string, args: string[]): Promise<string> {
  const child = spawn('taskset', ['-c', String(LOAD_CORE), ...tie, command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  alive.add(child)
  const out: Buffer[] = []
  const wrong: Buffer[] = []
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes))
  child.stderr.on('data', (bytes: Buffer) => wrong.push(bytes))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      alive.delete(child)
      const text = Buffer.concat(out).toString()
      if (code === 0) resolve(text)
      else reject(new Error(`${command} ended with ${code}: ${text}${Buffer.concat(wrong)}`))
    })
  })
}

function children(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  )
}

function tree(pid: number): number[] {
  return [pid, ...children(pid).flatMap(tree)]
}

/** Fields 3 and later of a stat file; proc(5): they follow the command's closing parenthesis. */
function statFields(path: string): { command: string; fields: string[] } {
  const stat = readFileSync(path, 'utf8')
  const end = stat.lastIndexOf(')')
  return { command: stat.slice(stat.indexOf('(') + 1, end), fields: stat.slice(end + 2).split(' ') }
}

/** Fields 14 to `last` added up: user and system time, and up to 17 those of children that have ended. */
function timeUs(fields: string[], last: number): number {
  const ticks = fields.slice(11, last - 2).reduce((sum, field) => sum + Number(field), 0)
  return (ticks / ticksPerSecond) * 1e6
}

/** CPU time used so far by a process, its threads and its children, in microseconds. */
export function cpuUs(pid: number): number {
  return tree(pid).reduce(
    (sum, each) => sum + timeUs(statFields(`/proc/${each}/stat`).fields, 17),
    0,
  )
}

/** The same for each child separately: the CPU of each of several serving processes. */
export function childrenUs(pid: number): number[] {
  return children(pid).map(cpuUs)
}

export interface ThreadTimes {
  /** The thread that serves requests. */
  mainUs: number
  /** The runtime's worker threads: of them one settles. */
  workersUs: number
}

/** CPU time used so far by threads of a process, in microseconds; the rest is that of the runtime's own threads. */
export function threadTimes(pid: number): ThreadTimes {
  const times: ThreadTimes = { mainUs: 0, workersUs: 0 }
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const { command, fields } = statFields(`/proc/${pid}/task/${thread}/stat`)
    if (Number(thread) === pid) times.mainUs += timeUs(fields, 15)
    else if (command.startsWith('Worker')) times.workersUs += timeUs(fields, 15)
  }
  return times
}

export interface MachineTimes {
  /** Ticks of all cores, of every kind. */
  all: number
  /** Those in which nothing ran. */
  idle: number
  /** Those that the host gave to other virtual machines. */
  stolen: number
}

/** proc(5), /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
export function machineTimes(): MachineTimes {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const ticks = line.split(/ +/).slice(1, 9).map(Number)
  const [, , , idle = 0, waiting = 0, , , stolen = 0] = ticks
  return { all: ticks.reduce((sum, each) => sum + each, 0), idle: idle + waiting, stolen }
}

/** Resident memory of a process and its children, in MB (1e6 bytes). */
export function rssMb(pid: number): number {
  let kib = 0
  for (const each of tree(pid)) {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${each}/status`, 'utf8'))
    kib += Number(line?.[1] ?? 0)
  }
  return (kib * 1024) / 1e6
}

/** Waits until the process has finished the work that the load left behind: under 2 % of the core over half a second. */
export async function untilQuiet(pid: number): Promise<void> {
  const giveUpAt = performance.now() + 30_000
  while (performance.now() < giveUpAt) {
    const before = cpuUs(pid)
    await sleep(500)
    if (cpuUs(pid) - before <= 10_000) return
  }
}
