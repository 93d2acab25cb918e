// Tests the audit in a separate process, as the control API runs it.

import { expect, test } from 'bun:test'
import { makeDirectory } from '../../test/contract/databases.ts'
import { openStore } from '../store/open.ts'
import { auditApart } from './audit-apart.ts'

test('it finds what is in the data, says what went wrong, and ends where it is aborted', async () => {
  const directory = makeDirectory()
  const settings = { dataDir: directory.path, databaseUrl: null }
  const { signal } = new AbortController()
  await expect(auditApart(settings, signal)).rejects.toThrow('there is no Tollgate data in')
  const store = await openStore(settings)
  await store.accounts.ensure('ann', 1)
  expect(await auditApart(settings, signal)).toMatchObject({ ok: true, wallets: 1, findings: [] })
  const stop = new AbortController()
  const stopped = auditApart(settings, stop.signal)
  stop.abort()
  await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
  await store.close()
  directory.remove()
})
