// `tollgate mail`: tests whether the configured mail server accepts mail.

import { type Command, UsageError } from './command.ts'
import { printJson, say } from './output.ts'
import { loadFor } from './settings.ts'

export const mailTest: Command = {
  name: 'mail test',
  words: [],
  summary: 'send a mail through the configured server, and show its reply',
  options: {
    to: { type: 'string', value: 'ADDRESS', help: 'who gets it' },
  },
  async run(context) {
    const to = context.flags.text('to')
    if (to === undefined) throw new UsageError('name the recipient: --to ADDRESS')
    const { smtp } = await loadFor(context)
    if (smtp === null) throw new Error('the configuration has no mail server: see smtp')
    const { MailNotSent, openMailer } = await import('../upstream/mail.ts')
    const mailer = await openMailer(smtp)
    const failure = await mailer.send({ to, subject: 'A test by tollgate', text }).then(
      () => null,
      (error: unknown) => {
        if (error instanceof MailNotSent) return `${error.message}: ${error.detail}`
        throw error
      },
    )
    if (context.json) await printJson({ to, ok: failure === null, failure })
    else say(failure === null ? `${smtp.host} accepted a mail to ${to}.` : `Not sent: ${failure}`)
    return failure === null ? undefined : 1
  },
}

const text = 'This is a test: this deployment can send mail.\n'
