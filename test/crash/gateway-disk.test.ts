// Tests a gateway whose disk fills up and is freed again: nobody is served without a record, and no record is lost.

import { afterAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import {
  chat,
  codeOf,
  deploy,
  engineCases,
  expectBalances,
  expectCleanAudit,
} from '../support/deployment.ts'

const place = makeDirectory()
const isMounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', place.path]).status === 0
if (!isMounted) console.log('left out: a full disk, which needs a file system that may be mounted')
afterAll(() => {
  if (isMounted) spawnSync('umount', ['-l', place.path])
  place.remove()
})

const hello = { model: 'sandbox/chat+tokens=2' }
const mostRequests = 20_000

/** Fills the disk to the last byte. */
function fill(file: string): void {
  for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    }
  }
}

describe.each(isMounted ? engineCases : [])(
  'P4: a full disk, $engine',
  ({ engine, databaseUrl }) => {
    test('503 while it is full; served again by itself; every reply is charged once', async () => {
      const dataDir = join(place.path, engine)
      const deployment = await deploy({ databaseUrl, dataDir, credits: { acme: '1000' } })
      try {
        const server = await deployment.start()
        const answered: string[] = []
        const ask = async () => {
          const outcome = await chat(server.url, 'acme', hello)
          if (outcome.status === 200) answered.push(outcome.requestId)
          return outcome
        }
        for (let n = 0; n < 20; n += 1) expect((await ask()).status).toBe(200)
        const filler = join(place.path, 'filler')
        fill(filler)
        let refused = await ask()
        for (let n = 0; n < mostRequests && refused.status === 200; n += 1) refused = await ask()
        expect([refused.status, codeOf(refused)]).toEqual([503, 'service_unavailable'])
        const whileFull = answered.length - 20
        expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
        expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
        rmSync(filler)
        const freedMs = performance.now()
        await eventually(async () => ((await ask()).status === 200 ? true : undefined), 15_000)
        const againMs = performance.now() - freedMs
        server.signal('SIGTERM')
        expect(await server.exited).toBe(0)
        const rows = await expectBalances(deployment, { acme: 1_000_000_000_000n })
        const charged = rows.filter(({ chargeNano }) => chargeNano > 0n)
        expect(charged.map(({ requestId }) => requestId).sort()).toEqual(answered.sort())
        await expectCleanAudit(deployment)
        console.log(
          `${engine}: ${whileFull} requests answered on the full disk, then 503; served again ${Math.round(againMs)} ms after it had room`,
        )
      } finally {
        await deployment.remove()
      }
    }, 120_000)
  },
)
