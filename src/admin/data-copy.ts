// Copies a deployment from SQLite to PostgreSQL. The snapshot is kept until the copy is complete, so that a broken-off
// copy can continue.

import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { SecretBox } from '../identity/secret-box.ts'
import { CopyRefused, type CopyTable } from '../store/copy-table.ts'
import { lockFolder } from '../store/draft-folder.ts'
import type { CopyTarget } from '../store/postgres-copy-target.ts'
import { databaseFile } from '../store/sqlite.ts'
import { copyDatabase, removeCopy } from '../store/sqlite-copy.ts'
import { type CopySource, openCopySource } from '../store/sqlite-copy-source.ts'
import { hasHistoryFile, historyFile, historyFileName } from '../store/sqlite-history.ts'
import type { OutboxCopy } from '../store/sqlite-outbox-copy.ts'
import { type Audit, auditLedger } from './audit.ts'
import { decryptSecrets } from './channel-secrets.ts'
import type { Input } from './schema.ts'
import { copyState, settleState } from './snapshot.ts'
import { timeText } from './time.ts'
import { AdminError } from './use-case.ts'

/** In the data directory; locked while a copy runs. */
const folderName = 'data-copy'
/** In that folder, once it is complete. */
const snapshotName = 'snapshot'
const draftName = 'draft'
const stateFile = 'state.json'

/** Describes the snapshot that is copied. */
interface Snapshot {
  readonly id: string
  /** When the snapshot was taken, RFC 3339. */
  readonly at: string
  /** Hash of the files when it was taken: an equal one means that nothing has happened since. */
  readonly fingerprint: string
  readonly settled: number
  readonly audit: Audit
}

interface CopyRooms {
  readonly dataDir: string
  /** Made from this process's encryption key, whether given or kept in the data directory. */
  readonly box: SecretBox
  readonly nowMs: number
  onTable(done: { readonly table: string; readonly rows: number }): void
}

/**
 * Throws AdminError: `to` where the database holds other data, `begun` where the deployment has changed since a copy
 * began; throws also where the result differs from the snapshot. The tables that servers use are written only after
 * everything is verified.
 */
export async function copyData(rooms: CopyRooms, { to, begun }: Input<'copyData'>) {
  const folder = lockFolder(join(rooms.dataDir, folderName))
  if (folder === null) {
    throw new AdminError('conflict', 'from', 'another process is copying it')
  }
  try {
    const made = await copyFrom(rooms, folder.path, { to, begun })
    discard(folder.path)
    return made
  } finally {
    // What can be continued stays.
    if (existsSync(join(folder.path, snapshotName))) folder.release()
    else folder.remove()
  }
}

/** In one step: a snapshot of which only a part is removed must not be taken for a whole one. */
function discard(folder: string): void {
  const draft = join(folder, draftName)
  removeCopy(draft)
  if (existsSync(join(folder, snapshotName))) renameSync(join(folder, snapshotName), draft)
  removeCopy(draft)
}

async function copyFrom(rooms: CopyRooms, folder: string, { to, begun }: Input<'copyData'>) {
  // Before a snapshot is made, which would be continued by a later copy into another database.
  if (begun === 'restart' || !existsSync(join(folder, snapshotName))) await expectEmpty(to)
  const snapshot = await snapshotOf(rooms, folder, begun)
  const { openCopyTarget } = await import('../store/postgres-copy-target.ts')
  const opened = openCopyTarget(to, { id: snapshot.id, restart: begun === 'restart' })
  const target = await opened.catch(refuse)
  const { id: _, fingerprint, audit, ...about } = snapshot
  const { transfers, usageRows, wallets, findings } = audit
  const counts = { transfers, usageRows, wallets, findings: findings.length }
  try {
    const files = join(folder, snapshotName)
    const made = target === null ? null : await copyAll(rooms, target, files, audit)
    return {
      ok: findings.length === 0,
      ...about,
      ...counts,
      ...(made ?? { tables: 0, rows: 0, closedSecrets: 0 }),
    }
  } finally {
    await target?.close()
  }
}

async function expectEmpty(databaseUrl: string): Promise<void> {
  const { holdsData } = await import('../store/postgres.ts')
  if (await holdsData(databaseUrl)) {
    throw new AdminError('conflict', 'to', 'the database holds data already: name an empty one')
  }
}

function refuse(error: unknown): never {
  if (error instanceof CopyRefused) throw new AdminError('conflict', 'to', error.message)
  throw error
}

/** The snapshot of the copy that was begun, or a new one. */
async function snapshotOf(
  rooms: CopyRooms,
  folder: string,
  begun: Input<'copyData'>['begun'],
): Promise<Snapshot> {
  const { dataDir } = rooms
  const [complete, draft] = [join(folder, snapshotName), join(folder, draftName)]
  if (begun === 'restart') discard(folder)
  removeCopy(draft)
  const kept = existsSync(complete)
    ? (JSON.parse(readFileSync(join(complete, stateFile), 'utf8')) as Snapshot)
    : null
  if (kept !== null && begun === 'resume') return kept
  try {
    const outboxes = copyFiles(dataDir, draft)
    const fingerprint = await fingerprintOf(draft, outboxes)
    if (kept?.fingerprint === fingerprint) return kept
    if (kept !== null) {
      throw new AdminError(
        'conflict',
        'begun',
        `a copy was begun at ${kept.at}, and the deployment has changed since: continue with the copied state, or start again with the present one`,
      )
    }
    const made = await settleState(draft, outboxes, 'from')
    await bringForward(draft)
    const snapshot = { id: randomUUID(), at: timeText(rooms.nowMs), fingerprint, ...made }
    writeFileSync(join(draft, stateFile), JSON.stringify(snapshot), { mode: 0o600 })
    renameSync(draft, complete)
    return snapshot
  } finally {
    removeCopy(draft)
  }
}

function copyFiles(dataDir: string, folder: string): readonly OutboxCopy[] {
  const outboxes = copyState(dataDir, folder)
  if (hasHistoryFile(dataDir)) {
    copyDatabase(join(dataDir, historyFileName), folder, historyFileName)
  }
  return outboxes
}

/** Works because SQLite writes equal content as equal bytes. */
async function fingerprintOf(folder: string, outboxes: readonly OutboxCopy[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(outboxes))
  for (const name of [databaseFile, historyFileName]) {
    const path = join(folder, name)
    if (!existsSync(path)) continue
    for await (const chunk of createReadStream(path)) hash.update(chunk)
  }
  return hash.digest('hex')
}

/** Opening the file creates or migrates its tables: a deployment that never kept a message has no such file. */
async function bringForward(folder: string): Promise<void> {
  const history = historyFile(folder)
  await history.query('SELECT 1', [])
  await history.close()
}

async function copyAll(rooms: CopyRooms, target: CopyTarget, folder: string, audit: Audit) {
  const source = openCopySource(folder)
  try {
    let rows = 0
    for (const table of target.tables) {
      source.check(table)
      rows += await copyTable(source, target, table)
      rooms.onTable({ table: table.name, rows: await verify(source, target, table) })
    }
    if (!isDeepStrictEqual(await auditLedger(target), audit)) {
      throw differs('the audit of the copy is not that of the ledger')
    }
    const closedSecrets = await countClosed(target, rooms.box)
    await target.place()
    return { tables: target.tables.length, rows, closedSecrets }
  } catch (error) {
    return refuse(error)
  } finally {
    source.close()
  }
}

async function copyTable(
  source: CopySource,
  target: CopyTarget,
  table: CopyTable,
): Promise<number> {
  let progress = await target.progress(table)
  for (;;) {
    const page = source.page(table, progress.after)
    if (page.length === 0) return progress.rows
    progress = await target.add(table, page, progress)
  }
}

async function verify(source: CopySource, target: CopyTarget, table: CopyTable): Promise<number> {
  const wanted = source.digest(table)
  const found = await target.digest(table)
  if (isDeepStrictEqual(found, wanted)) return found.rows
  throw differs(
    `the table ${table.name} has ${wanted.rows} rows and the copy ${found.rows}, or others`,
  )
}

function differs(what: string): AdminError {
  return new AdminError('conflict', 'begun', `${what}; nothing was put in place: begin anew`)
}

/** Counts stored channels whose secrets this process's key cannot decrypt. */
async function countClosed({ store }: CopyTarget, box: SecretBox): Promise<number> {
  const items = await store.configuration.all()
  return items.filter(({ kind, id, document }) => kind === 'channel' && !opens(id, document, box))
    .length
}

function opens(id: string, document: Readonly<Record<string, unknown>>, box: SecretBox): boolean {
  try {
    decryptSecrets(id, document, box)
    return true
  } catch {
    return false
  }
}
