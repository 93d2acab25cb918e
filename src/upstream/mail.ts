// Sends mail through the operator's SMTP server, with nodemailer, which is loaded with the first mail.

import type { SmtpSettings } from '../config/types.ts'

export interface Mail {
  /** One address, without a display name. */
  readonly to: string
  readonly subject: string
  /** Plain text; lines end in \n. */
  readonly text: string
}

/** A mail was not sent; the message names no secret, and may be shown to the recipient. */
export class MailNotSent extends Error {
  override readonly name = 'MailNotSent'
  /** The server refused the recipient for good: sending again would fail too. */
  readonly isFinal: boolean
  /** What the server said, or why it could not be reached; only for the operator. */
  readonly detail: string

  constructor(message: string, isFinal: boolean, detail: string) {
    super(message)
    this.isFinal = isFinal
    this.detail = detail
  }
}

export interface Mailer {
  /** Resolves once the server has accepted the mail; throws MailNotSent. */
  send(mail: Mail): Promise<void>
}

/** The longest silence of the server, and the time for a whole mail. */
const quietMs = 10_000
const wholeMs = 20_000

/** Each mail uses its own connection: mails are few. `waitMs`: the time for one mail; shorter in tests. */
export async function openMailer(settings: SmtpSettings, waitMs = wholeMs): Promise<Mailer> {
  const { createTransport } = await import('nodemailer')
  const { host, port, tls, ca, user, password, from } = settings
  return {
    async send({ to, subject, text }) {
      const transport = createTransport({
        host,
        port,
        secure: tls === 'implicit',
        requireTLS: tls === 'starttls',
        ignoreTLS: tls === 'none',
        connectionTimeout: quietMs,
        greetingTimeout: quietMs,
        socketTimeout: quietMs,
        disableFileAccess: true,
        disableUrlAccess: true,
        ...(ca !== null && { tls: { ca } }),
        ...(user !== null && password !== null && { auth: { user, pass: password } }),
      })
      const { promise: late, reject } = Promise.withResolvers<never>()
      const timer = setTimeout(() => reject(new Error('it took too long')), waitMs)
      try {
        const sent = transport.sendMail({
          from,
          to: { name: '', address: to },
          subject,
          text,
          headers: { 'auto-submitted': 'auto-generated' },
        })
        await Promise.race([sent, late])
      } catch (error) {
        throw notSent(error)
      } finally {
        clearTimeout(timer)
        transport.close()
      }
    },
  }
}

function notSent(error: unknown): MailNotSent {
  const {
    message = String(error),
    code = '',
    responseCode,
  } = error as { message?: string; code?: string; responseCode?: number }
  const answered = responseCode === undefined ? null : `the mail server answered ${responseCode}`
  const isFinal = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500
  const said = code === 'EAUTH' ? 'the mail server refused the login' : answered
  return new MailNotSent(said ?? 'the mail server cannot be reached', isFinal, message)
}
