// Tests a full disk: nothing is admitted, nothing is lost, and everything continues without intervention when there is
// space again.
import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, ledgerScene } from '../support/ledger-node.ts'

const directory = makeDirectory()
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', directory.path]).status === 0
if (!mounted) console.log('left out: a full disk, which needs a file system that may be mounted')

afterAll(() => {
  if (mounted) spawnSync('umount', ['-l', directory.path])
  directory.remove()
})

const requests = 3_000
const filler = join(directory.path, 'filler')

function fillDisk(): void {
  for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
    for (;;) {
      try {
        writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' })
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
        break
      }
    }
  }
}

test.skipIf(!mounted)(
  'P4: admission stops on a full disk and returns with room, nothing lost',
  async () => {
    const scene = await ledgerScene(null, directory.path)
    await scene.deposit('acme', 1_000_000_000n)
    const node = await scene.start()
    const first = await node.hold('acme', 'key_1', 1_000n)
    if ('refused' in first) throw new Error(`refused: ${first.refused}`)
    fillDisk()
    let calls = 0
    for (let index = 0; index < requests; index += 1) {
      const request = finishedRequest({ requestId: `req_${index}`, chargeNano: 1_000n })
      node.finish(index === 0 ? first : null, request, () => {
        calls += 1
      })
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(calls).toBe(requests)
    expect(node.closed).toContain('the outbox cannot be written')
    expect(await node.hold('acme', 'key_1', 1_000n)).toEqual({ refused: 'closed' })
    rmSync(filler)
    await eventually('admission is open again', () => node.closed === null)
    const again = await node.hold('acme', 'key_1', 1_000n)
    expect('refused' in again).toBe(false)
    if (!('refused' in again)) node.release(again)
    expect(await node.drain()).toBe(0)
    expect(await scene.store.usage.list({ limit: requests + 1 })).toHaveLength(requests)
    const wallet = await scene.store.journal.wallet('acme')
    expect(wallet?.postedNano).toBe(1_000_000_000n - 1_000n * BigInt(requests))
    await scene.remove()
  },
  60_000,
)
