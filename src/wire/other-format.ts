// Detects whether a refused body is in another text format than that of the path it was sent to.

import type { ClientDialectId } from './formats.ts'
import { JsonSyntaxError, members, skipSpace } from './json/scan.ts'

/** The path of each text format. */
const paths = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'openai-completions': '/v1/completions',
  'anthropic-messages': '/v1/messages',
  gemini: '/v1beta/models/MODEL:generateContent',
} as const

type TextFormat = keyof typeof paths
type Headers = Pick<globalThis.Headers, 'has'>

/** Null where the body is in the format asked for or in no known one, or where the format asked for is not of text. */
export function otherFormat(
  body: Uint8Array,
  asked: ClientDialectId,
  headers: Headers,
): { readonly path: string; readonly asked: string } | null {
  if (!isOfText(asked)) return null
  const found = formatOf(keysOf(body), headers, asked)
  return found === null || found === asked ? null : { path: paths[found], asked: paths[asked] }
}

function isOfText(id: string): id is TextFormat {
  return Object.hasOwn(paths, id)
}

function formatOf(
  keys: ReadonlySet<string>,
  headers: Headers,
  asked: TextFormat,
): TextFormat | null {
  if (keys.has('contents')) return 'gemini'
  if (keys.has('messages')) {
    if (keys.has('system') || headers.has('anthropic-version')) return 'anthropic-messages'
    return asked === 'anthropic-messages' && keys.has('max_tokens') ? asked : 'openai-chat'
  }
  if (keys.has('input')) return 'openai-responses'
  return keys.has('prompt') ? 'openai-completions' : null
}

function keysOf(body: Uint8Array): ReadonlySet<string> {
  try {
    return new Set(members(body, skipSpace(body, 0)).map(({ key }) => key))
  } catch (error) {
    if (error instanceof JsonSyntaxError) return new Set()
    throw error
  }
}
