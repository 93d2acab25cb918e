// Serves the addresses of Azure's clients, which name the model as a deployment: `/openai/deployments/NAME/...`.

import { placeOf } from '../wire/json/names.ts'
import { nothingInside, withModel } from '../wire/openai/body.ts'
import type { Address } from '../wire/request.ts'
import type { ClientRequest, Operation } from './operation.ts'
import { idIn } from './path.ts'

const inside = nothingInside(placeOf(['model']))

/** The deployment is the model of a body that names none. The operation must be one without a `peek`. */
export function ofDeployment<S>(operation: Operation<S>) {
  return ({ url }: Pick<ClientRequest, 'url'>): { operation: Operation<S>; address: Address } => {
    const model = idIn(url, 'deployments')
    return {
      operation: {
        ...operation,
        peek: ({ dialect, body, address }) =>
          dialect.client.peek(withModel(body, inside, { model, replacesEmpty: true }), address),
      },
      address: { model },
    }
  }
}
