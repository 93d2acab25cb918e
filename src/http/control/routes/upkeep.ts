// Routes for the upkeep of the data: how to back it up, and the audit, which may take minutes.

import { z } from '@hono/zod-openapi'
import type { Audit } from '../../../admin/audit.ts'
import { AdminError } from '../../../admin/use-case.ts'
import { type ControlRoute, route } from '../route.ts'
import type { Running } from '../running.ts'

const backup = z
  .object({
    engine: z.enum(['sqlite', 'postgres']),
    command: z.string().openapi({ description: 'Shell command to run on the server' }),
    documentation: z.string().openapi({ description: 'Page of the documentation' }),
  })
  .openapi('Backup')

/** Commands, since only the operator of the server may write files on it, not everybody signed in. */
const commands = {
  sqlite: 'tollgate backup FILE',
  postgres: 'pg_dump --format=custom --file=FILE "$DATABASE_URL"',
} as const

const encoder = new TextEncoder()

/** How often the reply says that the audit is still running. */
const beatMs = 5_000

/** Each process runs one audit at a time. */
let underWay = false

/** JSON lines: that the audit runs, every few seconds, and at the end its result or why it failed. */
function auditing(running: Pick<Running, 'audit'>): ReadableStream<Uint8Array> {
  const stop = new AbortController()
  const startedMs = performance.now()
  let beat: ReturnType<typeof setInterval> | undefined
  const ended = () => {
    clearInterval(beat)
    underWay = false
  }
  underWay = true
  return new ReadableStream<Uint8Array>({
    start(stream) {
      const write = (line: object) => stream.enqueue(encoder.encode(`${JSON.stringify(line)}\n`))
      const tell = () =>
        write({ state: 'running', seconds: Math.round((performance.now() - startedMs) / 1_000) })
      const end = (line: object) => {
        ended()
        if (stop.signal.aborted) return
        write(line)
        stream.close()
      }
      tell()
      beat = setInterval(tell, beatMs)
      running.audit(stop.signal).then(
        (audit: Audit) => end({ state: 'done', audit }),
        (error: unknown) =>
          end({ state: 'failed', message: error instanceof Error ? error.message : String(error) }),
      )
    },
    cancel() {
      clearInterval(beat)
      stop.abort()
    },
  })
}

export const upkeepRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/backup',
    id: 'showBackup',
    tag: 'Upkeep',
    summary: 'Get the command that backs up this deployment',
    access: 'auditor',
    reply: backup,
    async run({ admin: { store } }) {
      const { engine } = store
      return {
        body: { engine, command: commands[engine], documentation: 'docs/storage.md#backups' },
      }
    },
  }),
  route({
    method: 'post',
    path: '/api/audit',
    id: 'runAudit',
    tag: 'Upkeep',
    summary: 'Audit the ledger: recompute every balance and total, and report differences',
    description:
      'May take minutes. Answers with lines of JSON: `{"state":"running","seconds":N}` every 5 seconds, and at the ' +
      'end `{"state":"done","audit":{...}}` or `{"state":"failed","message":"..."}`. Stops when the caller ' +
      'disconnects. Each process runs one audit at a time and refuses a second one with 409.',
    access: 'admin',
    produces: ['application/x-ndjson'],
    async run({ services }) {
      if (underWay)
        throw new AdminError('conflict', 'audit', 'another audit is running in this process')
      return new Response(auditing(services.running), {
        headers: { 'content-type': 'application/x-ndjson' },
      })
    },
  }),
]
