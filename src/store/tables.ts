// The tables of the store, each written once for both engines.

import { configurationTable } from './configuration.ts'
import {
  readAddress,
  readCurrency,
  readGroups,
  rememberAddress,
  rememberCurrency,
  rememberGroups,
} from './deployment.ts'
import type { Engine } from './engine.ts'
import { historyTable } from './history.ts'
import { historySettingTable } from './history-settings.ts'
import { idempotencyTable } from './idempotency.ts'
import { journalTable } from './journal.ts'
import { keyLeaseTable } from './key-leases.ts'
import { keyTable, keyUseTable } from './keys.ts'
import { lazyTable } from './lazy.ts'
import { walletOf } from './ledger.ts'
import { leaseTable, nodeTable } from './nodes.ts'
import { outboxTable } from './outbox-epochs.ts'
import { priceTable } from './prices.ts'
import { responseTable } from './responses.ts'
import { retentionTable } from './retention.ts'
import { rollupStore } from './rollup-query.ts'
import { runningTable } from './running.ts'
import { findSetAside, resolve, setAside, setAsides } from './set-aside.ts'
import { settingTable } from './settings.ts'
import { settle } from './settle.ts'
import type { AccountTable, Store } from './store.ts'
import { cleanText } from './text.ts'
import { videoTable } from './videos.ts'

/** `history`: the engine of message history, if that is a separate database. */
export function createStore(engine: Engine, history = engine): Store {
  return {
    ...laterTables(engine),
    engine: engine.kind,
    keys: keyTable(engine),
    keyUses: keyUseTable(engine),
    accounts: accountTable(engine),
    running: runningTable(engine),
    journal: journalTable(engine),
    nodes: nodeTable(engine),
    leases: leaseTable(engine),
    keyLeases: keyLeaseTable(engine),
    settlements: {
      settle: (batch) => settle(engine, batch),
      setAside: (entry, from) => engine.transaction((session) => setAside(session, entry, from)),
      setAsides: (limit, all) => setAsides(engine, limit, all),
      findSetAside: (requestId) => findSetAside(engine, requestId),
      resolve: (resolution) => resolve(engine, resolution),
    },
    outboxes: outboxTable(engine),
    rollups: rollupStore(engine),
    retention: retentionTable(engine),
    prices: priceTable(engine),
    idempotency: idempotencyTable(engine),
    responses: responseTable(engine),
    videos: videoTable(engine),
    deployment: deploymentTable(engine),
    settings: settingTable(engine),
    configuration: configurationTable(engine),
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

/** Tables that neither requests to models nor settling need; their code is loaded at the first call. */
function laterTables(engine: Engine) {
  return {
    managementKeys: lazyTable(async () =>
      (await import('./management-keys.ts')).managementKeyTable(engine),
    ),
    people: lazyTable(async () => (await import('./people.ts')).peopleTable(engine)),
    identities: lazyTable(async () => (await import('./people.ts')).identityTable(engine)),
    preferences: lazyTable(async () => (await import('./preferences.ts')).preferenceTable(engine)),
    alerts: lazyTable(async () => (await import('./alerts.ts')).alertTable(engine)),
    alertNotices: lazyTable(async () => (await import('./alerts.ts')).alertNoticeTable(engine)),
    sessions: lazyTable(async () => (await import('./sign-in.ts')).sessionTable(engine)),
    signIns: lazyTable(async () => (await import('./sign-in.ts')).signInTable(engine)),
    invitations: lazyTable(async () => (await import('./sign-in.ts')).invitationTable(engine)),
    groupUses: lazyTable(async () => (await import('./group-uses.ts')).groupUseReader(engine)),
    usage: lazyTable(async () => (await import('./usage.ts')).usageTable(engine)),
    arrivals: lazyTable(async () => (await import('./arrivals.ts')).arrivalTable(engine)),
    statements: lazyTable(async () => (await import('./statement.ts')).statementReader(engine)),
    search: lazyTable(async () => (await import('./search.ts')).searchReader(engine)),
    archive: lazyTable(async () => (await import('./usage-archive.ts')).usageArchiveTable(engine)),
    failingWork: lazyTable(async () =>
      (await import('./failing-work.ts')).failingWorkTable(engine),
    ),
    usageExport: lazyTable(async () =>
      (await import('./usage-export.ts')).usageExportTable(engine),
    ),
    reconcile: lazyTable(async () => (await import('./reconcile.ts')).reconcileTable(engine)),
    paymentOrders: lazyTable(async () =>
      (await import('./payment-orders.ts')).paymentOrderTable(engine),
    ),
    payments: lazyTable(async () => (await import('./payments.ts')).paymentTable(engine)),
    callbacks: lazyTable(async () =>
      (await import('./payment-callbacks.ts')).callbackTable(engine),
    ),
    refunds: lazyTable(async () => (await import('./payment-refunds.ts')).refundTable(engine)),
    disputes: lazyTable(async () => (await import('./payment-disputes.ts')).disputeTable(engine)),
    bills: lazyTable(async () => (await import('./payment-bills.ts')).billTable(engine)),
    autoTopUps: lazyTable(async () => (await import('./auto-top-up.ts')).autoTopUpTable(engine)),
    redemption: lazyTable(async () => (await import('./redemption.ts')).redemptionTable(engine)),
    pace: lazyTable(async () => (await import('./pace.ts')).paceTable(engine)),
    audit: lazyTable(async () => (await import('./audit.ts')).auditTable(engine)),
    controlReplies: lazyTable(async () => (await import('./control.ts')).controlReplyTable(engine)),
    operatorEvents: lazyTable(async () =>
      (await import('./control.ts')).operatorEventTable(engine),
    ),
  } satisfies Partial<Store>
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
      // Usually the account exists, and no transaction is needed.
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
