// Tests S23: the time that a request takes does not grow with the square of what its client writes.

import { expect, test } from 'bun:test'
import { deploy, keyOf } from '../support/deployment.ts'

test("S23: a member of Google's format whose name is a long row of underscores", async () => {
  const deployment = await deploy({ databaseUrl: null, credits: { acme: '1' } })
  try {
    const { url } = await deployment.start()
    const contents = [{ parts: [{ text: 'Hello' }] }]
    const reply = await fetch(`${url}/v1beta/models/sandbox%2Fchat:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': keyOf('acme'), 'content-type': 'application/json' },
      body: JSON.stringify({ contents, [`${'_'.repeat(400_000)}!`]: 1 }),
    })
    expect(reply.status).toBe(200)
  } finally {
    await deployment.remove()
  }
})
