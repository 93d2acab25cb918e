// Tests a gateway that is stopped while its disk is full: it says how many requests it could not record.

import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { chat, deploy, expectCleanAudit } from '../support/deployment.ts'

const place = makeDirectory()
const isMounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', place.path]).status === 0
if (!isMounted) console.log('left out: a full disk, which needs a file system that may be mounted')
afterAll(() => {
  if (isMounted) spawnSync('umount', ['-l', place.path])
  place.remove()
})

/** Fills the disk to the last byte. */
function fill(file: string): void {
  const written = spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M'])
  expect(written.stderr.toString()).toContain('No space left')
  spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1', 'oflag=append', 'conv=notrunc'])
}

test.skipIf(!isMounted)(
  'the exit code is 1, and the log counts what is lost',
  async () => {
    const dataDir = join(place.path, 'data')
    const filler = join(place.path, 'filler')
    const deployment = await deploy({ databaseUrl: null, dataDir, credits: { acme: '10' } })
    try {
      const server = await deployment.start()
      const answered: string[] = []
      const ask = async () => {
        const { status, requestId } = await chat(server.url, 'acme', { model: 'sandbox/chat' })
        if (status === 200) answered.push(requestId)
        return status
      }
      expect(await ask()).toBe(200)
      writeFileSync(filler, '')
      fill(filler)
      while ((await ask()) === 200);
      server.signal('SIGTERM')
      expect(await server.exited).toBe(1)
      const lost = /records of (\d+) requests are lost/.exec(server.stderr)?.[1]
      rmSync(filler)
      const again = await deployment.start()
      const rows = await deployment.store.usage.list({ limit: 100_000 })
      const known = new Set(rows.map(({ requestId }) => requestId))
      const missing = answered.filter((id) => !known.has(id)).length
      // Refused requests have records as well.
      expect(Number(lost)).toBeGreaterThanOrEqual(Math.max(1, missing))
      await again.kill()
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
    }
  },
  60_000,
)
