// A request to Stripe's API, the parsing of its parameters, and its errors.
import type { InterfaceFlaws } from './misbehaviour.ts'
import type { Simulation } from './simulation.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface StripeCall {
  readonly simulation: Simulation
  readonly webhookUrl: string
  readonly form: URLSearchParams
  readonly declines?: InterfaceFlaws['declines'] | undefined
  readonly bill?: InterfaceFlaws['bill'] | undefined
  /** The part of the path that the route's pattern captured. */
  readonly caught: string
}

export class StripeFault extends Error {
  readonly status: number
  readonly details: Fields

  constructor(message: string, details: Fields = {}, status = 400) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** `before`: a prefix of the field names. */
export function metadataOf(form: URLSearchParams, before = ''): Record<string, string> {
  const start = before === '' ? 'metadata[' : `${before}[metadata][`
  return Object.fromEntries(
    [...form].flatMap(([name, value]) =>
      name.startsWith(start) && name.endsWith(']')
        ? [[name.slice(start.length, -1), value] as const]
        : [],
    ),
  )
}

export function required(form: URLSearchParams, name: string): string {
  const value = form.get(name)
  if (value !== null && value !== '') return value
  const message = `Missing required param: ${name}.`
  throw new StripeFault(message, { code: 'parameter_missing', param: name })
}

/** A positive integer. */
export function integer(form: URLSearchParams, name: string): number {
  const value = required(form, name)
  if (/^[1-9]\d{0,11}$/.test(value)) return Number(value)
  throw new StripeFault(`Invalid integer: ${value}`, {
    code: 'parameter_invalid_integer',
    param: name,
  })
}

export function address(form: URLSearchParams, name: string): string {
  const value = required(form, name)
  if (URL.canParse(value) && /^https?:/.test(value)) return value
  throw new StripeFault('Not a valid URL', { code: 'url_invalid', param: name })
}

export function wrong(param: string, message: string): StripeFault {
  return new StripeFault(message, { param })
}

export function missing(message: string, param: string): StripeFault {
  return new StripeFault(message, { code: 'resource_missing', param }, 404)
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
