// The log: JSON lines on stderr, collected and written off the hot path, without secrets.

import { redacted, scrub } from './scrub.ts'
import type { Sink } from './sink.ts'
import { createSink } from './sink.ts'

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type LogFields = Readonly<Record<string, unknown>>

export interface Log {
  trace(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** The last line of a process that cannot continue: written before the call returns. */
  fatal(fields: LogFields, message: string): void
  /** A log whose every line carries these fields too. */
  child(fields: LogFields): Log
  readonly lines: LogLines
  readonly output: LogOutput
}

/** For lines written at every request. */
interface LogLines {
  /** Whether lines of a level are written: to be asked before fields are collected at a cost. */
  writes(level: Exclude<LogLevel, 'silent'>): boolean
  /** Writes an `info` line of JSON members, `"a":1,"b":"c"`, unredacted: the caller must keep secrets out. */
  members(members: string, message: string): void
}

/** The output of all lines of a process, its child logs included. */
interface LogOutput {
  /** Characters waiting to be written. */
  readonly pending: number
  /** Lines lost so far because the reader did not keep up. */
  readonly dropped: number
  /** Writes what is waiting, blocking. */
  flush(): void
}

interface LogOptions {
  readonly level: LogLevel
  /** File descriptor; stderr by default. */
  readonly fd?: number
  /** The number of this process, if several write to one reader: it is in every line, and lines are written whole. */
  readonly worker?: number | null
  /** The name of the machine, in every line where it is given. */
  readonly node?: string
}

/** Fields whose value is never written, at any depth. */
const secretFields: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'api_key',
  'apikey',
  'cookie',
  'set-cookie',
  'key',
  'secret',
  'token',
  'access_token',
  'refresh_token',
  'password',
])
const deepest = 6

/**
 * A log of JSON lines with `ts` (RFC 3339, milliseconds), `level`, `msg` and the given fields. Waiting lines are
 * written when the process exits.
 */
export function createLog({ level, fd = 2, worker = null, node }: LogOptions): Log {
  const sink = createSink(fd, { shared: worker !== null })
  const base = { ...(node !== undefined && { node }), ...(worker !== null && { worker }) }
  const shared = { level, lead: membersOf(base) }
  process.on('exit', () => sink.flush())
  return wrap(shared.lead, shared, sink)
}

const ranks = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, silent: 100 } as const

interface Shared {
  readonly level: LogLevel
  /** JSON members at the beginning of every line of the process. */
  readonly lead: string
}

/** `lead`: JSON members at the beginning of every line of this log. */
function wrap(lead: string, shared: Shared, sink: Sink): Log {
  const writes = (level: Exclude<LogLevel, 'silent'>) => ranks[level] >= ranks[shared.level]
  const write = (level: string, fields: LogFields, message: string) => {
    const members = `${lead}${membersOf(redact(fields, 0))}`
    const text = JSON.stringify(scrub(message))
    sink.write(`{"level":"${level}","ts":"${isoNow()}",${members}"msg":${text}}\n`)
  }
  const line =
    (level: Exclude<LogLevel, 'silent'>) =>
    (fields: LogFields, message: string): void => {
      if (writes(level)) write(level, fields, message)
    }
  return {
    trace: line('trace'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    fatal(fields, message) {
      if (shared.level !== 'silent') write('fatal', fields, message)
      sink.flush()
    },
    child: (fields) => wrap(lead + membersOf(redact(fields, 0)), shared, sink),
    lines: {
      writes,
      members(members, message) {
        if (!writes('info')) return
        sink.write(
          `{"level":"info","ts":"${isoNow()}",${shared.lead}${members},"msg":"${message}"}\n`,
        )
      },
    },
    output: {
      get pending() {
        return sink.pending
      },
      get dropped() {
        return sink.dropped
      },
      flush: () => sink.flush(),
    },
  }
}

/** The fields as JSON members, each with a comma behind it; values that JSON cannot express are left out. */
function membersOf(fields: LogFields): string {
  let members = ''
  for (const [name, value] of Object.entries(fields)) {
    const text: string | undefined = JSON.stringify(value)
    if (text !== undefined) members += `${JSON.stringify(name)}:${text},`
  }
  return members
}

let lastMs = -1
let lastIso = ''

/** Cached: many lines fall into one millisecond, and formatting costs more than the rest of a line. */
function isoNow(): string {
  const nowMs = Date.now()
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastIso = new Date(nowMs).toISOString()
  }
  return lastIso
}

/** Hides secrets by the name of their field and by their form, in one pass. */
function redact(fields: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {}
  for (const name in fields) {
    const value = fields[name]
    if (isSecret(name)) clean[name] = redacted
    else clean[name] = typeof value === 'object' ? redactObject(value, depth) : plain(value)
  }
  return clean
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return scrub(value)
  return typeof value === 'bigint' ? String(value) : value
}

function redactObject(value: object | null, depth: number): unknown {
  if (value === null) return null
  if (depth >= deepest) return '[deep]'
  if (value instanceof Error) return redactError(value, depth)
  if (Array.isArray(value))
    return value.map((each: unknown) =>
      typeof each === 'object' ? redactObject(each, depth + 1) : plain(each),
    )
  if (value instanceof Date) return value.toISOString()
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  return redact({ ...value }, depth + 1)
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error
  const more = {
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause }),
  }
  const text = { type: name, message, ...(stack !== undefined && { stack }) }
  return redact({ ...text, ...more }, depth + 1)
}

function isSecret(name: string): boolean {
  return secretFields.has(name) || (hasUpper.test(name) && secretFields.has(name.toLowerCase()))
}

const hasUpper = /[A-Z]/
