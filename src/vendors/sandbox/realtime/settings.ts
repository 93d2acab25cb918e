// The settings of a sandbox session, as `session` shows them, and the changes that `session.update` may make.

import { invalidRequest } from '../../../errors.ts'
import type { JsonObject, JsonValue } from '../../../wire/ir.ts'
import { isObject, listOf, objectOf } from '../../../wire/json/value.ts'
import { sampleRate } from '../media/tune.ts'

const pcmFormat = { type: 'audio/pcm', rate: sampleRate } as const

/** A session's initial settings. Members that are not in it are unknown parameters. */
export function usualSession(id: string, model: string): JsonObject {
  return {
    type: 'realtime',
    object: 'realtime.session',
    id,
    model,
    output_modalities: ['audio'],
    instructions: '',
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    max_output_tokens: 'inf',
    reasoning: null,
    tracing: null,
    truncation: 'auto',
    prompt: null,
    include: null,
    audio: {
      input: {
        format: pcmFormat,
        transcription: null,
        noise_reduction: null,
        turn_detection: null,
      },
      output: { format: pcmFormat, voice: 'sandbox', speed: 1 },
    },
  }
}

/** Members that are merged; all others are replaced. */
const sections: ReadonlySet<string> = new Set([
  'session.audio',
  'session.audio.input',
  'session.audio.output',
])

/** The settings after a change. Throws `invalid_request_error` that names what is not supported. */
export function changedSession(session: JsonObject, change: JsonValue | undefined): JsonObject {
  if (!isObject(change)) throw invalidRequest("'session' must be an object", 'session')
  if (change['type'] !== undefined && change['type'] !== 'realtime')
    throw invalidRequest("The sandbox has sessions of type 'realtime' alone", 'session.type')
  if (change['output_modalities'] !== undefined)
    speaks(change['output_modalities'], 'session.output_modalities')
  const changed = merged(session, change, 'session')
  checkFormat(changed, 'input', ['audio/pcm', 'audio/pcmu', 'audio/pcma'])
  checkFormat(changed, 'output', ['audio/pcm'])
  // The sandbox cannot detect pauses, so the setting stays null.
  return merged(changed, { audio: { input: { turn_detection: null } } }, 'session')
}

function checkFormat(session: JsonObject, side: string, types: readonly string[]): void {
  const format = memberOf(session, 'audio', side, 'format')
  const { type, rate = sampleRate } = objectOf(format)
  if (types.some((each) => each === type) && (type !== 'audio/pcm' || rate === sampleRate)) return
  const message = `'format' must be of ${types.join(', ')}, audio/pcm at ${sampleRate} Hz`
  throw invalidRequest(message, `session.audio.${side}.format`)
}

function merged(own: JsonObject, change: JsonObject, path: string): JsonObject {
  const result: JsonObject = { ...own }
  for (const [key, value] of Object.entries(change)) {
    const name = `${path}.${key}`
    if (!Object.hasOwn(own, key)) throw invalidRequest(`Unknown parameter: '${name}'`, name)
    const before = own[key]
    const part = sections.has(name) && isObject(before) && isObject(value)
    result[key] = part ? merged(before, value, name) : value
  }
  return result
}

/** The value at this path; undefined where there is none. */
export function memberOf(value: JsonValue | undefined, ...path: readonly string[]) {
  let found = value
  for (const name of path) found = isObject(found) ? found[name] : undefined
  return found
}

/** Whether replies are spoken. Throws `invalid_request_error` for anything but text or audio. */
export function speaks(modalities: JsonValue | undefined, param: string): boolean {
  const [modality, more] = listOf(modalities)
  if (more === undefined && (modality === 'audio' || modality === 'text'))
    return modality === 'audio'
  throw invalidRequest(`'${param}' must be ["text"] or ["audio"]`, param)
}
