// Answers Google's `countTokens` by an estimate: free, and also for models whose vendors cannot count.

import { countTokens } from '../../wire/gemini/count.ts'
import { modelPeek } from '../../wire/request.ts'
import type { Operation } from '../operation.ts'
import { unknownModel } from '../resolve.ts'
import { unreadObject } from '../unread.ts'

export const countContents: Operation = {
  dialect: 'gemini',
  peek: ({ address, body }) => modelPeek(address.model ?? '', body),
  resolve({ peek, principal, dialect }, { modelAccess }) {
    const { model } = peek
    const listed = modelAccess.model(principal, model)
    if (listed !== null) return { peek, model: listed, candidates: [] }
    // A name that only a pattern serves is not in the list.
    const found = modelAccess.find(principal, model, dialect)
    if (found.candidates.length === 0) throw unknownModel(model)
    return { peek, ...found }
  },
  async answer({ peek }) {
    return { body: JSON.stringify(countTokens(unreadObject(peek.body))) }
  },
}
