// The tables of the store, written once over either engine.

import { alertNoticeTable, alertTable } from './alerts.ts'
import { arrivalTable } from './arrivals.ts'
import { auditTable } from './audit.ts'
import { autoTopUpTable } from './auto-top-up.ts'
import { configurationTable } from './configuration.ts'
import { controlReplyTable, operatorEventTable } from './control.ts'
import {
  readAddress,
  readCurrency,
  readGroups,
  rememberAddress,
  rememberCurrency,
  rememberGroups,
} from './deployment.ts'
import type { Engine } from './engine.ts'
import { failingWorkTable } from './failing-work.ts'
import { groupUseReader } from './group-uses.ts'
import { historyTable } from './history.ts'
import { historySettingTable } from './history-settings.ts'
import { idempotencyTable } from './idempotency.ts'
import { journalTable } from './journal.ts'
import { keyTable, keyUseTable } from './keys.ts'
import { walletOf } from './ledger.ts'
import { managementKeyTable } from './management-keys.ts'
import { leaseTable, nodeTable } from './nodes.ts'
import { outboxTable } from './outbox-epochs.ts'
import { paceTable } from './pace.ts'
import { billTable } from './payment-bills.ts'
import { callbackTable } from './payment-callbacks.ts'
import { disputeTable } from './payment-disputes.ts'
import { paymentOrderTable } from './payment-orders.ts'
import { refundTable } from './payment-refunds.ts'
import { paymentTable } from './payments.ts'
import { identityTable, peopleTable } from './people.ts'
import { preferenceTable } from './preferences.ts'
import { priceTable } from './prices.ts'
import { reconcileTable } from './reconcile.ts'
import { redemptionTable } from './redemption.ts'
import { responseTable } from './responses.ts'
import { retentionTable } from './retention.ts'
import { rollupStore } from './rollup-query.ts'
import { runningTable } from './running.ts'
import { searchReader } from './search.ts'
import { setAside, setAsides } from './set-aside.ts'
import { settingTable } from './settings.ts'
import { settle } from './settle.ts'
import { invitationTable, sessionTable, signInTable } from './sign-in.ts'
import { statementReader } from './statement.ts'
import type { AccountTable, Store } from './store.ts'
import { cleanText } from './text.ts'
import { usageTable } from './usage.ts'
import { usageArchiveTable } from './usage-archive.ts'
import { usageExportTable } from './usage-export.ts'
import { videoTable } from './videos.ts'

/** `history`: where messages are kept, where that is a database of its own. */
export function createStore(engine: Engine, history = engine): Store {
  return {
    engine: engine.kind,
    keys: keyTable(engine),
    keyUses: keyUseTable(engine),
    managementKeys: managementKeyTable(engine),
    accounts: accountTable(engine),
    people: peopleTable(engine),
    identities: identityTable(engine),
    preferences: preferenceTable(engine),
    alerts: alertTable(engine),
    alertNotices: alertNoticeTable(engine),
    sessions: sessionTable(engine),
    signIns: signInTable(engine),
    invitations: invitationTable(engine),
    groupUses: groupUseReader(engine),
    usage: usageTable(engine),
    running: runningTable(engine),
    arrivals: arrivalTable(engine),
    journal: journalTable(engine),
    statements: statementReader(engine),
    search: searchReader(engine),
    nodes: nodeTable(engine),
    leases: leaseTable(engine),
    settlements: {
      settle: (batch) => settle(engine, batch),
      setAside: (entry, from) => engine.transaction((session) => setAside(session, entry, from)),
      setAsides: (limit) => setAsides(engine, limit),
    },
    outboxes: outboxTable(engine),
    rollups: rollupStore(engine),
    retention: retentionTable(engine),
    archive: usageArchiveTable(engine),
    failingWork: failingWorkTable(engine),
    usageExport: usageExportTable(engine),
    reconcile: reconcileTable(engine),
    prices: priceTable(engine),
    idempotency: idempotencyTable(engine),
    responses: responseTable(engine),
    videos: videoTable(engine),
    paymentOrders: paymentOrderTable(engine),
    payments: paymentTable(engine),
    callbacks: callbackTable(engine),
    refunds: refundTable(engine),
    disputes: disputeTable(engine),
    bills: billTable(engine),
    autoTopUps: autoTopUpTable(engine),
    redemption: redemptionTable(engine),
    pace: paceTable(engine),
    audit: auditTable(engine),
    deployment: deploymentTable(engine),
    settings: settingTable(engine),
    configuration: configurationTable(engine),
    controlReplies: controlReplyTable(engine),
    operatorEvents: operatorEventTable(engine),
    history: historyTable(history),
    historySettings: historySettingTable(engine),
    ping: async () => {
      await engine.query('SELECT 1', [])
    },
    close: async () => {
      if (history !== engine) await history.close()
      await engine.close()
    },
  }
}

function deploymentTable(engine: Engine): Store['deployment'] {
  return {
    currency: () => readCurrency(engine),
    rememberCurrency: (code) => rememberCurrency(engine, code),
    groups: () => readGroups(engine),
    rememberGroups: (names) => rememberGroups(engine, names),
    address: () => readAddress(engine),
    rememberAddress: (address) => rememberAddress(engine, address),
  }
}

const makeWallet = `INSERT INTO ledger_account (id, kind) VALUES (?, 'wallet')`

function accountTable(engine: Engine): AccountTable {
  return {
    async ensure(id, createdAt) {
      const account = cleanText(id)
      // The common case, at each start, needs no transaction.
      if ((await engine.query('SELECT 1 FROM account WHERE id = ?', [account])).length > 0)
        return false
      return engine.transaction(async (session) => {
        const sql = 'INSERT INTO account (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING'
        if ((await session.run(sql, [account, createdAt])) === 0) return false
        await session.run(makeWallet, [walletOf(account)])
        return true
      })
    },
    all() {
      return engine.query('SELECT id, created_at AS "createdAt" FROM account ORDER BY id', [])
    },
    async closed() {
      const sql = 'SELECT id FROM account WHERE suspended_at IS NOT NULL OR deleted_at IS NOT NULL'
      const rows = await engine.query<{ readonly id: string }>(sql, [])
      return rows.map(({ id }) => id)
    },
  }
}
