/** Finds free ports, and waits for a started server's first 200. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Spawned } from './processes.ts'

const START_LIMIT_MS = 60_000

/** A port of 127.0.0.1 that nothing listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port)
        else reject(new Error('no port was given'))
      })
    })
  })
}

async function answers(url: string, headers: Record<string, string>): Promise<boolean> {
  try {
    const reply = await fetch(url, { headers, keepalive: false })
    await reply.arrayBuffer()
    return reply.status === 200
  } catch {
    return false // refused: the server does not listen yet
  }
}

/**
 * Milliseconds from `begin` (performance.now) until `url` first answered 200. Throws with the end of the log if the
 * process ended or took a minute.
 */
export async function untilAnswers(
  server: Spawned,
  url: string,
  headers: Record<string, string>,
  log: string,
  begin = performance.now(),
): Promise<number> {
  let ended = false
  server.exited.then(
    () => {
      ended = true
    },
    () => {
      ended = true
    },
  )
  for (;;) {
    if (await answers(url, headers)) return performance.now() - begin
    const spent = performance.now() - begin
    if (ended || spent > START_LIMIT_MS) {
      const why = ended ? 'ended before it answered' : 'did not answer within a minute'
      throw new Error(`the server at ${url} ${why}:\n${readFileSync(log, 'utf8').slice(-2000)}`)
    }
    await sleep(1)
  }
}
