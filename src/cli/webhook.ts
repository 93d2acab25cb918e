// `tollgate webhook`: whether a webhook of operators takes what is posted to it.

import type { Command } from './command.ts'
import { printJson, say } from './output.ts'
import { loadFor } from './settings.ts'

const bounds = { maxBytes: 65_536, timeoutMs: 10_000 }
const reasonBytes = 300

export const webhookTest: Command = {
  name: 'webhook test',
  words: ['ID'],
  summary: 'post a signed test to a webhook of the configuration, and say what its server answered',
  options: {},
  async run(context) {
    const [id = ''] = context.words
    const { webhooks } = await loadFor(context)
    const webhook = webhooks.find((each) => each.id === id)
    if (webhook === undefined) {
      const known = webhooks.map((each) => each.id).join(', ')
      throw new Error(`the configuration names no webhook ${id}: it has ${known || 'none'}`)
    }
    const [{ testPost }, { signedFields }, { postBytes, NotFetched }, { createDialer }] =
      await Promise.all([
        import('../admin/operator-events.ts'),
        import('../admin/webhook-signature.ts'),
        import('../safe-fetch/safe-fetch.ts'),
        import('../upstream/dial.ts'),
      ])
    const { url, secret } = webhook
    const dialer = createDialer()
    const body = testPost(webhook, context.nowMs)
    const fields = signedFields(body, secret, context.nowMs)
    const post = { body: Buffer.from(body), fields, reasonBytes }
    const failure = await postBytes({ dialer, ...bounds, home: new URL(url).origin }, url, post)
      .then(
        () => null,
        (error: unknown) => {
          if (error instanceof NotFetched) return error.message
          throw error
        },
      )
      .finally(() => dialer.close())
    if (context.json) await printJson({ id, ok: failure === null, failure })
    else say(failure === null ? `${id} took a test.` : `Not taken: ${failure}`)
    return failure === null ? undefined : 1
  },
}
