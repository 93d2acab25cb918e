// `tollgate webhook`: tests whether an operators' webhook accepts posts.

import type { Command } from './command.ts'
import { printJson, say } from './output.ts'
import { loadFor } from './settings.ts'

export const webhookTest: Command = {
  name: 'webhook test',
  words: ['ID'],
  summary: 'post a signed test to a configured webhook, and show the reply',
  options: {},
  async run(context) {
    const [id = ''] = context.words
    const { webhooks } = await loadFor(context)
    const { testWebhook, webhookNamed } = await import('../admin/webhooks.ts')
    const failure = await testWebhook(webhookNamed(webhooks, id), context.nowMs)
    if (context.json) await printJson({ id, ok: failure === null, failure })
    else say(failure === null ? `${id} took a test.` : `Not taken: ${failure}`)
    return failure === null ? undefined : 1
  },
}
