// Tests that operators see in a real browser what a vendor was sent next to what the client requested.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { chatReply, json, startUpstream, type Upstream } from '../support/upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-sent-'))
const file = join(folder, 'tollgate.yaml')
/** One dot. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
let stage: ConsoleStage
let upstream: Upstream

afterAll(async () => {
  await stage?.close()
  await upstream?.close()
  rmSync(folder, { recursive: true })
})

if (hasBrowser) {
  beforeAll(async () => {
    upstream = await startUpstream()
    upstream.on('*', [json(200, chatReply('ok'))])
    const channel = {
      ...{ id: 'house', vendor: 'openai-compatible', baseUrl: upstream.url, key: 'sk-house' },
      ...{ models: { chat: 'house-chat' }, parameters: { set: { temperature: 0.25 } } },
    }
    const away = { ...channel, id: 'away', models: { chat: 'x', bare: 'y' }, groups: ['team'] }
    const group = { multiplier: '1', models: ['*'] }
    const config = {
      channels: [channel, away],
      groups: { default: group, team: group },
      models: { chat: { vision: true, prices: { input: '1', output: '2' } } },
      history: { mode: 'full', adminReads: true },
    }
    writeFileSync(file, JSON.stringify(config))
    stage = await startConsole({ words: ['--config', file] })
  })
  test('what a channel changed in a request stands beside what was asked', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const reply = await stage.call({ model: 'chat', temperature: 1, messages })
    expect(reply.status).toBe(200)
    const id = reply.headers.get('x-request-id')
    const page = await stage.open(`/requests?open=${id}&tab=messages`)
    await page.getByRole('button', { name: 'Read it with what vendors were sent' }).click()
    await page.getByText('Sent to vendors', { exact: true }).click()
    await page.getByText('To house, as openai-chat').waitFor()
    const table = page.getByRole('region', { name: 'What differs' })
    const rowOf = (name: string) => table.getByRole('row').filter({ hasText: name })
    expect(await rowOf('temperature').innerText()).toMatch(/temperature\s+1\s+0\.25/)
    expect(await rowOf('model').innerText()).toMatch(/model\s+chat\s+house-chat/)
    expect(await rowOf('messages').count()).toBe(0)
    expect(await seriousFindings(page)).toEqual([])
    expect(stage.faults()).toEqual([])
    await page.close()
  })
  test('a picture is shown to an operator who reads the message of any account', async () => {
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }
    const messages = [{ role: 'user', content: [picture] }]
    const reply = await stage.call({ model: 'chat', messages })
    expect(await reply.text()).toContain('"ok"')
    const id = reply.headers.get('x-request-id')
    const page = await stage.open('/requests')
    const listed = `${stage.server.url}/api/history?id=${id}`
    const items = async () => (await (await page.request.get(listed)).json()).items
    await eventually(async () => (await items()).length > 0 || undefined)
    await page.goto(`${stage.server.url}/console/requests?open=${id}&tab=messages`)
    const picked = page.getByAltText('Image of the message')
    await picked.waitFor()
    // An account's own address would refuse the pictures of others.
    const inspected = page.waitForRequest(`**/api/admin/history/${id}/blobs/*`)
    await page.getByRole('button', { name: 'Read it with what vendors were sent' }).click()
    await inspected
    await picked.waitFor()
    // What could not be loaded is not said to be gone.
    const files = `**/api/history/${id}/blobs/*`
    await page.route(files, (route) => route.abort())
    await page.reload()
    await page.getByText('The gateway cannot be reached. Check your connection.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.unroute(files)
    await page.getByRole('button', { name: 'Try again' }).press('Enter')
    await picked.waitFor()
    await page.route(files, (route) => route.fulfill({ status: 404, body: '' }))
    await page.reload()
    await page.getByText('This file is not kept any more.').waitFor()
    await page.close()
  })
  test('in Chinese the reasons of the server and the roles of a conversation are in Chinese', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const reply = await stage.call({ model: 'chat', messages })
    const id = reply.headers.get('x-request-id')
    const page = await stage.open('/admin/prices?view=missing', { language: 'zh-CN' })
    await page.getByText('没有价格。', { exact: true }).waitFor()
    await page.goto(`${stage.server.url}/console/admin/groups?open=default`)
    await page.getByText('该分组的用户会看到什么？').click()
    const model = page.getByPlaceholder('gpt-4o-mini')
    await model.fill('chat')
    await model.press('Enter')
    await page.getByText('away: 不服务于该分组').waitFor()
    const listed = `${stage.server.url}/api/history?id=${id}`
    const items = async () => (await (await page.request.get(listed)).json()).items
    expect(await eventually(async () => (await items()).length || undefined)).toBe(1)
    await page.goto(`${stage.server.url}/console/requests?open=${id}&tab=messages`)
    for (const name of ['用户', '回答'])
      await page.getByRole('heading', { name, exact: true }).waitFor()
    await page.close()
  })
}
