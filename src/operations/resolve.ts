// Finds the channels that may serve a request: those of its model that its caller may use.

import type { Model } from '../catalog/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Peek } from '../wire/request.ts'
import type { CoreServices, Peeked, Resolved } from './operation.ts'

/** Throws GatewayError where there are none, or where the model does not accept what is sent. */
export function resolveModel(
  { principal, peek, dialect }: Omit<Peeked, 'address'>,
  { modelAccess }: CoreServices,
): Resolved {
  const { model, candidates } = modelAccess.find(principal, peek.model, dialect)
  if (candidates.length === 0) throw unknownModel(peek.model)
  checkVision(peek, model)
  return { peek, model, candidates }
}

export function unknownModel(model: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    `The model '${model}' does not exist or is not available to this key.`,
    { param: 'model' },
  )
}

export function checkVision(peek: Peek, model: Model): void {
  if (peek.imageParam === null || model.vision) return
  throw invalidRequest(`The model '${peek.model}' does not accept images.`, peek.imageParam)
}
