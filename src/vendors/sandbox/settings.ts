// Parses the settings behind a sandbox model's name: `sandbox/chat+first=200+gap=20`.

import { invalidRequest } from '../../errors.ts'

export const sandboxModels = [
  'sandbox/chat',
  'sandbox/reasoning',
  'sandbox/completion',
  'sandbox/embedding',
  'sandbox/image',
  'sandbox/transcription',
  'sandbox/speech',
  'sandbox/moderation',
  'sandbox/video',
  'sandbox/realtime',
] as const
export type SandboxModel = (typeof sandboxModels)[number]

/** Each fault is described in docs/sandbox.md. */
export const sandboxFaults = [
  '400',
  '401',
  '403',
  '404',
  '429',
  '500',
  '503',
  'quota',
  'unreachable',
  'reset',
  'hang',
  'slow',
  'empty',
  'stall',
  'cut',
  'invalid',
  'error-event',
  'split',
  'no-done',
  'no-usage',
] as const
export type SandboxFault = (typeof sandboxFaults)[number]

export interface SandboxSettings {
  readonly model: SandboxModel
  readonly firstMs: number
  readonly gapMs: number
  /** Tokens of visible output; null: those of the natural text. */
  readonly tokens: number | null
  readonly fault: SandboxFault | null
  /** The number of events sent before a fault within the stream. */
  readonly after: number
}

/** The wait of `fault=slow` without `first`: longer than the relay's heartbeat of 15 s. */
const slowFirstMs = 20_000

const limits: ReadonlyMap<string, number> = new Map(
  Object.entries({
    first: 600_000,
    gap: 60_000,
    tokens: 100_000,
    after: 100_000,
  }),
)

const names = [...limits.keys(), 'fault']

/** The model's name without its settings. */
export function sandboxBaseModel(name: string): string {
  const plus = name.indexOf('+')
  return plus === -1 ? name : name.slice(0, plus)
}

function number(name: string, text: string): number {
  const limit = limits.get(name) ?? 0
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= limit)) {
    throw invalidRequest(
      `Sandbox setting '${name}' must be a whole number from 0 to ${limit}, not '${text}'`,
      'model',
    )
  }
  return value
}

function faultNamed(text: string): SandboxFault {
  const fault = sandboxFaults.find((known) => known === text)
  if (fault === undefined) {
    throw invalidRequest(
      `Sandbox fault '${text}' is unknown; known are ${sandboxFaults.join(', ')}`,
      'model',
    )
  }
  return fault
}

function pairs(settings: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  const unknown: string[] = []
  for (const setting of settings) {
    const equals = setting.indexOf('=')
    const name = equals === -1 ? setting : setting.slice(0, equals)
    if (equals === -1 || !names.includes(name)) unknown.push(setting)
    else if (found.has(name))
      throw invalidRequest(`Sandbox setting '${name}' is given twice`, 'model')
    else found.set(name, setting.slice(equals + 1))
  }
  if (unknown.length > 0) {
    const list = unknown.map((setting) => `'${setting}'`).join(', ')
    throw invalidRequest(`Unknown sandbox settings ${list}; known are ${names.join(', ')}`, 'model')
  }
  return found
}

/** Null where it is not a sandbox model. Throws `invalid_request_error` that names an invalid setting. */
export function parseSandboxModel(name: string): SandboxSettings | null {
  const [base, ...rest] = name.split('+')
  const model = sandboxModels.find((known) => known === base)
  if (model === undefined) return null
  const given = pairs(rest)
  const numberOf = (key: string): number | null => {
    const text = given.get(key)
    return text === undefined ? null : number(key, text)
  }
  const faultText = given.get('fault')
  const fault = faultText === undefined ? null : faultNamed(faultText)
  return {
    model,
    firstMs: numberOf('first') ?? (fault === 'slow' ? slowFirstMs : 0),
    gapMs: numberOf('gap') ?? 0,
    tokens: numberOf('tokens'),
    fault,
    after: numberOf('after') ?? 1,
  }
}
