// Reads the input of use cases by their schemas.

import type { Input, InputName } from './schema.ts'

/**
 * What a use case takes, out of what a command line or a request gave. Throws AdminError naming the first field at
 * fault. The schemas are loaded here, with the first input, so that a serving process does not hold them.
 */
export async function readInput<Name extends InputName>(
  name: Name,
  given: Readonly<Record<string, unknown>>,
): Promise<Input<Name>> {
  const { checkInput } = await import('./schema.ts')
  return checkInput(name, given)
}
