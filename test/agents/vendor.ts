// A vendor of every format whose model follows a script: it calls a tool, answers, refuses, breaks off or stops
// sending.

import type { Said } from '../conformance/said.ts'
import { chatReply, type Reply, responsesReply } from '../conformance/vendor-openai.ts'
import {
  anthropicReply,
  bedrockReply,
  cohereReply,
  geminiReply,
} from '../conformance/vendor-others.ts'
import { type Body, complaintOf, offeredIn } from './offered.ts'
import { callOf, type OfferedTool } from './work.ts'

export interface Format {
  readonly id: string
  /** The vendor's name in the configuration. */
  readonly vendor: string
  readonly path: RegExp
  readonly reply: (said: Said, stream: boolean) => Reply
  readonly streams: (path: string, body: Body) => boolean
  /** A text in every request that contains the answer of a tool. */
  readonly answered: RegExp
  /** The error that ends a stream; null: it ends without one. */
  readonly broken: string | null
  readonly refusal: (status: number, message: string) => object
}

const byFlag = (_path: string, body: Body) => body['stream'] === true
const openaiRefusal = (_status: number, message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null },
})
const brokenMessage = 'the scripted vendor broke off'

export const formats: readonly Format[] = [
  {
    id: 'openai-chat',
    vendor: 'openai-compatible',
    path: /\/chat\/completions$/,
    reply: chatReply,
    streams: byFlag,
    answered: /"role":"tool"/,
    broken: `data: {"error":{"message":"${brokenMessage}","type":"server_error"}}\n\n`,
    refusal: openaiRefusal,
  },
  {
    id: 'openai-responses',
    vendor: 'openai',
    path: /\/responses$/,
    reply: responsesReply,
    streams: byFlag,
    answered: /"type":"\w+_call_output"/,
    broken: `event: error\ndata: {"type":"error","code":"server_error","message":"${brokenMessage}","param":null,"sequence_number":99}\n\n`,
    refusal: openaiRefusal,
  },
  {
    id: 'anthropic-messages',
    vendor: 'anthropic',
    path: /\/messages$/,
    reply: anthropicReply,
    streams: byFlag,
    answered: /"type":"tool_result"/,
    broken: `event: error\ndata: {"type":"error","error":{"type":"api_error","message":"${brokenMessage}"}}\n\n`,
    refusal: (status, message) => ({
      type: 'error',
      error: { type: status === 400 ? 'invalid_request_error' : 'api_error', message },
    }),
  },
  {
    id: 'gemini',
    vendor: 'google',
    path: /:(generateContent|streamGenerateContent)$/,
    reply: geminiReply,
    streams: (path) => path.includes(':streamGenerateContent'),
    answered: /"functionResponse"/,
    broken: `data: {"error":{"code":500,"message":"${brokenMessage}","status":"INTERNAL"}}\n\n`,
    refusal: (code, message) => ({ error: { code, message, status: 'INVALID_ARGUMENT' } }),
  },
  {
    id: 'cohere-v2',
    vendor: 'cohere',
    path: /\/v2\/chat$/,
    reply: cohereReply,
    streams: byFlag,
    answered: /"role":"tool"/,
    broken: null,
    refusal: (_status, message) => ({ message }),
  },
  {
    id: 'bedrock-converse',
    vendor: 'bedrock',
    path: /\/(converse|converse-stream)$/,
    reply: bedrockReply,
    streams: (path) => path.endsWith('/converse-stream'),
    answered: /"toolResult"/,
    broken: null,
    refusal: (_status, message) => ({ message }),
  },
]

export type Script =
  /** The model calls a tool, and then answers its result. */
  | { readonly kind: 'write' | 'read' }
  | { readonly kind: 'text' }
  /** `times`: it answers after this many refusals. */
  | { readonly kind: 'refuse'; readonly status: number; readonly times: number }
  /** A stream breaks off in an error. */
  | { readonly kind: 'break' }
  /** A stream stops sending; the client has to leave. */
  | { readonly kind: 'silent' }

export interface Run {
  readonly format: Format
  readonly script: Script
  /** What its model says at the end. */
  readonly last: string
  readonly refusal: string
  readonly folder: string
}

/** The result of one run at the vendor. */
export interface Seen {
  readonly bodies: string[]
  /** What was wrong with the requests, for a vendor that accepts only its own format. */
  readonly complaints: string[]
  tools: readonly OfferedTool[]
  answers: number
  /** A stream's client has left it. */
  isLeft: boolean
  /** Resolves when a stream has stopped sending. */
  readonly silent: PromiseWithResolvers<void>
  /** Resolves when the client of such a stream has left. */
  readonly left: PromiseWithResolvers<void>
}

export class ScriptedVendor {
  private readonly runs = new Map<string, { readonly run: Run; readonly seen: Seen }>()
  private readonly server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => this.answer(request),
  })

  /** The base address of the run's vendor. */
  begin(id: string, run: Run): { readonly url: string; readonly seen: Seen } {
    const seen: Seen = {
      bodies: [],
      complaints: [],
      tools: [],
      answers: 0,
      isLeft: false,
      silent: Promise.withResolvers(),
      left: Promise.withResolvers(),
    }
    this.runs.set(id, { run, seen })
    return { url: `http://127.0.0.1:${this.server.port}/${id}`, seen }
  }

  stop(): Promise<void> {
    return this.server.stop(true)
  }

  private async answer(request: Request): Promise<Response> {
    const path = decodeURIComponent(new URL(request.url).pathname)
    const found = this.runs.get(path.split('/')[1] ?? '')
    if (found === undefined) return new Response('no such run', { status: 404 })
    const { run, seen } = found
    const { format } = run
    if (!format.path.test(path)) return new Response(`not asked for: ${path}`, { status: 404 })
    const text = await request.text()
    seen.bodies.push(text)
    const body = JSON.parse(text) as Body
    const complaint = complaintOf(format.id, body)
    if (complaint !== null) {
      seen.complaints.push(complaint)
      return refusal(format, 400, complaint)
    }
    const tools = offeredIn(format.id, body)
    if (tools.length > 0) seen.tools = tools
    return scripted({ run, seen, tools, text, stream: format.streams(path, body) }, request)
  }
}

interface Asked {
  readonly run: Run
  readonly seen: Seen
  readonly tools: readonly OfferedTool[]
  readonly text: string
  readonly stream: boolean
}

function scripted(asked: Asked, request: Request): Response {
  const { run, seen, tools, text, stream } = asked
  const { format, script, folder } = run
  const answered = format.answered.test(text)
  if (answered) seen.answers++
  switch (script.kind) {
    case 'write':
    case 'read': {
      const call = answered ? null : callOf(script.kind, tools, folder)
      return call === null ? said(run, stream) : responseOf(format.reply(calling(call), stream))
    }
    case 'text':
      return said(run, stream)
    case 'refuse':
      if (seen.bodies.length > script.times) return said(run, stream)
      return refusal(format, script.status, run.refusal)
    case 'break':
      return stream ? partial(run, brokenEnd(format)) : refusal(format, 500, run.refusal)
    case 'silent':
      return stream ? partial(run, silentEnd(request, seen)) : said(run, stream)
  }
}

const usage = { input: 20, cached: 0, output: 12, reasoning: 0 }

function calling(call: NonNullable<ReturnType<typeof callOf>>): Said {
  return { text: '', reasoning: '', calls: [call], usage }
}

function said({ format, last }: Run, stream: boolean): Response {
  return responseOf(format.reply({ text: last, reasoning: '', calls: [], usage }, stream))
}

function responseOf({ body, contentType }: Reply): Response {
  return new Response(body, { headers: { 'content-type': contentType } })
}

function refusal(format: Format, status: number, message: string): Response {
  return Response.json(format.refusal(status, message), {
    status,
    headers: status === 429 ? { 'retry-after': '1' } : {},
  })
}

type End = (controller: ReadableStreamDefaultController<Uint8Array>) => void

/** The beginning of an answer, including some of its text. */
function partial({ format, last }: Run, end: End): Response {
  const { body, contentType } = format.reply(
    { text: last.repeat(2), reasoning: '', calls: [], usage },
    true,
  )
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const frames = typeof body === 'string' ? body.split(/(?<=\n\n)/) : []
  // The first half of the text is in the first frame that has text.
  const word = last.slice(0, 4)
  const at = frames.findIndex((frame) => frame.includes(word))
  const cut = at < 0 ? bytes.length - 300 : Buffer.byteLength(frames.slice(0, at + 1).join(''))
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, cut))
      end(controller)
    },
  })
  return new Response(stream, { headers: { 'content-type': contentType } })
}

function brokenEnd({ broken }: Format): End {
  return (controller) => {
    if (broken !== null) controller.enqueue(Buffer.from(broken))
    controller.close()
  }
}

function silentEnd(request: Request, seen: Seen): End {
  return (controller) => {
    seen.silent.resolve()
    request.signal.addEventListener('abort', () => {
      seen.isLeft = true
      seen.left.resolve()
      controller.close()
    })
  }
}
