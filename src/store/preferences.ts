// Preferences of people for the console: a small document for each account.

import type { Engine } from './engine.ts'
import { cleanText } from './text.ts'

interface PreferenceRow {
  readonly account: string
  readonly document: unknown
  /** Grows by 1 with each change; 0: never stored. */
  readonly revision: number
}

export interface PreferenceTable {
  find(account: string): Promise<PreferenceRow | null>
  /** `revision`: the revision that was read before. Returns false if the stored one is another by now. */
  put(row: PreferenceRow): Promise<boolean>
}

export function preferenceTable(engine: Engine): PreferenceTable {
  return {
    async find(account) {
      const [kept] = await engine.query<{ readonly document: string; readonly revision: number }>(
        'SELECT document, revision FROM preference WHERE account = ?',
        [cleanText(account)],
      )
      if (kept === undefined) return null
      return { account, document: JSON.parse(kept.document), revision: kept.revision }
    },
    async put({ account, document, revision }) {
      const text = JSON.stringify(document)
      const sql =
        revision === 0
          ? 'INSERT INTO preference (document, account, revision) VALUES (?, ?, 1) ON CONFLICT DO NOTHING'
          : 'UPDATE preference SET document = ?, revision = revision + 1 WHERE account = ? AND revision = ?'
      const values = revision === 0 ? [] : [revision]
      return (await engine.run(sql, [text, cleanText(account), ...values])) > 0
    },
  }
}
