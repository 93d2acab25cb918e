// The payment simulator on a separate port, with a clock that tests advance and a merchant that records its messages.
import { createPaysim, type Paysim, type PaysimOptions } from '../../src/paysim/paysim.ts'

interface MovedClock {
  now(): number
  after(ms: number, run: () => void): () => void
  /** Advances it, and runs what is due on the way. */
  advance(ms: number): void
}

export interface Notified {
  readonly url: string
  readonly headers: Headers
  readonly body: string
}

export interface PaysimScene {
  readonly paysim: Paysim
  readonly clock: MovedClock
  readonly baseUrl: string
  /** Messages that reached the merchant, oldest first. */
  readonly notified: Notified[]
  /** How the merchant answers; tests change it. */
  merchantAnswers: (notified: Notified) => Response | Promise<Response>
  stop(): Promise<void>
}

/** The simulator's address is `base` with a free port. */
export async function startPaysim(
  options: Partial<PaysimOptions> & { readonly base?: string } = {},
): Promise<PaysimScene> {
  const { base = '', ...rest } = options
  const clock = movedClock()
  const notified: Notified[] = []
  let answer: (request: Request) => Promise<Response>
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => answer(request) })
  const baseUrl = `http://127.0.0.1:${server.port}${base}`
  const scene = {
    clock,
    baseUrl,
    notified,
    merchantAnswers: (_: Notified): Response | Promise<Response> => new Response('success'),
  }
  const paysim = await createPaysim({
    baseUrl,
    clock,
    async send(request) {
      const one = { url: request.url, headers: request.headers, body: await request.text() }
      notified.push(one)
      return scene.merchantAnswers(one)
    },
    ...rest,
  })
  answer = (request) => paysim.fetch(request)
  return Object.assign(scene, {
    paysim,
    async stop() {
      paysim.stop()
      await server.stop(true)
    },
  })
}

/** Starts at the present, since the vendors' libraries sign with the present time. */
function movedClock(): MovedClock {
  let now = Date.now()
  const due = new Map<() => void, number>()
  return {
    now: () => now,
    after(ms, run) {
      const timer = () => run()
      due.set(timer, now + ms)
      return () => due.delete(timer)
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const next = [...due].sort(([, one], [, other]) => one - other)[0]
        if (next === undefined || next[1] > end) break
        const [run, at] = next
        due.delete(run)
        now = Math.max(now, at)
        run()
      }
      now = end
    },
  }
}

/** The last one of a list that is not empty. */
export function last<Item>(items: readonly Item[]): Item {
  const item = items.at(-1)
  if (item === undefined) throw new Error('nothing there')
  return item
}
