// The section of the file on the mail server.

import { z } from 'zod'
import { checkedText, choice, key, secretText, section, text, wholeNumber } from './schema-parts.ts'

const usualPorts = { implicit: 465, starttls: 587, none: 25 } as const

const mailbox = /^[^\s@<>,;:"]{1,64}@[^\s@<>,;:"]{1,255}$/

function isSender(value: string): boolean {
  const address = /^[^<>]*<([^<>]*)>$/.exec(value)?.[1] ?? value
  return mailbox.test(address)
}

export const smtp = section({
  host: text().meta({ description: 'Host name or address of the mail server.' }),
  port: key(
    wholeNumber(1, 65_535),
    'Port of the mail server; left out: 465, 587 or 25 if tls is implicit, starttls or none.',
  ),
  tls: key(
    choice(['implicit', 'starttls', 'none']),
    'Encryption: implicit: TLS from the first byte; starttls: STARTTLS, without which nothing is sent; none: unencrypted.',
    'starttls',
  ),
  ca: key(
    z
      .string('expected text, or { file: PATH }')
      .max(65_536, 'expected at most 65536 characters')
      .meta({ fromFile: true }),
    "CA certificates, PEM, for checking the server's certificate; left out: those that the system trusts.",
  ),
  user: key(
    text(),
    'User name for signing in to the mail server, with password; left out: no sign-in.',
  ),
  password: key(secretText(), 'Password of user.'),
  from: checkedText('expected an address such as "Tollgate <no-reply@example.com>"', isSender).meta(
    { description: 'Sender of mail: an address, or Name <address>.' },
  ),
})
  .refine(({ user, password }) => (user === null) === (password === null), {
    path: ['password'],
    error: 'must be set together with user',
  })
  .refine(({ tls, password }) => tls !== 'none' || password === null, {
    path: ['tls'],
    error: 'would send the password unencrypted: expected implicit or starttls',
  })
  .transform((settings) => ({ ...settings, port: settings.port ?? usualPorts[settings.tls] }))
