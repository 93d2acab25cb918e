// A mail server for tests of sending mail (RFC 5321, STARTTLS of RFC 3207), which answers as a test says.

import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'

export interface TakenMail {
  readonly from: string
  readonly to: readonly string[]
  /** As it came, with headers. */
  readonly data: string
  readonly isEncrypted: boolean
  readonly user: string | null
}

interface Answers {
  /** Answers to RCPT; each mail takes the next, the last is repeated. */
  readonly recipients?: readonly string[]
  /** Sends nothing at all. */
  readonly hangs?: boolean
  /** Offers STARTTLS with this key and certificate, PEM. */
  readonly secure?: { readonly key: string; readonly cert: string }
  /** Accepts this user. */
  readonly login?: { readonly user: string; readonly password: string }
}

export interface SmtpServer extends AsyncDisposable {
  readonly port: number
  readonly taken: readonly TakenMail[]
  /** Every line that clients sent unencrypted. */
  readonly clear: readonly string[]
}

export async function startSmtpServer(answers: Answers = {}): Promise<SmtpServer> {
  const taken: TakenMail[] = []
  const clear: string[] = []
  const recipients = [...(answers.recipients ?? ['250 ok'])]
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    if (answers.hangs !== true) {
      const next = () => (recipients.length > 1 ? recipients.shift() : recipients[0]) ?? '250 ok'
      serve(socket, { answers, taken, clear, next }, false)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: portOf(server),
    taken,
    clear,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens nowhere')
  return address.port
}

interface Serving {
  readonly answers: Answers
  readonly taken: TakenMail[]
  readonly clear: string[]
  next(): string
}

function serve(socket: Socket, serving: Serving, isEncrypted: boolean): void {
  const { answers, taken, clear, next } = serving
  let mail = { from: '', to: [] as string[], user: null as string | null }
  let data: string[] | null = null
  let rest = ''
  const say = (line: string) => socket.write(`${line}\r\n`)
  const words: Record<string, (line: string) => void> = {
    EHLO() {
      const offers = [
        ...(answers.secure !== undefined && !isEncrypted ? ['STARTTLS'] : []),
        ...(answers.login === undefined ? [] : ['AUTH PLAIN']),
      ]
      say(['250-mail.example', ...offers.map((each) => `250-${each}`), '250 8BITMIME'].join('\r\n'))
    },
    STARTTLS() {
      say('220 go on')
      socket.removeAllListeners('data')
      const secureContext = createSecureContext(answers.secure)
      const secured = new TLSSocket(socket, { isServer: true, secureContext })
      secured.on('error', () => socket.destroy())
      serve(secured, serving, true)
    },
    AUTH(line) {
      const [, user = '', password] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
        .toString()
        .split('\0')
      const fits = user === answers.login?.user && password === answers.login.password
      if (fits) mail = { ...mail, user }
      say(fits ? '235 welcome' : '535 no')
    },
    MAIL(line) {
      mail = { ...mail, from: /<(.*)>/.exec(line)?.[1] ?? '', to: [] }
      say('250 ok')
    },
    RCPT(line) {
      const answer = next()
      if (answer.startsWith('2')) mail.to.push(/<(.*)>/.exec(line)?.[1] ?? '')
      say(answer)
    },
    DATA() {
      data = []
      say('354 go on')
    },
    QUIT() {
      say('221 bye')
      socket.end()
    },
  }
  const take = (line: string) => {
    if (!isEncrypted) clear.push(line)
    if (data === null) {
      const word = line.split(/[ :]/, 1)[0]?.toUpperCase() ?? ''
      const answer = words[word] ?? (() => say('250 ok'))
      answer(line)
    } else if (line === '.') {
      taken.push({ ...mail, data: data.join('\n'), isEncrypted })
      data = null
      say('250 taken')
    } else data.push(line)
  }
  socket.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  })
  if (!isEncrypted) say('220 mail.example')
}
