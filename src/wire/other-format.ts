// Tells of a body that was refused whether it is in another format of text than that of its path.

import type { ClientDialectId } from './formats.ts'
import { JsonSyntaxError, members, skipSpace } from './json/scan.ts'

/** Where each is asked. */
const paths = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'openai-completions': '/v1/completions',
  'anthropic-messages': '/v1/messages',
  gemini: '/v1beta/models/MODEL:generateContent',
} as const

type TextFormat = keyof typeof paths
type Headers = Pick<globalThis.Headers, 'has'>

/** null: it is in the format asked for, in none that is known, or either is not of text. */
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
