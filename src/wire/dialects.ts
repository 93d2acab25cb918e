// Provisional dialects over plain JSON, until the byte-wise ones stand.
import { errorTable, type Fault, invalidRequest } from '../errors.ts'
import { type Dialect, type DialectId, frameKind, type Peek, type WholeReply } from './dialect.ts'
import type { JsonObject, Usage } from './ir.ts'
import { readUsage, usageIn } from './openai/usage.ts'
import { peekChat } from './openai-chat/peek.ts'
import { frameData } from './sse.ts'

const dec = new TextDecoder()
const enc = new TextEncoder()
function faultOf(status: number, header: (n: string) => string | null, body: string): Fault {
  let message = body.slice(0, 500),
    param: string | null = null,
    code: string | undefined
  try {
    const e = (JSON.parse(body) as JsonObject)['error'] as JsonObject
    message = String(e['message'] ?? message)
    param = (e['param'] as string) ?? null
    code = typeof e['code'] === 'string' ? e['code'] : undefined
  } catch {}
  const retry = Number(header('retry-after') ?? NaN)
  const kind =
    status === 401 || status === 403
      ? 'credentials'
      : status === 402 || code === 'insufficient_quota'
        ? 'quota'
        : status === 404
          ? 'unknown_model'
          : status === 429
            ? 'rate_limited'
            : status >= 500
              ? 'vendor_error'
              : status < 400
                ? 'unreadable'
                : 'rejected'
  return {
    kind,
    message,
    status,
    param,
    ...(code === undefined ? {} : { code }),
    ...(Number.isFinite(retry) ? { retryAfterMs: Math.min(30000, Math.max(0, retry * 1000)) } : {}),
  }
}
function wholeOf(body: Uint8Array): WholeReply {
  let j: JsonObject
  const none = { bytes: body, usage: null, outputBytes: 0, finishReason: null, model: null }
  try {
    j = JSON.parse(dec.decode(body)) as JsonObject
  } catch {
    return { ...none, fault: { kind: 'unreadable', message: 'not JSON' } }
  }
  if (j['error']) return { ...none, fault: { kind: 'vendor_error', message: 'error in a success' } }
  if (!Array.isArray(j['choices'] ?? j['data']))
    return { ...none, fault: { kind: 'unreadable', message: 'no choices' } }
  return {
    fault: null,
    bytes: body,
    usage: readUsage(j['usage']),
    outputBytes: body.length,
    finishReason: 'stop',
    model: (j['model'] as string) ?? null,
  }
}
function dialect(
  id: DialectId,
  operation: Dialect['operation'],
  path: string,
  peek: (b: Uint8Array) => Peek,
): Dialect {
  return {
    id,
    operation,
    path,
    peek,
    hub: null,
    fault: faultOf,
    whole: wholeOf,
    tail: () => ({ usage: null, outputBytes: 0, finishReason: null, model: null }),
    refuse: (e) =>
      JSON.stringify({
        error: {
          message: e.message,
          type: errorTable[e.code].type,
          param: e.detail.param ?? null,
          code: e.detail.shownCode ?? e.code,
        },
      }),
    watcher: (o) => {
      const w = {
        fault: null as Fault | null,
        usage: null as Usage | null,
        outputBytes: 0,
        finishReason: null as string | null,
        model: null as string | null,
        frame(bytes: Uint8Array, s: number, e: number) {
          const { data } = frameData(bytes, s, e)
          if (data === null) return frameKind.lifecycle
          if (data === '[DONE]') return frameKind.done
          const j = JSON.parse(data) as JsonObject
          if (j['error']) {
            w.fault = { kind: 'vendor_error', message: JSON.stringify(j['error']) }
            return frameKind.fault
          }
          w.model = (j['model'] as string) ?? w.model
          const c = (j['choices'] as JsonObject[] | undefined)?.[0]
          if (c?.['finish_reason']) w.finishReason = String(c['finish_reason'])
          const d = (c?.['delta'] ?? {}) as JsonObject
          const u = usageIn(j, o.quirks.usagePath)
          if (u !== null) {
            w.usage = readUsage(u)
            return frameKind.usage
          }
          const t = String(d['content'] ?? d['reasoning_content'] ?? c?.['text'] ?? '')
          w.outputBytes += t.length
          return t !== '' || d['tool_calls'] || c?.['finish_reason']
            ? frameKind.semantic
            : frameKind.lifecycle
        },
        amend(bytes: Uint8Array, s: number, e: number) {
          if (o.wantsUsage) return bytes.subarray(s, e)
          const j = JSON.parse(frameData(bytes, s, e).data ?? '') as JsonObject
          if ((j['choices'] as unknown[]).length === 0) return null
          delete j['usage']
          return enc.encode(`data: ${JSON.stringify(j)}\n\n`)
        },
      }
      return w
    },
  }
}
function peekPlain(b: Uint8Array): Peek {
  const j = JSON.parse(dec.decode(b)) as JsonObject
  if (typeof j['model'] !== 'string') throw invalidRequest('model is required', 'model')
  const body = enc.encode(JSON.stringify(j))
  const text = dec.decode(body),
    key = '"model":',
    at = text.indexOf(key) + key.length
  return {
    body,
    model: j['model'],
    modelSpan: { start: at, end: at + JSON.stringify(j['model']).length },
    stream: j['stream'] === true,
    wantsUsage: false,
    streamOptionsSpan: null,
    bodyEnd: body.length - 1,
    maxOutputTokens: null,
    choices: 1,
    imageParam: null,
    keys: Object.keys(j),
    encodingFormat: j['encoding_format'] === 'base64' ? 'base64' : 'float',
    tokenInput: false,
  }
}
export const dialects: Readonly<Record<DialectId, Dialect>> = {
  'openai-chat': dialect('openai-chat', 'chat', '/chat/completions', peekChat),
  'openai-completions': dialect('openai-completions', 'completion', '/completions', peekPlain),
  'openai-embeddings': dialect('openai-embeddings', 'embedding', '/embeddings', peekPlain),
}
