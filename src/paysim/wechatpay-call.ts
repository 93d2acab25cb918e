// A request to WeChat Pay: its fields, its reply, and its errors in WeChat Pay's words.
import { chinaTime, type Incoming, type Simulation } from './simulation.ts'

export interface WechatpayCall {
  readonly simulation: Simulation
  readonly request: Incoming
  /** The parts of the path that the route's pattern captured. */
  readonly caught: readonly string[]
  /** The parsed JSON body. */
  readonly body: Readonly<Record<string, unknown>>
}

/** A reply that gets signed; a `Response` is sent unchanged instead. */
export interface WechatpayReply {
  readonly status: number
  readonly body?: unknown
}

export class WechatpayFault extends Error {
  readonly status: number
  readonly code: string
  readonly field: string | undefined

  constructor(status: number, code: string, message: string, field?: string) {
    super(message)
    this.status = status
    this.code = code
    this.field = field
  }
}

type Fields = Readonly<Record<string, unknown>>

export function recordOf(value: unknown, field: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new WechatpayFault(400, 'PARAM_ERROR', '输入源不是对象', field)
}

/** A text of 1 to `longest` characters. */
export function textOf(fields: Fields, name: string, longest: number): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '' && value.length <= longest) return value
  throw new WechatpayFault(400, 'PARAM_ERROR', `输入源“${name}”映射到字符串字段失败`, name)
}

/** A positive integer; `field` is its path in messages. */
export function integerOf(fields: Fields, name: string, field: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw new WechatpayFault(400, 'PARAM_ERROR', `输入源“${field}”映射到数值字段失败`, field)
}

/** Formats a time like `2026-11-23T09:30:00+08:00`. */
export function timeText(ms: number): string {
  return `${chinaTime(ms).replace(' ', 'T')}+08:00`
}
