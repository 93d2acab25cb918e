// Names what a request asks for by the members of the client's own format, where encoders know the hub's names alone.

import { GatewayError } from '../errors.ts'
import type { RelayRequest } from './request.ts'

/** The client's name of a field that an encoder names. */
export function clientName({ dialect, peek }: RelayRequest, name: string): string {
  const { keys } = peek
  const names = keys.includes(name) ? undefined : dialect.client.hub?.fieldNames?.get(name)
  if (names === undefined) return name
  return names.find((own) => keys.includes(own.split('.', 1)[0] ?? own)) ?? names[0] ?? name
}

/** Runs `work`; a refusal is as `inClientName` gives it. */
export function inClientNames<T>(request: RelayRequest, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw inClientName(request, error)
  }
}

/** A refusal with the client's name of the field at fault, in its message too; any other error as it is. */
export function inClientName(request: RelayRequest, error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error
  const { code, message, detail } = error
  const param = detail.param ?? ''
  const own = clientName(request, param)
  if (own === param) return error
  const said = message.startsWith(param) ? `${own}${message.slice(param.length)}` : message
  return new GatewayError(code, said, { ...detail, param: own })
}
