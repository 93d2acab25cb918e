// Tests the console where an administrator's change needs a sign-in of just now: the page stays, the change goes
// through after another sign-in.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { hasBrowser, startConsole } from '../support/console.ts'
import { run } from '../support/server-process.ts'

describe.if(hasBrowser)('identity.adminFreshMinutes in the console', () => {
  test('asks to sign in again, keeps what was typed, and saves it then', async () => {
    const folder = makeDirectory()
    const configFile = join(folder.path, 'tollgate.yaml')
    writeFileSync(configFile, JSON.stringify({ identity: { adminFreshMinutes: 5 } }))
    const stage = await startConsole({ words: ['--config', configFile] })
    try {
      const { dataDir, url } = stage.server
      const database = new Database(join(dataDir, 'tollgate.db'))
      database.run('UPDATE session SET created_at = created_at - 301000')
      database.close()
      const page = await stage.open('/admin/groups?make=yes')
      const name = page.getByLabel('Name', { exact: true })
      await name.fill('team')
      await page.getByRole('button', { name: 'Make group' }).click()
      await page.getByRole('heading', { name: 'Sign in again for this change' }).waitFor()
      const opened = page.waitForEvent('popup')
      await page.getByRole('link', { name: 'Sign in in a new tab' }).click()
      const tab = await opened
      await tab.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
      await tab.getByText('tollgate admin link').first().waitFor()
      const link = /\/api\/auth\/link\S+/.exec(await run(dataDir, 'admin', 'link'))?.[0] ?? ''
      await tab.goto(url + link)
      await page.getByRole('button', { name: 'I have signed in' }).click()
      expect(await name.inputValue()).toBe('team')
      await page.getByRole('button', { name: 'Make group' }).click()
      await page.waitForURL(/open=team/)
    } finally {
      await stage.close()
      folder.remove()
    }
  })
})
