// Applies the fault and the pace that the model's name asks for to the sandbox's images and audio.

import type { Fault } from '../../../errors.ts'
import { MediaFault, type MediaReply, type MediaTools, type VendorReply } from '../../media.ts'
import { errorBody, refusalOf } from '../faults.ts'
import type { SandboxFault, SandboxSettings } from '../settings.ts'

/** The length of each wait of an endless one: no timer outlives its request by more than this. */
const stepMs = 1_000
const encoder = new TextEncoder()

/** Applies faults that occur before a reply: rejects, or stays pending while the request lasts. */
export async function beforeReply(settings: SandboxSettings, tools: MediaTools): Promise<void> {
  const { fault, firstMs } = settings
  if (firstMs > 0) await tools.wait(firstMs)
  if (fault === null) return
  const refused = refusalOf(fault)
  if (refused !== null) {
    const { status, headers, step } = refused
    const payload = tools.spool.inMemory(encoder.encode(step(0)), 'application/json')
    const reply: VendorReply = {
      status,
      header: (name) => headers[name] ?? null,
      payload,
      json: () => JSON.parse(step(0)),
    }
    throw tools.faultOf(reply)
  }
  if (fault === 'hang') await forever(tools)
  if (fault === 'unreachable') throw failed('unreachable', 'nobody listens')
  if (fault === 'reset') throw failed('reset', 'the connection was reset before a reply')
}

/** The reply changed by pace and fault. */
export function spoiledMedia(
  reply: MediaReply,
  settings: SandboxSettings,
  tools: MediaTools,
): MediaReply {
  const { fault } = settings
  if (reply.kind === 'sound') {
    const usage = fault === 'no-usage' ? () => null : reply.usage
    return { ...reply, usage, chunks: spoiled(reply.chunks, settings, tools) }
  }
  if (reply.kind === 'plain' && reply.type === eventStream)
    return { ...reply, chunks: spoiled(reply.chunks, settings, tools, events) }
  const body = fault === null ? undefined : wholes[fault]
  if (body !== undefined) {
    const chunks = spoiled(once(body), settings, tools)
    return { kind: 'plain', type: 'application/json', chunks }
  }
  return fault === 'no-usage' && reply.kind !== 'plain' ? { ...reply, usage: null } : reply
}

const eventStream = 'text/event-stream'
const halfBody = '{"created":1767225600,'

type Texts = Readonly<Partial<Record<SandboxFault, string>>>

/** Sent in place of a whole reply, or of its first half. */
const wholes: Texts = {
  empty: '',
  stall: halfBody,
  cut: halfBody,
  invalid: '<html>not JSON</html>',
  'error-event': errorBody,
}

/** Ends a stream in place of its next event. */
const events: Texts = {
  invalid: 'data: {"type":\n\n',
  'error-event': `data: ${errorBody}\n\n`,
}

/** `ends`: text sent when the fault occurs, in place of the rest. */
async function* spoiled(
  chunks: AsyncIterable<Uint8Array>,
  settings: SandboxSettings,
  tools: MediaTools,
  ends: Texts = {},
): AsyncGenerator<Uint8Array> {
  const { fault, after, gapMs } = settings
  if (fault === 'empty') return
  let sent = 0
  for await (const chunk of chunks) {
    if (sent > 0 && gapMs > 0) await tools.wait(gapMs)
    if (sent === after && fault !== null) {
      await broken(fault, tools)
      const end = ends[fault]
      if (end !== undefined) {
        yield encoder.encode(end)
        return
      }
    }
    yield* fault === 'split' ? halves(chunk) : [chunk]
    sent += 1
  }
  // A stream shorter than `after` breaks at its end.
  if (sent <= after && fault !== null) await broken(fault, tools)
}

/** Cuts the connection, or goes silent from here on. */
async function broken(fault: SandboxFault, tools: MediaTools): Promise<void> {
  if (fault === 'cut') throw failed('cut', 'the connection was cut in the middle of the reply')
  if (fault === 'stall') await forever(tools)
}

function* halves(chunk: Uint8Array): Generator<Uint8Array> {
  const middle = chunk.length >> 1
  yield chunk.subarray(0, middle)
  yield chunk.subarray(middle)
}

/** Waits for the end of the request, which rejects. */
async function forever(tools: MediaTools): Promise<never> {
  for (;;) await tools.wait(stepMs)
}

function failed(kind: Fault['kind'], message: string): MediaFault {
  return new MediaFault({ kind, message: `sandbox fault: ${message}` })
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield encoder.encode(text)
}
