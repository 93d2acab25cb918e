// The sandbox as a local service: reads a call, decides on the reply, and plays it.

import { GatewayError, invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject } from '../../wire/json/value.ts'
import type { Exchange, LocalCall, LocalService, ReplyHandler } from '../transport.ts'
import { chatReply } from './chat.ts'
import { completionReply } from './completion.ts'
import { embeddingReply } from './embedding.ts'
import { spoiled } from './faults.ts'
import { moderationReply } from './moderation.ts'
import { type Pace, play } from './playback.ts'
import { type Reply, refusal } from './reply.ts'
import {
  parseSandboxModel,
  type SandboxModel,
  type SandboxSettings,
  sandboxModels,
} from './settings.ts'

type Answer = (body: JsonObject, model: string, settings: SandboxSettings) => Reply

interface Served {
  readonly answer: Answer
  readonly models: readonly SandboxModel[]
}

const answers: ReadonlyMap<string, Served> = new Map(
  Object.entries({
    'openai-chat': { answer: chatReply, models: ['sandbox/chat', 'sandbox/reasoning'] },
    'openai-completions': { answer: completionReply, models: ['sandbox/completion'] },
    'openai-embeddings': { answer: embeddingReply, models: ['sandbox/embedding'] },
    'openai-moderations': { answer: moderationReply, models: ['sandbox/moderation'] },
  }),
)

const decoder = new TextDecoder('utf-8', { fatal: true })
const atOnce: Pace = { firstMs: 0, gapMs: 0 }

function parsed(bytes: Uint8Array): JsonObject {
  let value: JsonValue
  try {
    value = JSON.parse(decoder.decode(bytes)) as JsonValue
  } catch {
    throw invalidRequest('The request body is not JSON', null)
  }
  if (!isObject(value)) throw invalidRequest('The request body is not a JSON object', null)
  return value
}

function settingsOf(call: LocalCall): SandboxSettings {
  const settings = parseSandboxModel(call.model)
  const served = answers.get(call.dialect)?.models ?? []
  if (settings !== null && served.includes(settings.model)) return settings
  const reason =
    settings === null
      ? `known are ${sandboxModels.join(', ')}`
      : `of these, ${call.dialect} has ${served.join(', ') || 'none'}`
  throw new GatewayError(
    'model_not_found',
    `The sandbox has no model '${call.model}' here; ${reason}`,
  )
}

function replyTo(call: LocalCall, settings: SandboxSettings): Reply {
  const body = parsed(call.body)
  const reply = answers.get(call.dialect)?.answer(body, call.model, settings)
  if (reply === undefined) throw invalidRequest(`The sandbox does not speak ${call.dialect}`, null)
  return spoiled(reply, settings, reply.streamed)
}

function refused(error: unknown): Reply {
  if (!(error instanceof GatewayError)) throw error
  const status = error.code === 'model_not_found' ? 404 : 400
  const { message, code } = error
  return refusal(status, {
    message,
    type: 'invalid_request_error',
    param: error.detail.param ?? null,
    code,
  })
}

/** Never throws for an invalid call: it is answered with 400 or 404. */
export const sandboxService: LocalService = {
  open(call: LocalCall, handler: ReplyHandler): Exchange {
    let pace = atOnce
    let reply: Reply
    try {
      const settings = settingsOf(call)
      pace = settings
      reply = replyTo(call, settings)
    } catch (error) {
      reply = refused(error)
      pace = atOnce
    }
    return play(reply, pace, handler)
  },
  sockets: async () => (await import('./realtime/socket.ts')).connectSandbox,
}
