// The blocks of a growing Markdown text: only the last one is read again.

import { lexer, type Token } from 'marked'

interface Read {
  readonly text: string
  readonly blocks: readonly Token[]
  /** Where the last block begins: all before it is finished. */
  readonly lastAt: number
}

export const nothingRead: Read = { text: '', blocks: [], lastAt: 0 }

/** The blocks read before are kept as long as the text only grows. */
export function readOn(before: Read, text: string): Read {
  const isMore = text.startsWith(before.text)
  const done = isMore ? before.blocks.slice(0, -1) : []
  const begun = isMore ? before.lastAt : 0
  const fresh = lexer(text.slice(begun))
  const blocks = fresh.filter(({ type }) => type !== 'space' && type !== 'def')
  const last = blocks.at(-1)
  const upToLast = last === undefined ? 0 : fresh.slice(0, fresh.indexOf(last))
  const length = upToLast === 0 ? 0 : upToLast.reduce((sum, { raw }) => sum + raw.length, 0)
  return { text, blocks: [...done, ...blocks], lastAt: begun + length }
}
