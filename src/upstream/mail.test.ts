// Tests mail with a real mail server that accepts, refuses, postpones, or does not answer.

import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { makeCertificates } from '../../test/support/certificates.ts'
import { startSmtpServer } from '../../test/support/smtp-server.ts'
import type { SmtpSettings } from '../config/types.ts'
import { MailNotSent, openMailer } from './mail.ts'

const certificates = makeCertificates()
const ca = readFileSync(certificates.authorityFile, 'utf8')
afterAll(() => certificates.remove())

const plain: Omit<SmtpSettings, 'port'> = {
  host: '127.0.0.1',
  tls: 'none',
  ca: null,
  user: null,
  password: null,
  from: 'Tollgate <no-reply@gateway.example>',
}
const mail = { to: 'ann@example.com', subject: '余额不足', text: 'Low.\n.\nEnd.\n' }

async function refusalOf(settings: SmtpSettings, waitMs?: number): Promise<MailNotSent> {
  const mailer = await openMailer(settings, waitMs)
  const error = await mailer.send(mail).catch((each: unknown) => each)
  if (error instanceof MailNotSent) return error
  throw new Error(`not refused: ${String(error)}`)
}

test('a mail arrives whole, in its language, marked as sent by a program', async () => {
  await using server = await startSmtpServer()
  await (await openMailer({ ...plain, port: server.port })).send(mail)
  expect(server.taken).toMatchObject([
    { from: 'no-reply@gateway.example', to: ['ann@example.com'], isEncrypted: false },
  ])
  const { data } = server.taken[0] ?? { data: '' }
  const subject = Buffer.from(mail.subject).toString('base64')
  expect(data).toContain(`Subject: =?UTF-8?B?${subject}?=`)
  expect(data).toContain('From: Tollgate <no-reply@gateway.example>')
  expect(data).toContain('Auto-Submitted: auto-generated')
  expect(data).toContain('Content-Type: text/plain; charset=utf-8')
  expect(data).toContain('\nLow.\n..\nEnd.')
})

test('nothing that is sent makes a header or a recipient of its own', async () => {
  await using server = await startSmtpServer()
  const mailer = await openMailer({ ...plain, port: server.port })
  await mailer.send({ ...mail, subject: 'a\r\nBcc: eve@example.com\r\n\r\nb' })
  const wrong = mailer.send({ ...mail, to: 'ann@example.com>\r\nRCPT TO:<eve@example.com' })
  await wrong.catch(() => undefined)
  for (const { data, to } of server.taken) {
    expect(data).not.toMatch(/^Bcc:/im)
    expect(to).not.toContain('eve@example.com')
  }
  expect(server.taken.length).toBeGreaterThan(0)
})

test('with STARTTLS nothing but the greeting is said in the clear, and a password never', async () => {
  const login = { user: 'gateway', password: 'not-for-everyone' }
  await using server = await startSmtpServer({ secure: certificates.valid, login })
  const settings: SmtpSettings = { ...plain, ...login, tls: 'starttls', ca, port: server.port }
  await (await openMailer(settings)).send(mail)
  expect(server.taken).toMatchObject([{ isEncrypted: true, user: 'gateway' }])
  expect(server.clear.map((line) => line.split(' ')[0])).toEqual(['EHLO', 'STARTTLS'])
  const denied = await refusalOf({ ...settings, password: 'another-one' })
  expect(denied.message).toBe('the mail server refused the login')
  expect(`${denied.message} ${denied.detail}`).not.toContain('another-one')
  expect(denied.isFinal).toBeFalse()
})

test('without STARTTLS, or with a certificate of nobody, nothing is told', async () => {
  await using bare = await startSmtpServer()
  await using strange = await startSmtpServer({ secure: certificates.selfSigned })
  for (const { port } of [bare, strange]) {
    const refused = await refusalOf({ ...plain, tls: 'starttls', ca, port })
    expect(refused.isFinal).toBeFalse()
  }
  expect([bare.taken, strange.taken]).toEqual([[], []])
  expect([...bare.clear, ...strange.clear].join('\n')).not.toContain('MAIL')
})

test('a server that puts off, refuses, is silent or gone: each is told apart', async () => {
  await using busy = await startSmtpServer({ recipients: ['451 later', '250 ok'] })
  const settings = { ...plain, port: busy.port }
  expect(await refusalOf(settings)).toMatchObject({
    message: 'the mail server answered 451',
    isFinal: false,
  })
  await (await openMailer(settings)).send(mail)
  expect(busy.taken).toHaveLength(1)
  await using strict = await startSmtpServer({ recipients: ['550 nobody here'] })
  expect(await refusalOf({ ...plain, port: strict.port })).toMatchObject({
    message: 'the mail server answered 550',
    isFinal: true,
  })
  await using silent = await startSmtpServer({ hangs: true })
  const quiet = await refusalOf({ ...plain, port: silent.port }, 200)
  expect(quiet).toMatchObject({ message: 'the mail server cannot be reached', isFinal: false })
  expect(quiet.detail).toBe('it took too long')
  const { port } = silent
  await silent[Symbol.asyncDispose]()
  expect(await refusalOf({ ...plain, port })).toMatchObject({ isFinal: false })
})
