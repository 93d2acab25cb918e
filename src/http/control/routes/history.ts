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
import { oneAccount } from '../../../admin/schema-parts.ts'
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
  mode: mode.nullable().openapi({
    description: 'What the account chose to keep of its messages; null: it has not chosen',
  }),
  retentionDays: days.nullable().openapi({
    description: 'For how many days the account chose to keep messages; null: as the operator set',
  }),
  publicKey: z.string().nullable().openapi({
    description: 'X25519 public key, base64url, to which messages are sealed in mode `sealed`',
  }),
  revision: z.number().int().openapi({
    description: 'Revision of the choice, to be sent in If-Match; 0: the account has not chosen',
  }),
})

const choiceInForce = choice
  .extend({
    inForce: z.object({ mode, retentionDays: days }).openapi({
      description: 'What applies to the account now, from its choice and the operator’s settings',
    }),
    allowed: z.object({ mode, retentionDays: days }).openapi({
      description: 'Most that the operator allows an account to choose',
    }),
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
    format: z.string().openapi({ description: 'Format of the client, such as `openai-chat`' }),
    stream: z.boolean(),
    status: z.number().int(),
    mode: z.enum(['metadata', 'sealed', 'full']),
    requestBytes: z.number().int().openapi({ description: 'Size of the request body in bytes' }),
    replyBytes: z.number().int().openapi({ description: 'Size of the reply body in bytes' }),
    parameters: z.array(z.string()).readonly(),
    truncated: z.boolean().openapi({
      description: 'Whether a body was cut off, since it was larger than is kept',
    }),
    hasBody: z.boolean().openapi({ description: 'Whether bodies are kept, open or sealed' }),
    expiresAt: timeSchema.openapi({ description: 'When the message is deleted' }),
  })
  .openapi('HistorySummary')

const body = z.object({
  request: z.unknown().openapi({
    description: 'Body of the request: JSON in the client’s format, or text',
  }),
  reply: z.unknown().openapi({
    description: 'Body of the reply; a stream is put together into one reply',
  }),
  files: z.unknown().optional(),
  sent: z.unknown().optional().openapi({
    description: 'Requests that were sent to vendors, in order; only for operators',
  }),
})

const detail = summary
  .extend({
    withheld: z.boolean().openapi({
      description: 'Whether a body is kept that the caller may not read',
    }),
    body: body.nullable().openapi({
      description: 'null: no body is kept, it is sealed, or the caller may not read it',
    }),
    sealed: z
      .object({ wrappedKey: z.string(), content: z.string() })
      .nullable()
      .openapi({
        description:
          'Sealed bodies in base64, to be opened with the account’s private key as docs/history.md describes; null: ' +
          'not sealed',
      }),
    blobs: z
      .array(z.object({ id: z.string(), type: z.string(), size: z.number().int() }))
      .readonly(),
  })
  .openapi('HistoryMessage')

const message = z.strictObject({ id: z.string() })
const blobOf = z.strictObject({ id: z.string(), blob: z.string() })
const { account: _, revision: __, ...chosen } = inputs.setHistory.shape
const range = inputs.deleteHistory.extend({
  account: z.string().optional().openapi({ description: oneAccount }),
  all: flag.optional().openapi({ description: 'true: deletes all messages of the account' }),
})

/** The caller's own account. Throws AdminError for a management key that is bound to none. */
function own({ self }: Scope): string {
  if (self !== null) return self
  throw new AdminError('invalid', 'account', 'the management key is bound to no account')
}

const choiceRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/me/history',
    id: 'readHistoryChoice',
    tag,
    summary: 'Get what is kept of my messages',
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
    summary: 'Set what is kept of my messages',
    description:
      'Takes effect in every process within a second. Messages that are kept already expire as planned, or earlier ' +
      'where `retentionDays` is shorter now. Refused with 400 where the operator allows less.',
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
    summary: 'Export all my data as a ZIP of NDJSON files: usage, keys without secrets, messages',
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
    summary: 'List kept messages, newest first',
    description:
      '`text` searches in bodies of the caller’s own account that are not sealed. A page of such a search may have fewer ' +
      'items than `limit`, or none, although more pages follow: read on until `next` is null.',
    access: 'user',
    personal: true,
    query: inputs.listHistory.extend({
      ...pageQuery,
      hasBody: flag.optional().openapi({ description: 'Whether bodies are kept' }),
    }),
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
    summary: 'Delete kept messages of a period, or all of them',
    description:
      'Needs `since`, `until` or `all=true`. Messages that are still being written are deleted too. Admins may name ' +
      'an `account`.',
    access: 'user',
    query: range,
    reply: z.object({
      deleted: z.number().int().openapi({ description: 'Number of messages that were deleted' }),
    }),
    async run({ admin, scope, query: { all, ...asked } }) {
      const account = scope.account(asked.account) ?? own(scope)
      const isWhole = asked.since === undefined && asked.until === undefined
      if (isWhole && all !== true)
        throw new AdminError(
          'invalid',
          'all',
          'must be true to delete all messages, unless since or until is given',
        )
      return { body: await deleteHistory(admin, { ...asked, account }) }
    },
  }),
  route({
    method: 'get',
    path: '/api/history/{id}',
    id: 'readHistory',
    tag,
    summary: 'Get the kept message of a request: its bodies and files',
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
    summary: 'Delete the kept message of a request',
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
    summary: 'Get a file of a kept message, which its bodies name `blob:ID`',
    description: 'The bytes are sealed where the message is sealed.',
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
    summary: 'Get the kept message of any account, with the requests that were sent to vendors',
    description:
      'A body is shown only where `history.adminReads` allows it; else the request is refused with 403. Each use is ' +
      'recorded as an operator event.',
    access: 'auditor',
    audited: true,
    params: message,
    reply: detail,
    async run(asked) {
      const found = await readHistory(asked.admin, asked.params, inspector(asked))
      if (!found.withheld) return { body: found }
      const reason = 'is false: only its account may read the body of a message'
      throw new AdminError('forbidden', 'history.adminReads', reason)
    },
  }),
  route({
    method: 'get',
    path: '/api/admin/history/{id}/blobs/{blob}',
    id: 'inspectHistoryBlob',
    tag,
    summary: 'Get a file of a kept message of any account',
    description:
      'Answers 404 for open messages of other accounts unless `history.adminReads` allows it. Each use is recorded ' +
      'as an operator event.',
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
