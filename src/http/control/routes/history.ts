// Routes for message history: an account's choice of what to keep, the kept messages, and all its data.

import { z } from '@hono/zod-openapi'
import { exportData } from '../../../admin/export-data.ts'
import {
  deleteHistory,
  deleteMessage,
  listHistory,
  readHistory,
  readHistoryBlob,
  readHistoryChoice,
  setHistoryChoice,
} from '../../../admin/history.ts'
import { inputs } from '../../../admin/schema.ts'
import { AdminError } from '../../../admin/use-case.ts'
import { historyModes } from '../../../config/schema-history.ts'
import type { HistoryBlob } from '../../../store/history.ts'
import type { Scope } from '../access.ts'
import { flag, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRequest, type ControlRoute, route } from '../route.ts'

const tag = 'History'
const mode = z.enum(historyModes)
const days = z.number().int()

const choice = z.object({
  account: z.string(),
  mode: mode.nullable(),
  retentionDays: days.nullable(),
  publicKey: z.string().nullable(),
  revision: z.number().int(),
})

const choiceInForce = choice
  .extend({
    inForce: z.object({ mode, retentionDays: days }),
    allowed: z.object({ mode, retentionDays: days }),
  })
  .openapi('HistoryChoice')

const summary = z
  .object({
    requestId: z.string(),
    at: timeSchema,
    account: z.string(),
    key: z.string(),
    keyName: z.string(),
    model: z.string(),
    operation: z.string(),
    format: z.string().openapi({ description: "The client's format: `openai-chat`, ..." }),
    stream: z.boolean(),
    status: z.number().int(),
    mode: z.enum(['metadata', 'sealed', 'full']),
    requestBytes: z.number().int(),
    replyBytes: z.number().int(),
    parameters: z.array(z.string()).readonly(),
    truncated: z.boolean().openapi({ description: 'A body was longer than is kept' }),
    hasBody: z.boolean(),
    expiresAt: timeSchema,
  })
  .openapi('HistorySummary')

const body = z.object({
  request: z.unknown().openapi({ description: "JSON as the client's format has it, or text" }),
  reply: z.unknown().openapi({ description: 'A stream as the whole reply it would have been' }),
  files: z.unknown().optional(),
  sent: z.unknown().optional().openapi({ description: 'What vendors were sent: for operators' }),
})

const detail = summary
  .extend({
    withheld: z.boolean().openapi({ description: 'There is a body that this caller may not see' }),
    body: body.nullable(),
    sealed: z
      .object({ wrappedKey: z.string(), content: z.string() })
      .nullable()
      .openapi({ description: 'Base64; docs/history.md says how to open it' }),
    blobs: z
      .array(z.object({ id: z.string(), type: z.string(), size: z.number().int() }))
      .readonly(),
  })
  .openapi('HistoryMessage')

const message = z.strictObject({ id: z.string() })
const blobOf = z.strictObject({ id: z.string(), blob: z.string() })
const { account: _, revision: __, ...chosen } = inputs.setHistory.shape
const range = inputs.deleteHistory.extend({ account: z.string().optional(), all: flag.optional() })

/** The caller's own account. Throws AdminError for a management key that is bound to none. */
function own({ self }: Scope): string {
  if (self !== null) return self
  throw new AdminError('invalid', 'account', 'this management key is bound to no account')
}

const choiceRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/me/history',
    id: 'readHistoryChoice',
    tag,
    summary: 'What is kept of my messages, and the most that may be',
    access: 'user',
    reply: choiceInForce,
    async run({ admin, scope, services }) {
      const found = await readHistoryChoice(admin, { account: own(scope) }, services.config())
      return { body: found, etag: found.revision }
    },
  }),
  route({
    method: 'put',
    path: '/api/me/history',
    id: 'setHistoryChoice',
    tag,
    summary: 'Choose what is kept of my messages',
    access: 'user',
    body: z.strictObject(chosen),
    reply: choiceInForce,
    async run({ admin, scope, services, body, ifMatch }) {
      const config = services.config()
      const account = own(scope)
      const changed = { ...body, account, ...(ifMatch !== undefined && { revision: ifMatch }) }
      await setHistoryChoice(admin, changed, config.history)
      const found = await readHistoryChoice(admin, { account }, config)
      return { body: found, etag: found.revision }
    },
  }),
  route({
    method: 'get',
    path: '/api/me/export',
    id: 'exportMyData',
    tag,
    summary: 'All my data: a ZIP of NDJSON with usage, keys (no secrets) and messages',
    access: 'user',
    personal: true,
    produces: ['application/zip'],
    run: async ({ admin, scope }) => download(exportData(admin, { account: own(scope) })),
  }),
]

const messageRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/history',
    id: 'listHistory',
    tag,
    summary: 'Messages that are kept, newest first',
    description:
      '`text` searches in the caller’s own bodies that are not sealed; a page of a search may be short, or empty, and not the last.',
    access: 'user',
    personal: true,
    query: inputs.listHistory.extend({ ...pageQuery, hasBody: flag.optional() }),
    reply: pageOf(summary),
    async run({ admin, scope, query }) {
      const account = query.text === undefined ? scope.account(query.account) : own(scope)
      return { body: await listHistory(admin, { ...query, account }) }
    },
  }),
  route({
    method: 'delete',
    path: '/api/history',
    id: 'deleteHistory',
    tag,
    summary: 'Delete my messages of a time, or with `all=true` all of them',
    description: 'What is still being written goes too. An admin names the account.',
    access: 'user',
    query: range,
    reply: z.object({ deleted: z.number().int() }),
    async run({ admin, scope, query: { all, ...asked } }) {
      const account = scope.account(asked.account) ?? own(scope)
      const isWhole = asked.since === undefined && asked.until === undefined
      if (isWhole && all !== true)
        throw new AdminError('invalid', 'all', 'is needed to delete all: true; or since or until')
      return { body: await deleteHistory(admin, { ...asked, account }) }
    },
  }),
  route({
    method: 'get',
    path: '/api/history/{id}',
    id: 'readHistory',
    tag,
    summary: 'What a request asked and was answered',
    access: 'user',
    personal: true,
    params: message,
    reply: detail,
    run: async (asked) => ({ body: await readHistory(asked.admin, asked.params, reader(asked)) }),
  }),
  route({
    method: 'delete',
    path: '/api/history/{id}',
    id: 'deleteMessage',
    tag,
    summary: 'Delete one message',
    access: 'user',
    params: message,
    async run({ admin, scope, params }) {
      await deleteMessage(admin, { ...params, owner: scope.owner })
      return undefined
    },
  }),
  route({
    method: 'get',
    path: '/api/history/{id}/blobs/{blob}',
    id: 'readHistoryBlob',
    tag,
    summary: 'What is kept in place of `blob:ID`; sealed where its message is',
    access: 'user',
    personal: true,
    params: blobOf,
    produces: ['application/octet-stream', 'image/*', 'audio/*', 'video/*', 'application/pdf'],
    run: async (asked) => file(await readHistoryBlob(asked.admin, asked.params, reader(asked))),
  }),
]

const operatorRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/admin/history/{id}',
    id: 'inspectHistory',
    tag,
    summary: "Any account's message with its body and what vendors were sent",
    description: 'Only where `history.adminReads` allows it. Each reading is noted.',
    access: 'auditor',
    audited: true,
    params: message,
    reply: detail,
    async run(asked) {
      const found = await readHistory(asked.admin, asked.params, inspector(asked))
      if (!found.withheld) return { body: found }
      const reason = 'does not allow this: bodies are for their accounts'
      throw new AdminError('forbidden', 'history.adminReads', reason)
    },
  }),
  route({
    method: 'get',
    path: '/api/admin/history/{id}/blobs/{blob}',
    id: 'inspectHistoryBlob',
    tag,
    summary: "A blob of any account's message",
    description: 'Only where `history.adminReads` allows it. Each reading is noted.',
    access: 'auditor',
    audited: true,
    params: blobOf,
    produces: ['application/octet-stream', 'image/*', 'audio/*', 'video/*', 'application/pdf'],
    run: async (asked) => file(await readHistoryBlob(asked.admin, asked.params, inspector(asked))),
  }),
]

type Calling = Pick<ControlRequest<object, object, object>, 'scope' | 'services'>

function reader({ scope }: Calling) {
  return { owner: scope.owner, self: scope.self, readsAll: false }
}

function inspector({ scope, services }: Calling) {
  return { owner: undefined, self: scope.self, readsAll: services.config().history.adminReads }
}

/** Types in which no browser runs scripts. */
const harmless =
  /^(image\/(png|jpeg|gif|webp|avif|heic)|audio\/[\w.+-]+|video\/[\w.+-]+|application\/pdf)$/

function file({ type, content }: HistoryBlob): Response {
  return new Response(new Uint8Array(content), {
    headers: {
      'content-type': harmless.test(type) ? type : 'application/octet-stream',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment',
    },
  })
}

function download(chunks: AsyncGenerator<Uint8Array>): Response {
  return new Response(streamOf(chunks), {
    headers: {
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="tollgate-data.zip"',
    },
  })
}

function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
}

export const historyRoutes: readonly ControlRoute[] = [
  ...choiceRoutes,
  ...messageRoutes,
  ...operatorRoutes,
]
