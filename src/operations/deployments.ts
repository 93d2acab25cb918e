// Serves the addresses of Azure's clients, which name the model as a deployment: `/openai/deployments/NAME/...`.

import { placeOf } from '../wire/json/names.ts'
import { nothingInside, withModel } from '../wire/openai/body.ts'
import type { Address } from '../wire/request.ts'
import type { Operation } from './operation.ts'
import { decodeId } from './path.ts'

const prefix = '/openai/deployments/'
const inside = nothingInside(placeOf(['model']))

interface DeploymentCall<S> {
  readonly operation: Operation<S>
  readonly address: Address
}

/**
 * The call at such a path, of the operations by what follows the deployment, the longest first; null for any other
 * path. The deployment is the model of a body that names none; it may contain `/`, plain or percent-encoded.
 * Operations with a `peek` cannot be called so.
 */
export function deploymentCallOf<S>(
  path: string,
  operations: ReadonlyMap<string, Operation<S>>,
): DeploymentCall<S> | null {
  if (!path.startsWith(prefix)) return null
  for (const [ending, operation] of operations) {
    if (!path.endsWith(`/${ending}`)) continue
    const model = decodeId(path.slice(prefix.length, -ending.length - 1))
    return model === '' ? null : { operation: onDeployment(operation, model), address: { model } }
  }
  return null
}

function onDeployment<S>(operation: Operation<S>, model: string): Operation<S> {
  return {
    ...operation,
    peek: ({ dialect, body, address }) =>
      dialect.client.peek(withModel(body, inside, { model, replacesEmpty: true }), address),
  }
}
