// Each account's settings for storing its requests and replies.

import type { HistoryMode } from '../config/types.ts'
import type { Engine } from './engine.ts'
import { cleanText } from './text.ts'

export interface HistorySetting {
  readonly account: string
  readonly mode: HistoryMode
  /** null: as long as the operator allows. */
  readonly retentionDays: number | null
  /** Raw X25519 public key, base64url, to which sealed bodies are encrypted. */
  readonly publicKey: string | null
  /** Grows by 1 with each change; 0: never stored. */
  readonly revision: number
}

export interface HistorySettingTable {
  find(account: string): Promise<HistorySetting | null>
  /** `revision`: the revision that was read before. Returns false if the stored one is another by now. */
  put(setting: HistorySetting): Promise<boolean>
  remove(account: string): Promise<void>
  all(): Promise<readonly HistorySetting[]>
  /** Grows with every change of any setting; a running server polls it. */
  revision(): Promise<number>
}

const columns = `account, mode, retention_days AS "retentionDays", public_key AS "publicKey", revision`

const put = `INSERT INTO history_setting (account, mode, retention_days, public_key, revision)
  VALUES (?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`

const change = `UPDATE history_setting SET mode = ?, retention_days = ?, public_key = ?, revision = revision + 1
  WHERE account = ? AND revision = ?`

const grow = 'UPDATE history_setting_revision SET value = value + 1'

export function historySettingTable(engine: Engine): HistorySettingTable {
  return {
    async find(account) {
      const sql = `SELECT ${columns} FROM history_setting WHERE account = ?`
      return (await engine.query<HistorySetting>(sql, [cleanText(account)]))[0] ?? null
    },
    put({ account, mode, retentionDays, publicKey, revision }) {
      const id = cleanText(account)
      return engine.transaction(async (session) => {
        const changed =
          revision === 0
            ? await session.run(put, [id, mode, retentionDays, publicKey])
            : await session.run(change, [mode, retentionDays, publicKey, id, revision])
        if (changed > 0) await session.run(grow, [])
        return changed > 0
      })
    },
    async remove(account) {
      await engine.transaction(async (session) => {
        const sql = 'DELETE FROM history_setting WHERE account = ?'
        if ((await session.run(sql, [cleanText(account)])) > 0) await session.run(grow, [])
      })
    },
    all: () => engine.query(`SELECT ${columns} FROM history_setting`, []),
    async revision() {
      const sql = 'SELECT value FROM history_setting_revision'
      const [row] = await engine.query<{ readonly value: number }>(sql, [])
      if (row === undefined) throw new Error('The table history_setting_revision has lost its row.')
      return row.value
    },
  }
}
