// Message history: an account's choice of what to keep, the kept messages, and their deletion.

import { Buffer } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import { settingsInForce } from '../config/run-time.ts'
import type { Config, HistoryMode, HistorySettings } from '../config/types.ts'
import { isWithin, policyOf } from '../history/policy.ts'
import { isPublicKey } from '../history/sealed.ts'
import type { FoundMessage, HistoryBlob, HistoryHead } from '../store/history.ts'
import type { JsonValue } from '../wire/ir.ts'
import { findWallet } from './accounts.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** The account's choice; null where it made none. */
interface HistoryChoice {
  readonly account: string
  readonly mode: HistoryMode | null
  readonly retentionDays: number | null
  readonly publicKey: string | null
  /** Grows with each change; 0: the account never chose. */
  readonly revision: number
}

/** The account's choice, the policy in force for it, and the limits of its choice. */
export async function readHistoryChoice(
  { store }: Pick<AdminContext, 'store'>,
  { account }: Input<'account'>,
  config: Config,
) {
  const choice: HistoryChoice = (await store.historySettings.find(account)) ?? noChoice(account)
  const { maxMode, maxDays } = config.history
  const rows = await store.settings.all()
  const set = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  const { 'history.mode': mode, 'history.keepDays': keepDays } = settingsInForce(config, set)
  const policy = policyOf(choice.mode ?? mode, choice, { maxMode, maxDays, keepDays })
  const days = Math.min(choice.retentionDays ?? keepDays, maxDays)
  return {
    ...choice,
    inForce: { mode: policy?.mode ?? ('off' as const), retentionDays: days },
    allowed: { mode: maxMode, retentionDays: maxDays },
  }
}

/**
 * Takes effect in every process within a second. Messages kept before expire as planned, or earlier where
 * `retentionDays` is shorter now. `allowed`: the operator's limits, where they are known. Throws AdminError `stale`.
 */
export async function setHistoryChoice(
  { store }: Pick<AdminContext, 'store'>,
  input: Input<'setHistory'>,
  allowed?: Pick<HistorySettings, 'maxMode' | 'maxDays'>,
): Promise<HistoryChoice> {
  const { account, mode, retentionDays, publicKey } = input
  await findWallet(store, account)
  if (allowed !== undefined) checkAllowed(input, allowed)
  if (publicKey !== null && !(await isPublicKey(publicKey)))
    throw new AdminError('invalid', 'publicKey', 'expected a raw X25519 key, base64url')
  if (mode === 'sealed' && publicKey === null)
    throw new AdminError('invalid', 'publicKey', 'is missing: mode sealed needs a public key')
  const { revision } = (await store.historySettings.find(account)) ?? noChoice(account)
  const isFresh = input.revision === undefined || input.revision === revision
  const changed = { account, mode, retentionDays, publicKey, revision }
  if (!isFresh || !(await store.historySettings.put(changed)))
    throw new AdminError('stale', 'revision', 'the choice was changed since it was read')
  if (retentionDays !== null) await store.history.shorten(account, retentionDays * dayMs)
  return { ...changed, revision: revision + 1 }
}

const dayMs = 86_400_000

function noChoice(account: string) {
  return { account, mode: null, retentionDays: null, publicKey: null, revision: 0 }
}

function checkAllowed(
  { mode, retentionDays }: Input<'setHistory'>,
  { maxMode, maxDays }: Pick<HistorySettings, 'maxMode' | 'maxDays'>,
): void {
  if (!isWithin(mode, maxMode))
    throw new AdminError('invalid', 'mode', `the operator allows at most ${maxMode}`)
  if (retentionDays !== null && retentionDays > maxDays)
    throw new AdminError('invalid', 'retentionDays', `the operator allows at most ${maxDays}`)
}

export type HistorySummary = ReturnType<typeof summaryView>

/** Newest first. A page of a search by `text` may have few items or none although more pages follow. */
export async function listHistory(
  { store }: Pick<AdminContext, 'store'>,
  { cursor, id: requestId, ...filter }: Input<'listHistory'>,
): Promise<Page<HistorySummary>> {
  const before = cursor === undefined ? undefined : placeAt(cursor)
  const { items, next } = await store.history.list({ ...filter, requestId, before })
  return {
    items: items.map(summaryView),
    next: next === null ? null : cursorAfter(`${next.at} ${next.requestId}`),
  }
}

function placeAt(cursor: string) {
  const [, at, requestId] = /^(\d{1,15}) (.+)$/s.exec(placeIn(cursor)) ?? []
  if (at !== undefined && requestId !== undefined) return { at: Number(at), requestId }
  throw new AdminError('invalid', 'cursor', 'is not the `next` of a page of this list')
}

/** The reader of messages. */
interface HistoryReader {
  /** Messages of other accounts are not found; undefined: any account's may be read. */
  readonly owner?: string | undefined
  /** The reader's account, whose message bodies it may read. */
  readonly self: string | null
  /** Whether other accounts' bodies, and the requests sent to vendors, may be read too. */
  readonly readsAll: boolean
}

export type HistoryDetail = ReturnType<typeof detailView>

export async function readHistory(
  admin: Pick<AdminContext, 'store'>,
  { id }: Input<'historyMessage'>,
  reader: HistoryReader,
): Promise<HistoryDetail> {
  return detailView(await find(admin, id, reader.owner), reader)
}

/** The content that `blob:ID` stands for, as it is stored: sealed where its message is sealed. */
export async function readHistoryBlob(
  admin: Pick<AdminContext, 'store'>,
  { id, blob }: { readonly id: string; readonly blob: string },
  reader: HistoryReader,
): Promise<HistoryBlob> {
  const message = await find(admin, id, reader.owner)
  const isListed = message.blobs.some((each) => each.id === blob)
  const found =
    isListed && mayRead(message, reader)
      ? await admin.store.history.blob(message.account, blob)
      : null
  if (found !== null) return found
  throw new AdminError('not_found', 'blob', 'the message has no such blob')
}

/** Returns the number of messages deleted. */
export async function deleteHistory(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  range: Input<'deleteHistory'>,
): Promise<{ readonly deleted: number }> {
  return { deleted: await store.history.remove(range, nowMs) }
}

export async function deleteMessage(
  admin: Pick<AdminContext, 'store' | 'nowMs'>,
  { id, owner }: Input<'historyMessage'> & { readonly owner?: string | undefined },
): Promise<void> {
  const { account } = await find(admin, id, owner)
  const removed = await admin.store.history.remove({ account, requestId: id }, admin.nowMs)
  if (removed === 0) throw noMessage(id)
}

async function find(
  { store }: Pick<AdminContext, 'store'>,
  id: string,
  owner: string | undefined,
): Promise<FoundMessage> {
  const found = await store.history.find(owner ?? null, id)
  if (found !== null) return found
  throw noMessage(id)
}

function noMessage(id: string): AdminError {
  return new AdminError(
    'not_found',
    'id',
    `there is no kept message of a request ${JSON.stringify(id)}`,
  )
}

function mayRead({ account, mode }: FoundMessage, { self, readsAll }: HistoryReader): boolean {
  return mode === 'sealed' || readsAll || account === self
}

function summaryView({ requestId, account, keyId, at, expiresAt, ...head }: HistoryHead) {
  return {
    requestId,
    at: timeText(at),
    account,
    key: keyId,
    ...head,
    hasBody: head.mode !== 'metadata',
    expiresAt: timeText(expiresAt),
  }
}

function detailView({ wrappedKey, content, blobs, ...head }: FoundMessage, reader: HistoryReader) {
  const isReadable = mayRead({ wrappedKey, content, blobs, ...head }, reader)
  const isOpen = head.mode === 'full' && content !== null
  return {
    ...summaryView(head),
    /** There is a body, but this reader may not see it. */
    withheld: isOpen && !isReadable,
    body: isOpen && isReadable ? bodyOf(content, reader) : null,
    sealed: wrappedKey === null || content === null ? null : sealedView(wrappedKey, content),
    blobs: isReadable ? blobs : [],
  }
}

interface HistoryBody {
  readonly request: JsonValue
  readonly reply: JsonValue
  readonly files?: JsonValue
  /** The requests sent to vendors, in order. */
  readonly sent?: JsonValue
}

function bodyOf(content: Uint8Array, { readsAll }: HistoryReader): HistoryBody {
  const { sent, ...body } = JSON.parse(gunzipSync(content).toString('utf8')) as HistoryBody
  return readsAll && sent !== undefined ? { ...body, sent } : body
}

function sealedView(wrappedKey: Uint8Array, content: Uint8Array) {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  return { wrappedKey: text(wrappedKey), content: text(content) }
}
