// Checks the input of use cases against their schemas.

import type { Input, InputName } from './schema.ts'

/**
 * Returns a use case's input from what a command line or a request gave. Throws AdminError naming the first field at
 * fault. Loads the schemas at the first call, so that a serving process does not hold them in memory.
 */
export async function readInput<Name extends InputName>(
  name: Name,
  given: Readonly<Record<string, unknown>>,
): Promise<Input<Name>> {
  const { checkInput } = await import('./schema.ts')
  return checkInput(name, given)
}
